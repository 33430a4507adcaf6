//===- SimulateOn.h - simulate on a machine that is known -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_SIMULATE_SIMULATEON_H
#define PROTEUS_TRANSFORMS_SIMULATE_SIMULATEON_H

#include "Proteus/Transforms/Simulate/Passes.h"

namespace proteus {

/// `simulate` for a program that simulates many modules on one machine, whose
/// rings are then found once. The cluster of the module and the fidelity of the
/// options are not asked, and what an allocator would reserve is not followed.
std::unique_ptr<mlir::Pass>
createSimulateOn(std::shared_ptr<const MachineModel> machine,
                 SimulateOptions options, SimulationObserver observer);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_SIMULATE_SIMULATEON_H
