//===- BlockDifferentiator.h - gradients of one block -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass build-training-step: builds the gradients of the operations
// of one forward block. RepeatGradients.cpp handles repeats, and
// Recomputation.cpp handles modules that are recomputed.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_BLOCKDIFFERENTIATOR_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_BLOCKDIFFERENTIATOR_H

#include "StepContext.h"

#include "Proteus/Dialect/NN/Gradient.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace proteus {

/// Visits the operations of a forward block in reverse and lets each of them
/// build its gradients, which are inserted into the backward block.
class BlockDifferentiator : public nn::GradientScope,
                            public mlir::OpBuilder::Listener {
public:
  BlockDifferentiator(StepContext &context, mlir::Block &forward,
                      mlir::OpBuilder backward);

  /// Builds all gradients. Emits an error if an operation between a parameter
  /// and the loss is not differentiable.
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
  /// Returns the value that backward operations read in place of the forward
  /// value `value`. In a repeat, it is usually a slice of a stack that holds
  /// the values of all iterations.
  virtual mlir::Value kept(mlir::Value value) { return value; }

  StepContext &context;
  mlir::Block &forward;
  mlir::OpBuilder backward;
  /// The forward operation whose gradients are being built.
  mlir::Operation *current = nullptr;
  /// The gradient of every forward value that has one, in the order in which
  /// the values got their first gradient.
  llvm::MapVector<mlir::Value, mlir::Value> gradients;

private:
  /// Builds the backward repeat of `repeat`.
  llvm::LogicalResult differentiate(nn::RepeatOp repeat);
  /// Builds the nn.recompute that repeats the operations of `group`.
  void recompute(mlir::StringAttr group);
  mlir::Value keptOperand(mlir::Operation *op, mlir::Value value);
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint previous) override;

  /// Operations of each recompute group, in program order.
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<mlir::Operation *>>
      recomputeMembers;
  /// True while `add` builds operations that convert or sum gradients.
  bool summing = false;
  /// Recomputed values, by recompute group and forward value.
  llvm::DenseMap<mlir::StringAttr, llvm::DenseMap<mlir::Value, mlir::Value>>
      recomputed;
  /// Results of `keptOperand`, by operation and operand.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Value>, mlir::Value>
      keptOperands;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_BLOCKDIFFERENTIATOR_H
