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

namespace proteus::driver {

/// Counts over runs that the original has a time for, but for the first two.
struct ParitySummary {
  int64_t runs = 0, failed = 0;
  int64_t timed = 0;
  int64_t sameCounts = 0, explainedCounts = 0, volumes = 0, compute = 0,
          time = 0;
  int64_t untouched = 0, untouchedTime = 0;
  double ourCPU = 0, originalCPU = 0; ///< seconds
};
ParitySummary summarize(llvm::ArrayRef<ReferenceRun> runs,
                        llvm::ArrayRef<ParityResult> results);

void printTable(llvm::raw_ostream &os, llvm::ArrayRef<ReferenceRun> runs,
                llvm::ArrayRef<ParityResult> results);
void printSummary(llvm::raw_ostream &os, const ParitySummary &summary);
void printCPU(llvm::raw_ostream &os, const ParitySummary &summary);

/// All runs and what differs; CPU times, which change from call to call, are
/// the last columns.
void writeMarkdown(llvm::raw_ostream &os, llvm::ArrayRef<ReferenceRun> runs,
                   llvm::ArrayRef<ParityResult> results);
void writeJSON(llvm::raw_ostream &os, llvm::ArrayRef<ReferenceRun> runs,
               llvm::ArrayRef<ParityResult> results);

} // namespace proteus::driver

#endif // PROTEUS_REFERENCE_PARITY_PARITYREPORT_H
