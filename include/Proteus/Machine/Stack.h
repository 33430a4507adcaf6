//===- Stack.h - software stacks and sites ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two frameworks run the same model on the same machine at different speeds:
// they launch other kernels, move more bytes, or wait for their hosts. A stack
// describes a framework, a site describes a cluster as it was run. Both are
// data with a name (docs/stacks.md). Driver, passes and validation read them.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_MACHINE_STACK_H
#define PROTEUS_MACHINE_STACK_H

#include "Proteus/Machine/Device.h"
#include "Proteus/Plan/PlanMerge.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace proteus::machine {

/// Classes of memory-bound kernels for which a stack can scale the bytes that
/// they move.
enum class TrafficClass : uint8_t {
  Elementwise, ///< additions, dropout, scaling, copies
  Norm,
  Activation,
  Rope,
  Softmax,
  Loss,
  Embedding,
  Permute, ///< moves tokens to experts and back
  Update,  ///< update of parameters
};
constexpr unsigned numTrafficClasses = 9;
/// Returns the name in stack files, such as "norm".
llvm::StringRef stringify(TrafficClass traffic);

using plan::FusedNeighbours;
using plan::ImageLayout;

/// Speeds per generation of devices, relative to the model of the device.
class ArchitectureRates {
public:
  /// Returns the speed on a generation, or 1 if none is set.
  double on(Architecture architecture) const;
  void set(Architecture architecture, double rate) {
    rates.emplace_back(architecture, rate);
  }
  void clear() { rates.clear(); }
  bool empty() const { return rates.empty(); }

private:
  std::vector<std::pair<Architecture, double>> rates;
};

/// Factors by which kernels move more bytes than their operation, per class.
struct TrafficFactors : public std::array<double, numTrafficClasses> {
  TrafficFactors() { fill(1); }
};

/// Parameters of the mechanisms of a stack. With the defaults no mechanism has
/// an effect.
struct StackParameters {
#define STACK_SECONDS(MEMBER, ...) double MEMBER = 0;
#define STACK_BYTES(MEMBER, ...) int64_t MEMBER = 0;
#define STACK_FLAG(MEMBER, ...) bool MEMBER = false;
#define STACK_NUMBER(MEMBER, ...) double MEMBER = 0;
#define STACK_CHOICE(TYPE, MEMBER, ...) TYPE MEMBER = TYPE(0);
#define STACK_TRAFFIC(MEMBER, ...) TrafficFactors MEMBER;
#define STACK_RATES(MEMBER, ...) ArchitectureRates MEMBER;
#include "Proteus/Machine/StackParameters.def"

  /// Returns true if images of a type have their channels last.
  bool hasChannelsLast(DType type) const;
  /// Sets host times and pauses to zero: a CUDA graph launches a whole step at
  /// once.
  void captureGraphs();
};

/// A row of the table of parameters, for documentation.
struct StackParameterRow {
  llvm::StringRef mechanism, mechanismHelp;
  llvm::StringRef section, key, help;
  std::vector<std::string> words; ///< values of a choice
};

/// Returns the rows in the order of StackParameters.def.
std::vector<StackParameterRow> stackParameterRows();

/// A software stack. The default stack adds no costs.
struct Stack {
  std::string name;

  // Decisions about the model, which the driver applies when it builds one.

  /// `Fused`: attention is one kernel. `Unfused`: it consists of products,
  /// softmax and copies.
  plan::KernelForm attention = plan::KernelForm::Fused;
  /// `Fused`: the activation and the multiplication of a gated block are one
  /// kernel. `Unfused`: they are two kernels.
  plan::KernelForm gated = plan::KernelForm::Fused;
  /// `F32`: logits are converted before the loss. `Compute`: they keep the type
  /// in which the model computes.
  plan::LogitsType logits = plan::LogitsType::Compute;
  /// Probability of dropout. With 0 there are no dropout kernels.
  double dropout = 0;
  /// Vocabularies are padded to multiples of this times the tensor-parallel
  /// degree.
  int64_t vocabMultiple = 1;
  /// Samples are batched by length, in bins of `lengthBin` tokens, if sequences
  /// may have `lengthBinsFrom` tokens or more. A batch is padded to the end of
  /// its bin at most. If `lengthBin` is 0, every sample is padded to the length
  /// of the model.
  int64_t lengthBin = 0, lengthBinsFrom = 1;
  /// Returns the decisions about the model that differ from the defaults, as in
  /// stack files: "attention=unfused".
  std::vector<std::string> modelDecisions() const;

  // Decisions about the step.

  /// Decisions for jobs that do not state them.
  plan::StackPlan plan;
  /// Element type of gradients and of their reductions: f32, or the type of the
  /// parameters (`Compute`).
  plan::GradientType gradientType = plan::GradientType::F32;

  // Costs in time and memory.

  StackParameters parameters;

  /// Meaning of the memory figure that users of the stack report. `Allocated`:
  /// the sum of tensors on the device that has most. `Reserved`: the memory of
  /// the allocator on the first device. `Device`: all memory that is taken on
  /// the first device.
  plan::ReportedMemory reportedMemory = plan::ReportedMemory::Allocated;

  /// Mean relative error due to effects that are not modelled.
  double uncertainty = 0.05;
};

/// A cluster as it was run: constants of its network that a datasheet does not
/// contain.
struct Site {
  std::string name;
  /// Share of the rate of the network cards that collectives reach. If absent,
  /// the value of the cluster holds.
  std::optional<double> fabricEfficiency;
  /// Time that is added to every collective, in seconds.
  double collectiveGap = 0;
};

/// Returns the embedded stack or site of a name. Fails with a list of the known
/// names if the name is unknown.
llvm::Expected<Stack> parseStackPreset(llvm::StringRef name);
llvm::Expected<Site> parseSitePreset(llvm::StringRef name);
/// Returns the names of the embedded stacks or sites, sorted.
std::vector<std::string> stackPresetNames();
std::vector<std::string> sitePresetNames();

/// Reads a stack or a site from JSON text; errors name `source`. A stack with
/// `"base": "megatron-lm"` has the values of that stack except for those that
/// it states.
llvm::Expected<Stack> parseStackJSON(llvm::StringRef text,
                                     llvm::StringRef source);
llvm::Expected<Site> parseSiteJSON(llvm::StringRef text,
                                   llvm::StringRef source);

} // namespace proteus::machine

#endif // PROTEUS_MACHINE_STACK_H
