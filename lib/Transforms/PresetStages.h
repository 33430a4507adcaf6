//===- PresetStages.h - what runs in which stage ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of apply-strategy: where a pipeline is cut.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PRESETSTAGES_H
#define PROTEUS_LIB_TRANSFORMS_PRESETSTAGES_H

#include "PresetModel.h"

namespace proteus {

class PresetStages {
public:
  PresetStages(const PresetModel &model, const ApplyStrategyOptions &options);

  /// Layers per stage; empty: equal numbers.
  llvm::ArrayRef<int64_t> getLayers() const { return layers; }

  /// The stage of an operation outside of the layers with which a stage begins.
  std::optional<int64_t> getStage(mlir::Operation *op) const {
    auto found = first.find(op);
    return found == first.end() ? std::nullopt : std::optional(found->second);
  }

private:
  void cutByWeights(const PresetModel &model, int64_t numStages);

  llvm::SmallVector<int64_t> layers;
  llvm::DenseMap<mlir::Operation *, int64_t> first;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PRESETSTAGES_H
