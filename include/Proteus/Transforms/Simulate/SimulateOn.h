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

/// Creates the pass `simulate` on a given machine model. A caller that
/// simulates many modules on the same machine creates the model only once, so
/// the routes inside a node are computed only once.
///
/// The machine replaces the cluster and the site of the module. The options
/// that otherwise determine the machine have no effect: `cluster`, `site`,
/// `kernels`, `profile` and `tf32`. Effects of the stack on the machine are not
/// added. The option `fidelity` does not change the costs either, but with
/// `paper` the prediction has no uncertainty. The framework's allocator is not
/// simulated.
///
/// If `machine` is null, the pass creates the machine from the module, like
/// `createSimulate`, and simulates the allocator.
std::unique_ptr<mlir::Pass>
createSimulateOn(std::shared_ptr<const MachineModel> machine,
                 SimulateOptions options, SimulationObserver observer);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_SIMULATE_SIMULATEON_H
