//===- Checks.h - checks of jobs in child processes -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A child process simulates jobs, checks rules and writes one line per result.
// The parent counts the results and notices crashes.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_JOBFUZZ_CHECKS_H
#define PROTEUS_TOOLS_JOBFUZZ_CHECKS_H

#include "Exceptions.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <string>
#include <vector>

namespace proteus {
namespace fuzz {

/// A job and the rules to check for it.
struct Task {
  JobCase job;
  std::vector<const Rule *> rules;
  /// Number of rules to check. Rules that do not apply are not counted.
  size_t wanted = 0;
};

/// A failure of a task.
struct Failure {
  enum Kind {
    Crash,    ///< the process ends by a signal
    Hang,     ///< the process does not end
    Fault,    ///< refused without a reason, or for a fault of the tool
    Violation ///< a rule does not hold
  };
  Kind kind;
  const Rule *rule = nullptr; ///< rule that was checked; null for the job alone
  std::string text;
};

/// Sums over all tasks.
struct Totals {
  int64_t jobs = 0, ran = 0, refused = 0, simulated = 0;
  std::map<std::string, int64_t> refusals;   ///< by kind of diagnostic
  std::map<std::string, int64_t> applied;    ///< by name of the rule
  std::map<std::string, int64_t> violations; ///< by name of the rule
  std::map<std::string, int64_t> excused;    ///< by name of the exception
};

/// Settings of all checks.
struct CheckOptions {
  std::vector<Exception> exceptions;
  std::string directory; ///< for files that jobs need
  unsigned secondsPerJob = 20;
};

/// Checks tasks in order in child processes. A child simulates each command
/// line only once. Calls `onFailure` with the index of a task that fails.
void checkAll(llvm::ArrayRef<Task> tasks, const CheckOptions &options,
              Totals &totals,
              llvm::function_ref<void(size_t, const Failure &)> onFailure);

/// Checks one task. Returns its failures.
std::vector<Failure> checkOne(const Task &task, const CheckOptions &options);

llvm::StringRef describe(Failure::Kind kind);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_JOBFUZZ_CHECKS_H
