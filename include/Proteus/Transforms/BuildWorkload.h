//===- BuildWorkload.h - from dist programs to the engine -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_BUILDWORKLOAD_H
#define PROTEUS_TRANSFORMS_BUILDWORKLOAD_H

#include "Proteus/Cost/CostModel.h"
#include "Proteus/Sim/Workload.h"

#include "mlir/IR/BuiltinOps.h"

namespace proteus {

/// Which ranks the engine simulates.
enum class Fold {
  None,  ///< every rank
  Ranks, ///< one of all that provably do the same thing at the same time
};

/// Turns the programs and the schedule of `module` into what the engine
/// executes: repeats are written out, kernels get their cost, ranks become
/// device classes. Emits an error and fails when the
/// module is not fully lowered.
llvm::FailureOr<sim::Workload>
buildWorkload(mlir::ModuleOp module, const machine::Cluster &cluster,
              const cost::KernelCostModel &kernels, Fold fold);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_BUILDWORKLOAD_H
