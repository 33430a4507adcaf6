//===- LayoutInserter.h - a layout for every value --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: visits the operations of a function and gives
// every value a layout. StageMap gives the stages, ReaderLayouts the layouts
// that later readers need, and ReshardPlans the steps to them. ValueConverter
// builds the steps.
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

/// Removes the annotations of a terminator that conversions inserted before it
/// have read.
void unmarkTerminator(mlir::Operation *terminator);

/// The visit of the operations of one function, in order. It gives every value
/// a type with a layout, and converts operands whose layout differs from the
/// one that their operation needs.
class LayoutInserter {
public:
  LayoutInserter(mlir::func::FuncOp function, dist::MeshAttr mesh,
                 const machine::Cluster &cluster)
      : function(function), mesh(mesh), stages(function, mesh),
        plans(function, mesh, stages, cluster), reads(function, mesh, stages),
        converter(function, mesh, stages, plans),
        tied(function, stages, reads, converter) {}

  /// Emits an error and fails if an operation cannot be distributed.
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
  /// Removes from the partition of an addition of gradients the axes over which
  /// the sums of all its terms are pending.
  void sumBeforeScatter(nn::IterationSpaceOpInterface op, Partitioning &part);
  /// Returns the layout in which an iteration yields `operand`, and the purpose
  /// of the conversion to it.
  std::pair<dist::LayoutAttr, dist::Purpose>
  yieldedLayout(nn::RepeatOp repeat, mlir::OpOperand &operand);
  /// Gives the initial value `operand` the layout of the result that is
  /// computed into it.
  llvm::LogicalResult initialise(mlir::OpOperand &operand,
                                 dist::LayoutAttr layout);
  /// Replaces `operand` by its value in layout `target`.
  llvm::LogicalResult convert(mlir::OpOperand &operand, dist::LayoutAttr target,
                              dist::Purpose purpose);
  /// Returns the purpose of a conversion of `operand`.
  dist::Purpose purposeOf(mlir::OpOperand &operand);
  bool isParameter(mlir::Value value);
  void erase(mlir::Operation *op) {
    initialValues.remove(op);
    op->erase();
  }
  /// Returns true if `value` is a parameter or a state, which stay from one
  /// step to the next, or a slice of one.
  bool isStored(mlir::Value value);

  mlir::func::FuncOp function;
  dist::MeshAttr mesh;
  StageMap stages;
  ReshardPlans plans;
  ReaderLayouts reads;
  ValueConverter converter;
  TiedGradients tied;
  /// The initial values among the results visited so far.
  InitialValues initialValues;
  /// Created after saved activations are separated, which adds values.
  std::optional<StoredGradients> stored;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTINSERTER_H
