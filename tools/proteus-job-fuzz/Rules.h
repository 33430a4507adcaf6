//===- Rules.h - metamorphic rules of jobs ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule derives two jobs from a random one and compares their figures. How to
// add a rule: write a row, or a function for a rule that a row can't express,
// in the file of its kind below Rules/, with the reason for which the rule
// holds. Rules draw nothing at random, so that a violation can be repeated from
// the job alone.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_JOBFUZZ_RULES_H
#define PROTEUS_TOOLS_JOBFUZZ_RULES_H

#include "Evaluation.h"

#include "llvm/ADT/ArrayRef.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace proteus {
namespace fuzz {

/// Two jobs whose figures a rule compares.
struct Pair {
  JobCase base, variant;
};

/// A violation of a rule.
struct Finding {
  /// Excess over the allowed figure, as a share of it; 1 for figures that
  /// should be the same.
  double excess = 1;
  std::string text;
};

/// A relation between the figures of two jobs.
struct Rule {
  std::string name;
  /// Derives the two jobs. Returns nullopt if the rule does not apply.
  /// `directory` is for cluster files.
  std::function<std::optional<Pair>(const JobCase &job,
                                    llvm::StringRef directory)>
      derive;
  /// Returns the violation, if there is one. Both jobs have run.
  std::function<std::optional<Finding>(const Evaluated &base,
                                       const Evaluated &variant)>
      compare;
  /// Simulates the variant; null for `evaluate`.
  std::function<Evaluated(const JobCase &variant, llvm::StringRef directory)>
      run = nullptr;
  /// True if the variant must run if the base runs. Otherwise the rule does not
  /// apply to jobs whose variant is refused.
  bool mustRun = false;
};

/// Returns all rules.
llvm::ArrayRef<Rule> rules();
/// Returns the rule `name`, or null.
const Rule *findRule(llvm::StringRef name);

/// The variant takes no longer than the base, except for the share `tolerance`.
std::optional<Finding> compareTimes(const Evaluated &base,
                                    const Evaluated &variant, double tolerance);
/// The same, without the time by which kernels of the variant take longer on
/// the slowest device: that of all kernels, or that of update kernels.
enum class Kernels { All, Updates };
std::optional<Finding> compareTimesWithout(Kernels kernels,
                                           const Evaluated &base,
                                           const Evaluated &variant,
                                           double tolerance);
/// The largest peak of tensors of the variant is no larger than that of the
/// base.
std::optional<Finding> compareMemory(const Evaluated &base,
                                     const Evaluated &variant);

/// Tolerance for times if an earlier end of one task can delay another one: two
/// flows or kernels that did not overlap then do, and slow each other.
inline constexpr double anomaly = 0.005;

/// A rule about two values of a setting.
struct FlagRule {
  enum Figure { Time, Memory };
  const char *name;
  /// Flags that the two jobs have instead of those of the random job:
  /// "--zero 2".
  const char *base, *variant;
  Figure figure;
  /// Tolerance of times.
  double tolerance = 0;
  /// Returns true if the rule holds for the job; null for all jobs.
  bool (*applies)(const JobCase &job) = nullptr;
};
Rule makeRule(const FlagRule &row);

/// Returns the number of layers of the model; 0 if it has no repeated layers or
/// they are several stacks.
int64_t getLayers(const JobCase &job);
/// Returns true if the input of the model are images.
bool readsImages(const JobCase &job);
/// Returns true if activations stay on the device.
bool keepsActivations(const JobCase &job);
/// Returns true if stages have one chunk, so that 1f1b is not interleaved.
bool hasPlainStages(const JobCase &job);
bool hasReplicas(const JobCase &job);
bool hasStages(const JobCase &job);
bool hasTensorRanks(const JobCase &job);

// The rules of each file in Rules/.
void addIdentities(std::vector<Rule> &list);
void addMemoryRules(std::vector<Rule> &list);
void addOverlapRules(std::vector<Rule> &list);
void addRateRules(std::vector<Rule> &list);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_JOBFUZZ_RULES_H
