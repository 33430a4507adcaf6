//===- BlockDifferentiator.h - gradients of one block -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of build-training-step: walks over a forward block and lets its
// operations build their gradients. RepeatGradients.cpp holds what is done to
// repeats, Recomputation.cpp what is done to modules that are run again.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_BLOCKDIFFERENTIATOR_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_BLOCKDIFFERENTIATOR_H

#include "StepContext.h"

#include "Proteus/Dialect/NN/Gradient.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace proteus {

/// Walks the operations of a forward block in reverse and lets each build its
/// gradients at the insertion point of the backward block.
class BlockDifferentiator : public nn::GradientScope,
                            public mlir::OpBuilder::Listener {
public:
  BlockDifferentiator(StepContext &context, mlir::Block &forward,
                      mlir::OpBuilder backward);

  llvm::LogicalResult run();

  mlir::OpBuilder &builder() override { return backward; }
  mlir::Value gradientOf(mlir::Value result) override {
    return gradients.lookup(result);
  }
  bool wants(mlir::Value operand) override { return context.isActive(operand); }
  mlir::Type gradientType(mlir::Value operand) override;
  void add(mlir::Value operand, mlir::Value gradient) override;
  mlir::Value saved(mlir::Value value) override;
  void correspond(mlir::Operation *backwardOp,
                  llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>>
                      names) override;

  /// A tensor of zeros in the type of the gradient of `value`.
  mlir::Value zeroGradient(mlir::Value value);

protected:
  /// A value that is kept from the forward pass.
  virtual mlir::Value kept(mlir::Value value) { return value; }

  StepContext &context;
  mlir::Block &forward;
  mlir::OpBuilder backward;
  /// The forward operation whose gradients are being built.
  mlir::Operation *current = nullptr;
  /// Values that have a gradient, in the order in which they got it first.
  llvm::MapVector<mlir::Value, mlir::Value> gradients;

private:
  llvm::LogicalResult differentiate(nn::RepeatOp repeat);
  void recompute(mlir::StringAttr group);
  mlir::Value keptOperand(mlir::Operation *op, mlir::Value value);
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint previous) override;

  /// The operations of each group that is recomputed, in their order.
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<mlir::Operation *>>
      recomputeMembers;
  /// Whether the operations being built only sum gradients up.
  bool summing = false;
  /// Recomputed values, by the group and the forward value.
  llvm::DenseMap<mlir::StringAttr, llvm::DenseMap<mlir::Value, mlir::Value>>
      recomputed;
  /// Operands that are kept in a layout of their own.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Value>, mlir::Value>
      keptOperands;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_BLOCKDIFFERENTIATOR_H
