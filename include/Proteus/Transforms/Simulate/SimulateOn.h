//===- SimulateOn.h - the simulate pass on a given machine ------*- C++ -*-===//
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

/// Creates the pass `simulate` for a given machine model. A program that
/// simulates many modules on one machine then computes the routes inside its
/// nodes only once.
///
/// The cluster and the site of the module have no effect, nor do the options
/// that determine the machine. Of these, only `fidelity` is still read: with
/// `paper` the prediction has no uncertainty. The allocator is not simulated.
/// If `machine` is null, the pass creates the machine from the module, as
/// `createSimulate` does.
std::unique_ptr<mlir::Pass>
createSimulateOn(std::shared_ptr<const MachineModel> machine,
                 SimulateOptions options, SimulationObserver observer);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_SIMULATE_SIMULATEON_H
