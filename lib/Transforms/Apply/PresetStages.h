//===- PresetStages.h - what stages of a pipeline have ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of apply-strategy: which layers, and which operations behind them, are
// in which stage of a pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_APPLY_PRESETSTAGES_H
#define PROTEUS_LIB_TRANSFORMS_APPLY_PRESETSTAGES_H

#include "PresetModel.h"

namespace proteus {

/// Stages that are not what `stages` of a tree does by itself.
struct PresetStages {
  /// Layers of every stage; empty: equally many.
  llvm::SmallVector<int64_t> counts;
  /// Stages of operations behind the layers that are not in the stage of the
  /// last layer.
  llvm::DenseMap<mlir::Operation *, int64_t> behind;
};

/// Emits an error if stages would be empty.
llvm::FailureOr<PresetStages> planStages(const PresetModel &model,
                                         const plan::ResolvedPlan &plan);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_APPLY_PRESETSTAGES_H
