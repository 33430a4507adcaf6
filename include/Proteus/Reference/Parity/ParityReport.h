//===- ParityReport.h - tables of parity ------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_REFERENCE_PARITY_PARITYREPORT_H
#define PROTEUS_REFERENCE_PARITY_PARITYREPORT_H

#include "Proteus/Reference/Parity/Parity.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace proteus::parity {

/// Numbers of runs that agree with the reference within the bounds of parity,
/// and CPU times. All fields except `runs` and `failed` count only the `timed`
/// runs.
struct ParitySummary {
  int64_t runs = 0, failed = 0;
  /// Runs that this simulator could simulate and for which the reference has a
  /// time.
  int64_t timed = 0;
  /// The `timed` runs that agree in the counts of collectives, in these counts
  /// after correction, in volumes, in kernel time and in step time. Collectives
  /// that are not compared count as agreeing after correction and in volumes.
  int64_t sameCounts = 0, explainedCounts = 0, volumes = 0, compute = 0,
          time = 0;
  /// `untouched`: `timed` runs in which no defect of the reference changes the
  /// time. `untouchedTime`: those `untouched` runs that agree in the step time.
  int64_t untouched = 0, untouchedTime = 0;
  double ourCPU = 0, originalCPU = 0; ///< seconds
};
/// Counts the runs that agree with the reference.
ParitySummary summarize(llvm::ArrayRef<ReferenceRun> runs,
                        llvm::ArrayRef<ParityResult> results);

void printTable(llvm::raw_ostream &os, llvm::ArrayRef<ReferenceRun> runs,
                llvm::ArrayRef<ParityResult> results);
void printSummary(llvm::raw_ostream &os, const ParitySummary &summary);
void printCPU(llvm::raw_ostream &os, const ParitySummary &summary);

/// Writes a Markdown table of all runs and their deviations. CPU times are in
/// the last columns, because they change from call to call.
void writeMarkdown(llvm::raw_ostream &os, llvm::ArrayRef<ReferenceRun> runs,
                   llvm::ArrayRef<ParityResult> results);
void writeJSON(llvm::raw_ostream &os, llvm::ArrayRef<ReferenceRun> runs,
               llvm::ArrayRef<ParityResult> results);

} // namespace proteus::parity

#endif // PROTEUS_REFERENCE_PARITY_PARITYREPORT_H
