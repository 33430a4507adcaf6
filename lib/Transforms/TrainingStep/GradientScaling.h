//===- GradientScaling.h - one factor for all gradients ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_GRADIENTSCALING_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_GRADIENTSCALING_H

#include "Proteus/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"

namespace proteus {

/// Makes `op` and what is inside it part of the update of `parameter`, on its
/// stage.
void markAsUpdate(mlir::Operation *op, mlir::BlockArgument parameter);

/// Builds at `builder` the factor that every update applies to its gradient:
/// from the norm of all gradients where `training` clips it, from the loss
/// scale where it has one. Null where it has neither.
mlir::Value
buildUpdateFactor(mlir::OpBuilder &builder, nn::TrainingAttr training,
                  llvm::ArrayRef<mlir::BlockArgument> parameters,
                  const llvm::DenseMap<mlir::Value, mlir::Value> &gradients);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_GRADIENTSCALING_H
