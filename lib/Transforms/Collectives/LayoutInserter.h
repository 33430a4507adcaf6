//===- LayoutInserter.h - a layout for every value --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: what is done to the operations, one by one. The
// neighbours answer its questions: StageMap where stages are, ReaderLayouts
// what readers ask for, ReshardPlans which steps lead there; ValueConverter
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

/// Takes the annotations off the end of a body that conversions in front of it
/// need.
void unmarkTerminator(mlir::Operation *terminator);

/// Visits the operations of a function in order, gives every value a type with
/// a layout, and has operands converted that come in another layout than the
/// one they are read in.
class LayoutInserter {
public:
  LayoutInserter(mlir::func::FuncOp function, dist::MeshAttr mesh,
                 const machine::Cluster &cluster)
      : function(function), mesh(mesh), stages(function, mesh),
        plans(function, mesh, stages, cluster), reads(function, mesh, stages),
        converter(function, mesh, stages, plans),
        tied(function, stages, reads, converter) {}

  /// Emits an error and fails where an operation can't be distributed.
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

  /// Sums that are pending in all operands of `op` and stay so in its results.
  dist::AxisList sumsThrough(nn::IterationSpaceOpInterface op,
                             const Partitioning &part);
  /// Leaves a sum of gradients whole where its terms are pending alike.
  void sumBeforeScatter(nn::IterationSpaceOpInterface op, Partitioning &part);
  /// The layout in which an iteration hands on `operand` of its yield, and what
  /// converting it to that is for.
  std::pair<dist::LayoutAttr, dist::Purpose>
  yieldedLayout(nn::RepeatOp repeat, mlir::OpOperand &operand);
  /// Gives the initial value of `operand` the layout of the result that is
  /// computed into it.
  llvm::LogicalResult initialise(mlir::OpOperand &operand,
                                 dist::LayoutAttr layout);
  /// Replaces `operand` by its value in layout `target`.
  llvm::LogicalResult convert(mlir::OpOperand &operand, dist::LayoutAttr target,
                              dist::Purpose purpose);
  /// What moving `operand` is for.
  dist::Purpose purposeOf(mlir::OpOperand &operand);
  bool isParameter(mlir::Value value);
  void erase(mlir::Operation *op) {
    initialValues.remove(op);
    op->erase();
  }
  /// Whether `value` is an argument of the step that stays from one to the next
  /// (no input), or a slice of one.
  bool isStored(mlir::Value value);

  mlir::func::FuncOp function;
  dist::MeshAttr mesh;
  StageMap stages;
  ReshardPlans plans;
  ReaderLayouts reads;
  ValueConverter converter;
  TiedGradients tied;
  /// Among the operations that were visited.
  InitialValues initialValues;
  /// Known once saved forms are separate values.
  std::optional<StoredGradients> stored;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTINSERTER_H
