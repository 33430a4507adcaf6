//===- ReshardPlans.h - cheapest steps between layouts ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: finds the cheapest steps that change the layout
// of a value on the cluster. ValueConverter builds the operations for these
// steps.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_RESHARDPLANS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_RESHARDPLANS_H

#include "StageMap.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Transforms/Collectives/StepCosts.h"

#include "llvm/ADT/DenseMap.h"

namespace proteus {

/// Finds the cheapest conversions for the values of one function.
class ReshardPlans {
public:
  using Plan = llvm::SmallVector<dist::ReshardStep>;

  ReshardPlans(mlir::func::FuncOp function, dist::MeshAttr mesh,
               const StageMap &stages, const machine::Cluster &cluster);

  /// Returns the cheapest steps that change the layout of `value` from `from`
  /// to `to`. If `value` is a stack, plans the steps for one slice, so that
  /// they never change the leading dimension. On failure, sets `reason`.
  llvm::FailureOr<Plan> plan(mlir::Value value, dist::LayoutAttr from,
                             dist::LayoutAttr to, std::string &reason);

  /// Returns the layout in which the partial stack `value` enters a repeat that
  /// reads its slices. `wanted` is the layout that the body needs, as a layout
  /// of the whole stack. Before the repeat, the stack is summed over
  /// micro-batches. If the steps to `wanted` begin with reductions, these are
  /// also performed before the repeat. The body performs the other steps for
  /// each layer.
  dist::LayoutAttr stackLayout(mlir::Value value, dist::LayoutAttr wanted);

  /// Returns the layout in which `value` is sent to another stage, which needs
  /// it in layout `target`. If the tree has `scatter_gather`, this may be a
  /// layout with more shards than `target`: `value` is then sent in slices and
  /// gathered on arrival, because that is cheaper.
  dist::LayoutAttr transferLayout(mlir::Value value, dist::LayoutAttr target);

private:
  /// Plans the conversion of a tensor that is not a stack, and caches the plan.
  llvm::FailureOr<Plan> planTensor(dist::LayoutAttr from, dist::LayoutAttr to,
                                   mlir::RankedTensorType type,
                                   std::string &reason);
  /// Plans the conversion of a stack by planning that of one slice. `stacks` is
  /// the number of leading dimensions that count iterations.
  llvm::FailureOr<Plan> planStack(mlir::RankedTensorType type,
                                  dist::LayoutAttr from, dist::LayoutAttr to,
                                  unsigned stacks, std::string &reason);
  /// Returns the total time, in picoseconds, of `steps` for a tensor of type
  /// `type` that has the layout `from` before the first step.
  uint64_t costOf(mlir::RankedTensorType type, dist::LayoutAttr from,
                  llvm::ArrayRef<dist::ReshardStep> steps);

  dist::MeshAttr mesh;
  const StageMap &stages;
  StepCosts costs;
  /// True if the tree permits sending values between stages in slices.
  bool slicesTransfers;
  llvm::DenseMap<std::tuple<mlir::Attribute, mlir::Attribute, mlir::Type>, Plan>
      plans;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_RESHARDPLANS_H
