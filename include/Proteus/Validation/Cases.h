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

/// A published measurement of a training run, and the job that was measured.
struct Case {
  std::string id;
  std::string group; ///< part of the id before its first '-'
  /// Completeness of the published description: "A" is complete, "B" leaves a
  /// setting open, and "C" leaves an important one open.
  std::string quality;
  std::optional<double> iterationSeconds;
  /// Measured peak memory of one device. The stack determines which memory its
  /// users report (plan::ReportedMemory), for example only allocated tensors.
  std::optional<double> peakMemoryBytes;
  bool ranOutOfMemory = false;

  jobs::Job job;
  std::string device; ///< name in the device library; empty: unknown
  /// Assumptions about decisions that the case leaves open.
  std::vector<std::string> assumed;
  /// Reason why the case can't be simulated; empty if `job` is complete.
  std::string unsupported;
};

/// Reads cases in the format of docs/validation.md. If a case can't be
/// translated to a job, its `unsupported` holds the reason. Fails if the text
/// is not a file of cases, if an entry has no id or the id of an earlier one,
/// or if all entries violate the format. `source` is the name of the text in
/// errors.
llvm::Expected<std::vector<Case>> readCases(llvm::StringRef text,
                                            llvm::StringRef source);

/// Result of the simulation of a case.
struct CaseResult {
  bool supported = false;
  std::string reason; ///< reason why `supported` is false
  std::optional<double> seconds;
  std::optional<double> peakMemoryBytes;
  bool fits = false;
  /// Interval that contains the time with a probability of 80 %.
  std::optional<sim::Interval> interval;
};

/// Errors of the predictions of a group of cases.
struct GroupScore {
  std::string group;
  /// Numbers of all cases, of simulated cases, and of simulated cases with a
  /// measured time.
  int64_t count = 0, supported = 0, scored = 0;
  /// Errors of the time over the `scored` cases: the mean absolute error, the
  /// mean error, the error with the largest absolute value, and the rank
  /// correlation of predicted and measured times. `memoryMae` is the mean
  /// absolute error of the memory.
  std::optional<double> mae, bias, worst, spearman, memoryMae;
};

/// Returns predicted / measured - 1, or nullopt if one of them is absent or
/// `measured` is not positive.
std::optional<double> errorOf(std::optional<double> predicted,
                              std::optional<double> measured);

/// Computes the errors of a group. `results` are in the order of `cases`.
GroupScore scoreOf(llvm::StringRef group, llvm::ArrayRef<const Case *> cases,
                   llvm::ArrayRef<const CaseResult *> results);

} // namespace proteus::validation

#endif // PROTEUS_VALIDATION_CASES_H
