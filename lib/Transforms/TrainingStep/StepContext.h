//===- StepContext.h - properties of values in a step -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of build-training-step: the values that have gradients, and other
// properties of the function that all its blocks share.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_STEPCONTEXT_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_STEPCONTEXT_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Common/Partitioning.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace proteus {

/// Properties of the function that hold in all its blocks.
class StepContext {
public:
  StepContext(mlir::func::FuncOp function, nn::TrainingAttr training);

  nn::TrainingAttr training;
  /// Initial values of the forward pass.
  InitialValues initialValues;
  /// Repeats that were replaced. They are erased at the end, because a new
  /// value could otherwise get the address of a value that is still a key of a
  /// map.
  llvm::SmallVector<mlir::Operation *> replaced;

  /// Returns true if `value` depends on a parameter, so that it has a gradient.
  bool isActive(mlir::Value value) const { return active.contains(value); }
  /// Returns true if `value` is a parameter, or a slice of one in the body of a
  /// repeat.
  bool isParameter(mlir::Value value) const {
    return parameters.contains(value);
  }

private:
  void markActive(mlir::Block &block);
  void markActive(mlir::Value value);
  void markActive(nn::RepeatOp repeat);

  llvm::DenseSet<mlir::Value> active;
  llvm::DenseSet<mlir::Value> parameters;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_STEPCONTEXT_H
