//===- Differentiation.h - the backward pass of a model ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass build-training-step: builds the backward pass of a whole
// model.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_DIFFERENTIATION_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_DIFFERENTIATION_H

#include "Proteus/Dialect/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace proteus {

/// Returns the tensor type `type` with the element type `element`.
mlir::Type withElementType(mlir::Type type, mlir::Type element);

/// Returns true if `value` is a tensor of floating-point numbers.
bool isFloatTensor(mlir::Value value);

/// Returns true if `value` is a constant. The backward pass clones a constant
/// instead of saving it.
bool isConstant(mlir::Value value);

/// Builds the backward operations of a model at the end of `function`, which
/// returns the loss. May first cut repeats of the forward pass in two. Returns
/// the gradient of every parameter that has one. Emits an error if the loss
/// depends on no parameter, or if an operation between a parameter and the loss
/// is not differentiable.
llvm::FailureOr<llvm::DenseMap<mlir::Value, mlir::Value>>
differentiate(mlir::func::FuncOp function, nn::TrainingAttr training);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_DIFFERENTIATION_H
