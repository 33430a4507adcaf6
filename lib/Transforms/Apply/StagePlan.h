//===- StagePlan.h - layers of every stage ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of apply-strategy: the layers of each stage of a pipeline, and the
// operations after the layers.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_APPLY_STAGEPLAN_H
#define PROTEUS_LIB_TRANSFORMS_APPLY_STAGEPLAN_H

#include "ModelShape.h"

namespace proteus {

/// Stages of layers and operations that differ from those that `stages` of a
/// tree sets by default.
struct StagePlan {
  /// Number of layers of every run (stage or chunk); empty if the layers are
  /// distributed equally.
  llvm::SmallVector<int64_t> counts;
  /// Stages of the operations after the layers that are in a later stage than
  /// the last layer.
  llvm::DenseMap<mlir::Operation *, int64_t> afterLayers;
};

/// Distributes the layers and the other operations over the stages. Emits an
/// error if a stage would be empty.
llvm::FailureOr<StagePlan> planStages(const ModelShape &model,
                                      const plan::ResolvedPlan &plan);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_APPLY_STAGEPLAN_H
