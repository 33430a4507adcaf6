//===- Passes.h - the simulate pass -----------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_SIMULATE_PASSES_H
#define PROTEUS_TRANSFORMS_SIMULATE_PASSES_H

#include "Proteus/Sim/Workload.h"
#include "Proteus/Transforms/Simulate/MachineModel.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>

namespace proteus::sim {
struct SimulationResult;
} // namespace proteus::sim

namespace proteus {

/// Equal work that is simulated only once. The result does not depend on it.
enum class Fold {
  None,  ///< no work
  Ranks, ///< ranks that provably do the same work at the same time
  All,   ///< also the steady state of a pipeline if it recurs exactly
};

/// Source of the times of kernels.
enum class KernelModel {
  Fitted,   ///< models fitted to measurements if the device has them
  Roofline, ///< peak rates of the datasheet: lower bounds
};

/// Selects whether the model includes an effect, such as link sharing.
enum class Switch { Off, On };

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Proteus/Transforms/Simulate/Passes.h.inc"

/// Function that a pass calls with the workload and its result after a
/// simulation.
using SimulationObserver =
    std::function<void(sim::Workload &, sim::SimulationResult &)>;

/// Creates the pass `simulate`, which calls `observer` with its result.
std::unique_ptr<mlir::Pass> createSimulate(SimulateOptions options,
                                           SimulationObserver observer);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_SIMULATE_PASSES_H
