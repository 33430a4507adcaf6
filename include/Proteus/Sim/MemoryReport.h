//===- MemoryReport.h - the memory of every stage ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_MEMORYREPORT_H
#define PROTEUS_SIM_MEMORYREPORT_H

#include "Proteus/Sim/Simulation.h"

namespace proteus::sim {

/// Prints whether a job fits, the job, and the memory of every stage by owner.
/// A result of `simulateMemory` is enough. A line has at most 100 characters.
void printMemory(llvm::raw_ostream &os, const Workload &workload,
                 const SimulationResult &result);

/// Writes the same as JSON (schema "proteus-memory/1").
void writeMemory(llvm::raw_ostream &os, const Workload &workload,
                 const SimulationResult &result);

} // namespace proteus::sim

#endif // PROTEUS_SIM_MEMORYREPORT_H
