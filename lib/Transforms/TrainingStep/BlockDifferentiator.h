//===- BlockDifferentiator.h - gradients of one block -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of build-training-step: builds the gradients of the operations of one
// forward block. RepeatGradients.cpp contains the part for repeats,
// Recomputation.cpp the part for recomputed modules.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_BLOCKDIFFERENTIATOR_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_BLOCKDIFFERENTIATOR_H

#include "StepContext.h"

#include "Proteus/Dialect/NN/Gradient.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace proteus {

/// Visits the operations of a forward block in reverse. Each operation builds
/// its gradients at the insertion point of the backward block.
class BlockDifferentiator : public nn::GradientScope,
                            public mlir::OpBuilder::Listener {
public:
  BlockDifferentiator(StepContext &context, mlir::Block &forward,
                      mlir::OpBuilder backward);

  /// Builds all gradients. Emits an error if an operation on which the loss
  /// depends is not differentiable.
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

  /// Returns a tensor of zeros with the type of the gradient of `value`.
  mlir::Value zeroGradient(mlir::Value value);

protected:
  /// Returns the value to read in the backward block in place of `value`, which
  /// is saved from the forward pass. In a repeat it is a slice of a stack.
  virtual mlir::Value kept(mlir::Value value) { return value; }

  StepContext &context;
  mlir::Block &forward;
  mlir::OpBuilder backward;
  /// The forward operation whose gradients are being built.
  mlir::Operation *current = nullptr;
  /// Gradients by forward value, in the order in which values got their first
  /// gradient.
  llvm::MapVector<mlir::Value, mlir::Value> gradients;

private:
  /// Builds the backward repeat of `repeat`.
  llvm::LogicalResult differentiate(nn::RepeatOp repeat);
  /// Builds the nn.recompute of `group`.
  void recompute(mlir::StringAttr group);
  mlir::Value keptOperand(mlir::Operation *op, mlir::Value value);
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint previous) override;

  /// Operations of each recompute group, in program order.
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<mlir::Operation *>>
      recomputeMembers;
  /// True while operations are built that only sum gradients.
  bool summing = false;
  /// Recomputed values, by recompute group and forward value.
  llvm::DenseMap<mlir::StringAttr, llvm::DenseMap<mlir::Value, mlir::Value>>
      recomputed;
  /// Values that the backward pass reads in place of an operand, by operation
  /// and operand.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Value>, mlir::Value>
      keptOperands;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_BLOCKDIFFERENTIATOR_H
