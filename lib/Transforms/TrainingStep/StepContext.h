//===- StepContext.h - properties of values in a step -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass build-training-step: finds the values that have gradients,
// and holds other properties of the whole function.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_STEPCONTEXT_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_STEPCONTEXT_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Common/Partitioning.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace proteus {

/// Properties of the values of one function, including values in the bodies of
/// repeats.
class StepContext {
public:
  StepContext(mlir::func::FuncOp function, nn::TrainingAttr training);

  nn::TrainingAttr training;
  /// Values of the forward pass that depend on no tensor, such as zeros.
  InitialValues initialValues;
  /// Forward repeats that were replaced by repeats with more results. The old
  /// repeats are erased only at the end, because a new value could otherwise
  /// get the address of an erased value that is still a key of a map.
  llvm::SmallVector<mlir::Operation *> replaced;

  /// Returns true if `value` needs a gradient: it is a parameter, or a
  /// floating-point tensor that depends on one.
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
