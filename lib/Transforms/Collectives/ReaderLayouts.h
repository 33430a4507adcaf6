//===- ReaderLayouts.h - layouts in which values are read -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: finds the layouts in which later operations will
// read and sum a value. LayoutInserter has not visited these operations yet, so
// their layouts are derived from their annotations.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_READERLAYOUTS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_READERLAYOUTS_H

#include "StageMap.h"

#include "Proteus/Dialect/NN/NN.h"

namespace proteus {

/// Finds the layouts in which later operations read the values of one function.
class ReaderLayouts {
public:
  ReaderLayouts(mlir::func::FuncOp function, dist::MeshAttr mesh,
                const StageMap &stages)
      : function(function), mesh(mesh), stages(stages) {}

  /// Finds the first kernel that reads `value`, and returns the layout in which
  /// this kernel reads it. Also searches the bodies of repeats and
  /// recomputations that take `value`. Returns null if no kernel reads `value`.
  /// `value` is an argument of a block, or a result of a repeat or
  /// recomputation. The returned layout has the rank of `value`, even if a body
  /// reads only slices of it.
  dist::LayoutAttr firstReadLayout(mlir::Value value);

  /// Returns the layout of the argument that `value` updates, or null if the
  /// function does not return `value` as an update.
  dist::LayoutAttr updatedLayout(mlir::Value value);

  /// Returns the layout in which `update`, an update or a repeat of updates,
  /// reads its gradient.
  dist::LayoutAttr gradientLayout(mlir::Operation *update);

  /// Returns the partial layout in which `repeat` can accumulate a sum in the
  /// carried value `operand`, so that one reduction after the repeat suffices.
  /// Returns null unless the body only adds to the value, the added values are
  /// partial, and the value starts as zero or as a partial sum.
  dist::LayoutAttr accumulationLayout(nn::RepeatOp repeat,
                                      mlir::OpOperand &operand);

private:
  /// Returns the axes, including `micro`, over which sums will be pending in
  /// `value` after its block is visited, or no axes if this cannot be derived.
  /// Ignores the term `neutral`, the sum of the preceding iterations, because
  /// it gets the same pending sums as the other terms. Caches the results in
  /// `known`.
  dist::AxisList
  pendingSums(mlir::Value value, mlir::BlockArgument neutral,
              llvm::DenseMap<mlir::Value, dist::AxisList> &known);

  mlir::func::FuncOp function;
  dist::MeshAttr mesh;
  const StageMap &stages;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_READERLAYOUTS_H
