//===- GradientScaling.h - one factor for all gradients ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass build-training-step: clipping of gradients by their norm,
// and loss scaling. Both multiply all gradients by one factor, which depends on
// all gradients.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_GRADIENTSCALING_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_GRADIENTSCALING_H

#include "Proteus/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"

namespace proteus {

/// Sets the phase of `op` and of the operations inside it to Update, and copies
/// the stage and the coordinates of `parameter` to them.
void markAsUpdate(mlir::Operation *op, mlir::BlockArgument parameter);

/// Builds the factor by which every update multiplies its gradient. If
/// `training` has clipping, the factor clips the norm of all gradients. If
/// `training` has a loss scale, the factor undoes that scale. Returns null if
/// `training` has neither.
mlir::Value
buildUpdateFactor(mlir::OpBuilder &builder, nn::TrainingAttr training,
                  llvm::ArrayRef<mlir::BlockArgument> parameters,
                  const llvm::DenseMap<mlir::Value, mlir::Value> &gradients);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_GRADIENTSCALING_H
