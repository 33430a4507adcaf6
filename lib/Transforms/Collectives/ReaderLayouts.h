//===- ReaderLayouts.h - layouts in which values are read -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: derives, from the annotations of operations that
// are not visited yet, the layouts in which values are read and summed.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_READERLAYOUTS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_READERLAYOUTS_H

#include "StageMap.h"

#include "Proteus/Dialect/NN/NN.h"

namespace proteus {

/// Layouts in which the values of one function are read later.
class ReaderLayouts {
public:
  ReaderLayouts(mlir::func::FuncOp function, dist::MeshAttr mesh,
                const StageMap &stages)
      : function(function), mesh(mesh), stages(stages) {}

  /// Returns the layout in which `value` is first read, or null if no operation
  /// reads it. `value` is an argument of a block, or a result of a repeat or
  /// recomputation. The layout has the rank of `value`.
  dist::LayoutAttr firstReadLayout(mlir::Value value);

  /// Returns the layout of the argument that `value` replaces if it is returned
  /// as an update; otherwise null.
  dist::LayoutAttr updatedLayout(mlir::Value value);

  /// Returns the layout in which an update, or a repeat of updates, reads its
  /// gradient.
  dist::LayoutAttr gradientLayout(mlir::Operation *update);

  /// Returns the layout in which `repeat` accumulates a partial sum in
  /// `operand`. Returns null unless `operand` is a carried value that starts as
  /// zero, the body only adds to it, and the sum is partial.
  dist::LayoutAttr accumulationLayout(nn::RepeatOp repeat,
                                      mlir::OpOperand &operand);

private:
  /// Returns the axes, `micro` included, over which sums will be pending in
  /// `value` after its block is visited; none if that cannot be derived. Leaves
  /// out `neutral`, the sum of the preceding iterations. `known` caches the
  /// results.
  dist::AxisList
  pendingSums(mlir::Value value, mlir::BlockArgument neutral,
              llvm::DenseMap<mlir::Value, dist::AxisList> &known);

  mlir::func::FuncOp function;
  dist::MeshAttr mesh;
  const StageMap &stages;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_READERLAYOUTS_H
