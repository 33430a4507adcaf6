//===- Passes.h - a strategy tree from degrees ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_APPLY_PASSES_H
#define PROTEUS_TRANSFORMS_APPLY_PASSES_H

#include "Proteus/Plan/ParallelPlan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace proteus {

/// Creates the pass `apply-strategy`. The fields of `plan` become the values of
/// its options.
std::unique_ptr<mlir::Pass>
createApplyStrategy(const plan::ParallelPlan &plan = {});

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Proteus/Transforms/Apply/Passes.h.inc"

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_APPLY_PASSES_H
