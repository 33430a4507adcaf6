//===- LayoutInserter.h - a layout for every value --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: gives every tensor of a function a layout.
// LayoutInserter visits the operations in order and calls the other classes of
// the pass. StageMap finds the stages of values, ReaderLayouts the layouts that
// later readers need, and ReshardPlans the cheapest steps to these layouts.
// ValueConverter builds the steps.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTINSERTER_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTINSERTER_H

#include "ReaderLayouts.h"
#include "ReshardPlans.h"
#include "StageMap.h"
#include "StoredGradients.h"
#include "TiedGradients.h"
#include "ValueConverter.h"

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Common/Partitioning.h"

namespace proteus {

/// Removes the stage and the phase of a terminator. A terminator has these
/// annotations only while conversions are inserted before it, because
/// conversions take their annotations from their reader.
void unmarkTerminator(mlir::Operation *terminator);

/// Inserts layouts and conversions into one function. Visits the operations in
/// order, gives the type of every tensor a layout, and converts each operand
/// that has another layout than its operation needs.
class LayoutInserter {
public:
  LayoutInserter(mlir::func::FuncOp function, dist::MeshAttr mesh,
                 const machine::Cluster &cluster)
      : function(function), mesh(mesh), stages(function, mesh),
        plans(function, mesh, stages, cluster), reads(function, mesh, stages),
        converter(function, mesh, stages, plans),
        tied(function, stages, reads, converter) {}

  /// Visits the whole function. Emits an error and fails if an operation cannot
  /// be distributed.
  llvm::LogicalResult run();

private:
  llvm::LogicalResult visit(mlir::Block &block);
  llvm::LogicalResult visitKernel(nn::IterationSpaceOpInterface op);
  llvm::LogicalResult decompose(nn::DecomposableOpInterface op);
  void replaceByRing(nn::RingOpInterface op);
  llvm::LogicalResult visitRepeat(nn::RepeatOp repeat);
  llvm::LogicalResult enter(nn::RepeatOp repeat);
  llvm::LogicalResult leave(nn::RepeatOp repeat);
  llvm::LogicalResult visitRecompute(nn::RecomputeOp recompute);
  llvm::LogicalResult visitTotal(nn::TotalOp total);
  llvm::LogicalResult visitReturn(mlir::Operation *op);

  /// Returns the axes over which sums are pending in all operands of `op` and
  /// stay pending in its results.
  dist::AxisList sumsThrough(nn::IterationSpaceOpInterface op,
                             const Partitioning &part);
  /// Removes axes from `part`, the partition of `op`, if `op` adds input
  /// gradients and sums are pending over these axes in all of them. The
  /// addition then adds partial terms, and one collective reduces and scatters
  /// the sum.
  void sumBeforeScatter(nn::IterationSpaceOpInterface op, Partitioning &part);
  /// Returns the layout in which the body of `repeat` yields `operand`, and the
  /// purpose of the conversion to this layout.
  std::pair<dist::LayoutAttr, dist::Purpose>
  yieldedLayout(nn::RepeatOp repeat, mlir::OpOperand &operand);
  /// Lets `operand` read its initial value in the layout `layout`, the layout
  /// of the result that is computed into the initial value. Copies the
  /// operations that produce the initial value if it has another layout.
  llvm::LogicalResult initialise(mlir::OpOperand &operand,
                                 dist::LayoutAttr layout);
  /// Converts the value that `operand` reads to layout `target`, and lets
  /// `operand` read the converted value.
  llvm::LogicalResult convert(mlir::OpOperand &operand, dist::LayoutAttr target,
                              dist::Purpose purpose);
  /// Returns the purpose of a conversion of `operand`: parameter, gradient or
  /// activation.
  dist::Purpose purposeOf(mlir::OpOperand &operand);
  bool isParameter(mlir::Value value);
  void erase(mlir::Operation *op) {
    initialValues.remove(op);
    op->erase();
  }
  /// Returns true if `value` is a parameter, a state or a master copy, or a
  /// slice of one of these. They stay in memory from one training step to the
  /// next.
  bool isStored(mlir::Value value);

  mlir::func::FuncOp function;
  dist::MeshAttr mesh;
  StageMap stages;
  ReshardPlans plans;
  ReaderLayouts reads;
  ValueConverter converter;
  TiedGradients tied;
  /// The initial values (see `InitialValues`) among the results visited so far.
  InitialValues initialValues;
  /// Created in `run`, because its constructor must find the gradients after
  /// separateSavedActivations has changed the repeats.
  std::optional<StoredGradients> stored;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTINSERTER_H
