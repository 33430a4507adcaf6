//===- StageMap.h - where stages lie on the mesh ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: the coordinates of the pipeline axis at which the
// values and operations of a stage are. Without such an axis all are on one
// stage, everywhere.
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

  /// The axis along which stages lie, if the tree has one.
  std::optional<dist::Axis> getAxis() const { return pipelineAxis; }

  /// The layout on the devices of that stage; its place within them stays.
  dist::LayoutAttr onStage(dist::LayoutAttr layout, int64_t stage) const;
  /// The layout on the devices of the stage of `op`.
  dist::LayoutAttr onStage(dist::LayoutAttr layout, mlir::Operation *op) const;

  /// The stage whose devices hold `value`.
  int64_t positionOf(mlir::Value value) const;
  /// The stage whose devices run `op`, in whichever chunk.
  int64_t positionOf(mlir::Operation *op) const;

  /// Whether `value` has to move to another stage to be `target`.
  bool moves(mlir::Value value, dist::LayoutAttr target) const;

private:
  std::optional<dist::Axis> pipelineAxis;
  int64_t numStages = 1;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STAGEMAP_H
