//===- ReshardPlans.h - cheapest steps between layouts ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: plans the steps that change the layout of a
// value, by their costs on the cluster. Builds no operations; ValueConverter
// does.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_RESHARDPLANS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_RESHARDPLANS_H

#include "StageMap.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Transforms/Collectives/StepCosts.h"

#include "llvm/ADT/DenseMap.h"

namespace proteus {

/// Cheapest conversions of the values of one function.
class ReshardPlans {
public:
  using Plan = llvm::SmallVector<dist::ReshardStep>;

  ReshardPlans(mlir::func::FuncOp function, dist::MeshAttr mesh,
               const StageMap &stages, const machine::Cluster &cluster);

  /// Returns the cheapest steps that change the layout of `value` from `from`
  /// to `to`. The steps of a stack are those of its slices. On failure,
  /// `reason` receives the cause.
  llvm::FailureOr<Plan> plan(mlir::Value value, dist::LayoutAttr from,
                             dist::LayoutAttr to, std::string &reason);

  /// Returns the layout in which a repeat takes the partial stack `value`, of
  /// which its body reads slices in the layout `wanted`. The stack is summed
  /// over micro-batches, and reduced if the steps to `wanted` begin with
  /// reductions. The body does the remaining steps layer by layer.
  dist::LayoutAttr stackLayout(mlir::Value value, dist::LayoutAttr wanted);

  /// Returns the layout in which `value` is sent to another stage that needs it
  /// in layout `target`. The layout has more slices than `target` if the tree
  /// has `scatter_gather` and that is cheaper.
  dist::LayoutAttr transferLayout(mlir::Value value, dist::LayoutAttr target);

private:
  /// Plans the conversion of a tensor that is no stack. Cached.
  llvm::FailureOr<Plan> planTensor(dist::LayoutAttr from, dist::LayoutAttr to,
                                   mlir::RankedTensorType type,
                                   std::string &reason);
  /// Plans the conversion, slice by slice, of a value whose `stacks` leading
  /// dimensions are those of stacks.
  llvm::FailureOr<Plan> planStack(mlir::RankedTensorType type,
                                  dist::LayoutAttr from, dist::LayoutAttr to,
                                  unsigned stacks, std::string &reason);
  /// Returns the time, in picoseconds, of steps that start from layout `from`.
  uint64_t costOf(mlir::RankedTensorType type, dist::LayoutAttr from,
                  llvm::ArrayRef<dist::ReshardStep> steps);

  dist::MeshAttr mesh;
  const StageMap &stages;
  StepCosts costs;
  /// True if the tree permits transfers between stages in slices.
  bool slicesTransfers;
  llvm::DenseMap<std::tuple<mlir::Attribute, mlir::Attribute, mlir::Type>, Plan>
      plans;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_RESHARDPLANS_H
