//===- ScalarGradient.h - derivatives of scalar code ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DIALECT_NN_SCALARGRADIENT_H
#define PROTEUS_LIB_DIALECT_NN_SCALARGRADIENT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace proteus::nn {

/// Whether the derivative of a scalar operation is known. What computes on
/// integers only has none and needs none.
bool hasKnownDerivative(mlir::Operation *op);

/// Converts a float to another float type.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, mlir::Type type);

/// Reverse-mode differentiation of a block of scalar operations. Values of the
/// block that a derivative needs are computed again at the builder, no others.
class ScalarGradient {
public:
  /// `arguments` stand for the first arguments of `body` at the builder.
  ScalarGradient(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Block &body, mlir::ValueRange arguments);

  /// Adds `adjoint` to the adjoint of `value`, a value of the body.
  void seed(mlir::Value value, mlir::Value adjoint);

  /// The adjoint of an argument of the body; null if no seeded value depends on
  /// it. Consumes the seeds.
  mlir::Value derivativeBy(mlir::BlockArgument argument);

private:
  /// Adds what `make` builds to the adjoint of `operand` if the argument
  /// reaches it.
  void contribute(mlir::Value operand, llvm::function_ref<mlir::Value()> make);
  /// Hands the adjoint of the result of `op` on to its operands.
  void propagate(mlir::Operation *op, mlir::Value adjoint);
  /// For a choice between two operands: the chosen one gets the adjoint.
  void propagateChoice(llvm::function_ref<mlir::Value()> makeCondition,
                       mlir::Value chosen, mlir::Value other,
                       mlir::Value adjoint);
  /// The value of the body at the builder.
  mlir::Value forward(mlir::Value value);

  mlir::Value constant(mlir::Type type, double value);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  mlir::Value neg(mlir::Value value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Block &body;
  mlir::IRMapping mapping;
  llvm::DenseMap<mlir::Value, mlir::Value> adjoints;
  /// What the argument in question reaches.
  llvm::DenseSet<mlir::Value> active;
};

} // namespace proteus::nn

#endif // PROTEUS_LIB_DIALECT_NN_SCALARGRADIENT_H
