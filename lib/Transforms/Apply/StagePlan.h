//===- StagePlan.h - layers of every stage ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass apply-strategy: assigns layers, and the operations after the
// layers, to the stages of a pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_APPLY_STAGEPLAN_H
#define PROTEUS_LIB_TRANSFORMS_APPLY_STAGEPLAN_H

#include "ModelShape.h"

namespace proteus {

/// An assignment of layers and operations to stages. A tree distributes the
/// layers equally by default, so only deviations from this default are stored.
struct StagePlan {
  /// Number of layers of each run, by the pattern of the layers. A run is one
  /// chunk of a stage. Empty if the layers are distributed equally.
  llvm::DenseMap<llvm::StringRef, llvm::SmallVector<int64_t>> counts;
  /// Operations that run in a later stage than the last layer, each with its
  /// stage.
  llvm::DenseMap<mlir::Operation *, int64_t> afterLayers;
};

/// Distributes the layers and the other operations over the stages. Emits an
/// error if a stage would be empty.
llvm::FailureOr<StagePlan> planStages(const ModelShape &model,
                                      const plan::ResolvedPlan &plan);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_APPLY_STAGEPLAN_H
