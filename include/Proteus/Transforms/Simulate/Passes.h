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

class ProgressSink;

using plan::Fold;
using plan::KernelModel;
using plan::Switch;

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Proteus/Transforms/Simulate/Passes.h.inc"

/// Function that the pass `simulate` calls after the simulation, with the
/// workload and the result.
using SimulationObserver =
    std::function<void(sim::Workload &, sim::SimulationResult &)>;

/// Creates the pass `simulate`. It calls `observer` with the workload and the
/// result. Reports its progress to `progress` if that is not null.
std::unique_ptr<mlir::Pass> createSimulate(SimulateOptions options,
                                           SimulationObserver observer,
                                           ProgressSink *progress = nullptr);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_SIMULATE_PASSES_H
