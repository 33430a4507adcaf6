//===- Report.h - the JSON report -------------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_REPORT_H
#define PROTEUS_SIM_REPORT_H

#include "Proteus/Sim/Simulation.h"

namespace proteus::sim {

/// Writes the report (schema "proteus-report/1") as JSON. Equal results give
/// equal bytes. The top-level object `breakdown` describes
/// SimulationResult::slowestClass(). Its values are seconds that sum to
/// `iteration_time_s`.
void writeReport(llvm::raw_ostream &os, const Workload &workload,
                 const SimulationResult &result);

} // namespace proteus::sim

#endif // PROTEUS_SIM_REPORT_H
