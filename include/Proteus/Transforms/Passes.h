//===- Passes.h - the passes of Proteus -------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_PASSES_H
#define PROTEUS_TRANSFORMS_PASSES_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Plan/ParallelPlan.h"
#include "Proteus/Transforms/BuildWorkload.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>

namespace proteus::sim {
struct SimulationResult;
} // namespace proteus::sim

namespace proteus {

/// Ends of the phases of the lowering, for verify-phase.
enum class LoweringPhase {
  Matched,
  Step,
  Propagated,
  Collectives,
  Programs,
  Schedule
};

/// Creates `apply-strategy` for a plan.
std::unique_ptr<mlir::Pass>
createApplyStrategy(const plan::ParallelPlan &plan = {});

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Proteus/Transforms/Passes.h.inc"

/// Hears what `simulate` has computed.
using SimulationObserver =
    std::function<void(sim::Workload &, sim::SimulationResult &)>;

/// `simulate` for a program that wants more than attributes.
std::unique_ptr<mlir::Pass> createSimulate(SimulateOptions options,
                                           SimulationObserver observer);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_PASSES_H
