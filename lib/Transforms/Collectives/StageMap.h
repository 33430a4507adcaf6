//===- StageMap.h - mesh coordinates of stages ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: the coordinates on the pipeline axis of the
// values and operations of a stage. Without a pipeline axis there is one stage
// on all devices.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STAGEMAP_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STAGEMAP_H

#include "Proteus/Dialect/Dist/Dist.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// The stages of one function.
class StageMap {
public:
  StageMap(mlir::func::FuncOp function, dist::MeshAttr mesh);

  /// Returns the pipeline axis, if the tree has one.
  std::optional<dist::Axis> getAxis() const { return pipelineAxis; }

  /// Returns `layout` on the devices of `stage`. Other fixed coordinates stay.
  dist::LayoutAttr onStage(dist::LayoutAttr layout, int64_t stage) const;
  /// Returns `layout` on the devices of the stage of `op`.
  dist::LayoutAttr onStage(dist::LayoutAttr layout, mlir::Operation *op) const;

  /// Returns the stage whose devices hold `value`.
  int64_t positionOf(mlir::Value value) const;
  /// Returns the stage whose devices run `op`, whatever its chunk.
  int64_t positionOf(mlir::Operation *op) const;

  /// Returns true if `value` is on another stage than `target`.
  bool moves(mlir::Value value, dist::LayoutAttr target) const;

private:
  std::optional<dist::Axis> pipelineAxis;
  int64_t numStages = 1;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STAGEMAP_H
