//===- StepContext.h - what all blocks of a step share ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of build-training-step: which values have gradients.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_STEPCONTEXT_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_STEPCONTEXT_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Common/Partitioning.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace proteus {

/// Facts about the function that hold in all its blocks.
class StepContext {
public:
  StepContext(mlir::func::FuncOp function, nn::TrainingAttr training);

  nn::TrainingAttr training;
  /// Those of the forward pass.
  InitialValues initialValues;
  /// Repeats that were rebuilt. They are erased at the end, so that no new
  /// value takes the address of one that the maps know.
  llvm::SmallVector<mlir::Operation *> replaced;

  /// Whether a parameter reaches `value`, so that it has a gradient.
  bool isActive(mlir::Value value) const { return active.contains(value); }
  /// Whether `value` is a parameter, or the slice of one that the body of a
  /// repeat sees.
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
