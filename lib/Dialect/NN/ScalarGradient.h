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

/// Returns true if ScalarGradient can differentiate a scalar operation. An
/// operation without float operands and results has no derivative and needs
/// none.
bool hasKnownDerivative(mlir::Operation *op);

/// Builds the conversion of a float to another float type.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, mlir::Type type);

/// Reverse-mode differentiation of a block of scalar operations. The builder
/// inserts copies of those operations of the block whose values a derivative
/// needs.
class ScalarGradient {
public:
  /// `arguments` are the values of the first arguments of `body` at the
  /// insertion point of the builder.
  ScalarGradient(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Block &body, mlir::ValueRange arguments);

  /// Adds `adjoint` to the adjoint of `value`, a value of the body.
  void seed(mlir::Value value, mlir::Value adjoint);

  /// Builds the adjoint of an argument of the body, or returns null if no
  /// seeded value depends on the argument. May be called once, because it
  /// changes the adjoints.
  mlir::Value derivativeBy(mlir::BlockArgument argument);

private:
  /// Adds the value that `make` builds to the adjoint of `operand` if `operand`
  /// depends on the argument.
  void contribute(mlir::Value operand, llvm::function_ref<mlir::Value()> make);
  /// Adds the contributions of `adjoint`, the adjoint of the result of `op`, to
  /// the adjoints of its operands.
  void propagate(mlir::Operation *op, mlir::Value adjoint);
  /// Adds `adjoint` to the adjoint of the operand that the operation chooses:
  /// `chosen` if the condition is true, else `other`.
  void propagateChoice(llvm::function_ref<mlir::Value()> makeCondition,
                       mlir::Value chosen, mlir::Value other,
                       mlir::Value adjoint);
  /// Returns the value at the insertion point of the builder that equals
  /// `value` of the body. Copies the operations that compute it if necessary.
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
  /// Values that depend on the argument of `derivativeBy`.
  llvm::DenseSet<mlir::Value> active;
};

} // namespace proteus::nn

#endif // PROTEUS_LIB_DIALECT_NN_SCALARGRADIENT_H
