//===- TreeSettings.h - plan fields in a strategy tree ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some fields of a plan are settings of the whole step: schedule, buckets,
// overlap, scattered messages, offload and prefetch. A strategy tree states
// each of them by an operation, which the functions below find or add. They
// also find `recompute`, the operation that states recomputation. All other
// fields, such as degrees, follow from the mesh and the splits of the tree.
// Used by apply-strategy, match-strategy and jobs.
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

/// Returns the operation by which `tree` states `field`. Returns null if the
/// tree leaves the field open, so that `writeStepSettings` can add an operation
/// for it. Only settings of the step can be open. For any other field, such as
/// a degree, returns the mesh of the tree, unless another operation states it.
mlir::Operation *findSetting(strategy::TreeOp tree, const plan::Field &field);

/// Writes the fields of `plan` that are settings of the step, such as the
/// schedule and the buckets, into `tree`. The tree must leave these fields
/// open. Bucket sizes that a framework defines in elements are multiplied by
/// `elementBytes`, the bytes of one element of a gradient.
void writeStepSettings(strategy::TreeOp tree, const plan::ParallelPlan &plan,
                       int64_t elementBytes);

/// Writes the fields of `plan` that are settings of the step into a
/// hand-written tree. The tree must leave these fields open. Some bucket sizes
/// depend on the number of replicas, which is taken from the mesh of the tree.
/// Some depend on the element type of the gradients, which is taken from
/// `model`.
void addSettings(strategy::TreeOp tree, plan::ParallelPlan plan,
                 mlir::func::FuncOp model);

/// Adds to a hand-written tree those decisions of a software stack that the
/// tree leaves open, and records the name of the stack in the attribute
/// `kStackAttr` of the tree. Does nothing if the tree has this attribute
/// already. Returns the decisions that it cannot add, because they concern the
/// model or the splits of the tree.
std::vector<std::string> addStackSettings(strategy::TreeOp tree,
                                          const machine::Stack &stack,
                                          mlir::func::FuncOp model);

/// Returns the bytes of one element of the gradients of the parameters of
/// `function`.
int64_t getGradientBytes(mlir::func::FuncOp function);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_TREESETTINGS_H
