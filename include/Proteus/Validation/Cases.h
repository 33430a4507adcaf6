//===- Cases.h - measured runs as jobs --------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_VALIDATION_CASES_H
#define PROTEUS_VALIDATION_CASES_H

#include "Proteus/Jobs/Job.h"
#include "Proteus/Sim/Confidence.h"

#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace proteus::driver {

/// A published measurement of a training run and the job that it ran.
struct Case {
  std::string id;
  std::string group;   ///< the id up to its first '-'
  std::string quality; ///< "A", "B", "C": how complete it is
  std::optional<double> iterationSeconds;
  std::optional<double> peakMemoryBytes; ///< allocated, worst device
  bool ranOutOfMemory = false;

  Job job;
  std::string device; ///< of the library; empty: not known
  /// What the case leaves open, and how it was settled.
  std::vector<std::string> assumed;
  /// Why there is no job: exactly what is missing. Empty if there is one.
  std::string unsupported;
};

/// Reads cases in the format of docs/validation.md. A case that can't be
/// translated says so; a file that is none is an error.
llvm::Expected<std::vector<Case>> readCases(llvm::StringRef text,
                                            llvm::StringRef source);

/// What became of a case.
struct CaseResult {
  bool supported = false;
  std::string reason; ///< why not
  std::optional<double> seconds;
  std::optional<double> peakMemoryBytes;
  bool fits = false;
  /// 80 % interval of the time.
  std::optional<sim::Interval> interval;
};

/// Errors of the cases of a group that were simulated and have a measured time.
struct GroupScore {
  std::string group;
  int64_t count = 0, supported = 0, scored = 0;
  std::optional<double> mae, bias, worst, spearman, memoryMae;
};

/// predicted / measured - 1, or nothing.
std::optional<double> errorOf(std::optional<double> predicted,
                              std::optional<double> measured);

GroupScore scoreOf(llvm::StringRef group, llvm::ArrayRef<const Case *> cases,
                   llvm::ArrayRef<const CaseResult *> results);

} // namespace proteus::driver

#endif // PROTEUS_VALIDATION_CASES_H
