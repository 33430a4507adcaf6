//===- Summary.h - the printed summary --------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_SUMMARY_H
#define PROTEUS_SIM_SUMMARY_H

#include "Proteus/Sim/Simulation.h"

namespace proteus::sim {

/// Largest number of characters of a line of the summary.
constexpr size_t summaryWidth = 100;

/// Prints one line: whether the job fits, the time of the step, tokens/s per
/// device (samples/s if the model has no tokens), TFLOP/s per device, MFU.
void printVerdictLine(llvm::raw_ostream &os, const Workload &workload,
                      const Figures &figures);

/// Prints the verdict, the job, throughput, time breakdown, stages, memory and
/// communication as lines and aligned tables. A line has at most 100
/// characters. The unit of a figure is in its label or after the figure. GB are
/// 1e9 bytes, GiB 2^30 bytes, MB 1e6 bytes.
void printSummary(llvm::raw_ostream &os, const Workload &workload,
                  const SimulationResult &result);

} // namespace proteus::sim

#endif // PROTEUS_SIM_SUMMARY_H
