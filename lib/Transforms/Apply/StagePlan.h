//===- StagePlan.h - layers of every stage ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of apply-strategy: which layers, and which operations after them, are
// in which stage of a pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_APPLY_STAGEPLAN_H
#define PROTEUS_LIB_TRANSFORMS_APPLY_STAGEPLAN_H

#include "ModelShape.h"

namespace proteus {

/// Stages that are not what `stages` of a tree does by itself.
struct StagePlan {
  /// Layers of every stage; empty: equally many.
  llvm::SmallVector<int64_t> counts;
  /// Stages of operations after the layers that are not in the stage of the
  /// last layer.
  llvm::DenseMap<mlir::Operation *, int64_t> afterLayers;
};

/// Emits an error if stages would be empty.
llvm::FailureOr<StagePlan> planStages(const ModelShape &model,
                                      const plan::ResolvedPlan &plan);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_APPLY_STAGEPLAN_H
