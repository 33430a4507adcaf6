//===- TreeSettings.h - plan fields in a strategy tree ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some fields of a plan are settings of the whole step: schedule, buckets,
// overlap, offload and prefetch. A tree states each of them by one operation,
// which these functions find or add. All other fields follow from the mesh and
// the splits of the tree. Used by apply-strategy, match-strategy and jobs.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_TREESETTINGS_H
#define PROTEUS_TRANSFORMS_COMMON_TREESETTINGS_H

#include "Proteus/Dialect/Strategy/StrategyAnnotations.h"
#include "Proteus/Machine/Stack.h"
#include "Proteus/Plan/ParallelPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace proteus::plan {
struct Field;
} // namespace proteus::plan

namespace proteus {

/// Returns the operation by which `tree` states `field`, or null if the tree
/// leaves the field open and `writeStepSettings` can add it.
mlir::Operation *findSetting(strategy::TreeOp tree, const plan::Field &field);

/// Adds the settings of the step that `plan` states to a tree, which must leave
/// them open. Gradients have `elementBytes` bytes per element; sizes of buckets
/// may depend on it.
void writeStepSettings(strategy::TreeOp tree, const plan::ParallelPlan &plan,
                       int64_t elementBytes);

/// Adds the settings of the step that `plan` states to a hand-written tree,
/// which must leave them open. Sizes of buckets follow from the mesh of the
/// tree and the gradients of `model`.
void addSettings(strategy::TreeOp tree, plan::ParallelPlan plan,
                 mlir::func::FuncOp model);

/// Adds to a hand-written tree those decisions of `stack` that it leaves open,
/// and records the name of the stack in its attribute `kStackAttr`. Does
/// nothing to a tree that has this attribute. Returns the decisions that a tree
/// cannot hold, because they concern the model or the splits of the tree.
std::vector<std::string> addStackSettings(strategy::TreeOp tree,
                                          const machine::Stack &stack,
                                          mlir::func::FuncOp model);

/// Returns the size in bytes of an element of the gradients that `function`
/// reduces.
int64_t getGradientBytes(mlir::func::FuncOp function);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_TREESETTINGS_H
