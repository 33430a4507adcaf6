//===- ReshardPlans.h - cheapest steps between layouts ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: which steps bring a value from one layout to
// another, on the cluster at hand. Nothing is built here.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_RESHARDPLANS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_RESHARDPLANS_H

#include "StageMap.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Transforms/Collectives/StepCosts.h"

#include "llvm/ADT/DenseMap.h"

namespace proteus {

/// Plans conversions of the values of one function.
class ReshardPlans {
public:
  using Plan = llvm::SmallVector<dist::ReshardStep>;

  ReshardPlans(mlir::func::FuncOp function, dist::MeshAttr mesh,
               const StageMap &stages, const machine::Cluster &cluster);

  /// The cheapest steps that bring `value` from one layout to another. Those of
  /// a stack are the steps of its slices. If there are none, `reason` says why.
  llvm::FailureOr<Plan> plan(mlir::Value value, dist::LayoutAttr from,
                             dist::LayoutAttr to, std::string &reason);

  /// The layout in which a repeat takes the partial stack `value`, of which its
  /// body reads slices in the layout of `wanted`: summed over micro-batches,
  /// and reduced if that comes first on the way; the rest is done layer by
  /// layer.
  dist::LayoutAttr stackLayout(mlir::Value value, dist::LayoutAttr wanted);

  /// The layout in which `value` goes to another stage to be `target` there:
  /// sliced further than that if the tree allows it and it pays.
  dist::LayoutAttr transferLayout(mlir::Value value, dist::LayoutAttr target);

private:
  /// Plans for a tensor that is no stack, once for equal questions.
  llvm::FailureOr<Plan> planTensor(dist::LayoutAttr from, dist::LayoutAttr to,
                                   mlir::RankedTensorType type,
                                   std::string &reason);
  /// Plans the conversion of a value of type `type`, whose leading dimensions
  /// are those of `stacks` stacks, slice by slice.
  llvm::FailureOr<Plan> planStack(mlir::RankedTensorType type,
                                  dist::LayoutAttr from, dist::LayoutAttr to,
                                  unsigned stacks, std::string &reason);
  /// The time that steps take from layout `from` on.
  uint64_t costOf(mlir::RankedTensorType type, dist::LayoutAttr from,
                  llvm::ArrayRef<dist::ReshardStep> steps);

  dist::MeshAttr mesh;
  const StageMap &stages;
  StepCosts costs;
  /// Whether the tree has values sliced on their way to another stage.
  bool slicesTransfers;
  llvm::DenseMap<std::tuple<mlir::Attribute, mlir::Attribute, mlir::Type>, Plan>
      plans;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_RESHARDPLANS_H
