//===- Cases.h - published measurements as jobs -----------------*- C++ -*-===//
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

namespace proteus::validation {

/// Published measurement of a training run, and the job that was measured.
struct Case {
  std::string id;
  std::string group;   ///< part of the id before its first '-'
  std::string quality; ///< "A", "B" or "C": completeness of the description
  std::optional<double> iterationSeconds;
  std::optional<double> peakMemoryBytes; ///< bytes allocated on the fullest
                                         ///< device
  bool ranOutOfMemory = false;

  jobs::Job job;
  std::string device; ///< name in the device library; empty: unknown
  /// Assumptions about decisions that the case leaves open.
  std::vector<std::string> assumed;
  /// Information that is missing for a job; empty if `job` is complete.
  std::string unsupported;
};

/// Reads cases in the format of docs/validation.md. A case that can't be
/// translated has the reason in `unsupported`. Fails if the text is no file of
/// cases.
llvm::Expected<std::vector<Case>> readCases(llvm::StringRef text,
                                            llvm::StringRef source);

/// Result of the simulation of a case.
struct CaseResult {
  bool supported = false;
  std::string reason; ///< reason if not supported
  std::optional<double> seconds;
  std::optional<double> peakMemoryBytes;
  bool fits = false;
  /// 80 % interval of `seconds`.
  std::optional<sim::Interval> interval;
};

/// Errors of a group of cases. Time errors cover the cases that were simulated
/// and have a measured time.
struct GroupScore {
  std::string group;
  int64_t count = 0, supported = 0, scored = 0;
  std::optional<double> mae, bias, worst, spearman, memoryMae;
};

/// Returns predicted / measured - 1, or nullopt if either is absent.
std::optional<double> errorOf(std::optional<double> predicted,
                              std::optional<double> measured);

/// Returns the errors of a group from its cases and their results.
GroupScore scoreOf(llvm::StringRef group, llvm::ArrayRef<const Case *> cases,
                   llvm::ArrayRef<const CaseResult *> results);

} // namespace proteus::validation

#endif // PROTEUS_VALIDATION_CASES_H
