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

/// Prints throughput, time breakdown, stages, memory and communication as lines
/// and aligned tables. The unit of a figure is in its label or after the
/// figure. GB are 1e9 bytes, MB are 1e6 bytes.
void printSummary(llvm::raw_ostream &os, const Workload &workload,
                  const SimulationResult &result);

} // namespace proteus::sim

#endif // PROTEUS_SIM_SUMMARY_H
