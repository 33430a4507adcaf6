//===- StageMap.h - mesh coordinates of stages ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: maps the stages of values and operations to
// coordinates on the pipeline axis. Without a pipeline axis, there is one stage
// on all devices.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STAGEMAP_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STAGEMAP_H

#include "Proteus/Dialect/Dist/Dist.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// The stages of the values and operations of one function.
class StageMap {
public:
  StageMap(mlir::func::FuncOp function, dist::MeshAttr mesh);

  /// Returns the pipeline axis, or nullopt if the tree has none.
  std::optional<dist::Axis> getAxis() const { return pipelineAxis; }

  /// Returns `layout` restricted to the devices of the virtual stage `stage`.
  /// Fixed coordinates on other axes do not change.
  dist::LayoutAttr onStage(dist::LayoutAttr layout, int64_t stage) const;
  /// Returns `layout` restricted to the devices of the stage of `op`.
  dist::LayoutAttr onStage(dist::LayoutAttr layout, mlir::Operation *op) const;

  /// Returns the coordinate on the pipeline axis of the devices that hold
  /// `value`, or 0 without a pipeline axis.
  int64_t positionOf(mlir::Value value) const;
  /// Returns the coordinate on the pipeline axis of the devices that run `op`.
  /// It is the same for all chunks of a stage.
  int64_t positionOf(mlir::Operation *op) const;

  /// Returns true if the layout of `value` and the layout `target` are on
  /// different stages.
  bool moves(mlir::Value value, dist::LayoutAttr target) const;

private:
  std::optional<dist::Axis> pipelineAxis;
  int64_t numStages = 1;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STAGEMAP_H
