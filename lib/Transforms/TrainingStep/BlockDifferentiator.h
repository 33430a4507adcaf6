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

  /// Returns the sum of the gradients that `operand` has so far, to which the
  /// current operation adds more. Returns zeros if there are none.
  virtual mlir::Value gradientSoFar(mlir::Value operand);
  /// Replaces the gradient of `operand` by `sum`, which includes the value that
  /// `gradientSoFar` has returned.
  void setGradient(mlir::Value operand, mlir::Value sum) {
    gradients[operand] = sum;
  }

  /// Returns the gradient of `parameter`, an argument of the function, or null
  /// if it has none. If several chunks of a stage read the parameter, this is
  /// the sum of their gradients, which the update computes.
  mlir::Value totalGradient(mlir::BlockArgument parameter);

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
  /// Sets the gradient of `parameter` aside if an operation of another virtual
  /// stage computed it. The schedule may run the backward passes of two chunks
  /// in any order, so neither chunk adds to the gradient of the other.
  void separateChunks(mlir::Value parameter);
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
  /// Virtual stage that computes the current gradient of a parameter.
  llvm::DenseMap<mlir::Value, int64_t> stages;
  /// Gradients of parameters that other virtual stages have computed.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> ofOtherChunks;
  /// Results of `keptOperand`, by operation and operand.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Value>, mlir::Value>
      keptOperands;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_BLOCKDIFFERENTIATOR_H
