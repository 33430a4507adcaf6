//===- ReaderLayouts.h - layouts in which values are read -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: what the annotations of operations that are not
// yet visited say about the layouts of the values they read and sum up.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_READERLAYOUTS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_READERLAYOUTS_H

#include "StageMap.h"

#include "Proteus/Dialect/NN/NN.h"

namespace proteus {

/// Looks ahead in one function.
class ReaderLayouts {
public:
  ReaderLayouts(mlir::func::FuncOp function, dist::MeshAttr mesh,
                const StageMap &stages)
      : function(function), mesh(mesh), stages(stages) {}

  /// The layout in which `value`, an argument of a block or a result of a
  /// repeat or recomputation, is first read, in its own shape; null if no
  /// operation reads it.
  dist::LayoutAttr firstReadLayout(mlir::Value value);

  /// The layout of the argument that `value` replaces, if it is returned as an
  /// update.
  dist::LayoutAttr updatedLayout(mlir::Value value);

  /// The layout in which an update, or the repeat of one, reads its gradient.
  dist::LayoutAttr gradientLayout(mlir::Operation *update);

  /// The layout in which a repeat sums up into `operand`, which it carries and
  /// which is zero; null if it does something else with it.
  dist::LayoutAttr accumulationLayout(nn::RepeatOp repeat,
                                      mlir::OpOperand &operand);

private:
  /// The sums over device axes and micro-batches that are pending in `value`
  /// when its block is visited; none where that is not known before. Answers
  /// are kept in `known`: what is read twice is asked for once.
  dist::AxisList
  pendingSums(mlir::Value value, mlir::BlockArgument neutral,
              llvm::DenseMap<mlir::Value, dist::AxisList> &known);

  mlir::func::FuncOp function;
  dist::MeshAttr mesh;
  const StageMap &stages;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_READERLAYOUTS_H
