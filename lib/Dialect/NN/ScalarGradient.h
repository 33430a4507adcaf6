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

/// Returns true if ScalarGradient can differentiate the scalar operation `op`,
/// or if `op` needs no derivative because it has no float operand and no float
/// result.
bool hasKnownDerivative(mlir::Operation *op);

/// Builds the conversion of the float `value` to the float type `type`.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, mlir::Type type);

/// Differentiates a block of scalar operations in reverse mode. The adjoint of
/// a value is the derivative of the loss with respect to this value. The
/// builder inserts the operations that compute adjoints. If these operations
/// need a value of the block, the builder also inserts copies of the operations
/// that compute the value.
class ScalarGradient {
public:
  /// `body` is the block to differentiate. In the inserted operations,
  /// `arguments[i]` replaces argument i of `body`. `body` may have further
  /// arguments, which these operations do not read.
  ScalarGradient(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Block &body, mlir::ValueRange arguments);

  /// Adds `adjoint` to the adjoint of `value`. `value` belongs to the body.
  void seed(mlir::Value value, mlir::Value adjoint);

  /// Builds the adjoint of an argument of the body from the adjoints that
  /// `seed` has set. Returns null if no seeded value depends on the argument.
  /// May be called only once, because it changes the adjoints of other values
  /// of the body.
  mlir::Value derivativeBy(mlir::BlockArgument argument);

private:
  /// Adds the value that `make` builds to the adjoint of `operand`. Builds
  /// nothing if `operand` does not depend on the argument of `derivativeBy`.
  void contribute(mlir::Value operand, llvm::function_ref<mlir::Value()> make);
  /// Adds the contributions of `op` to the adjoints of its operands. `adjoint`
  /// is the adjoint of the result of `op`.
  void propagate(mlir::Operation *op, mlir::Value adjoint);
  /// Builds operations that, at run time, add `adjoint` to the adjoint of
  /// `chosen` if a condition is true, and to the adjoint of `other` if not.
  /// `makeCondition` builds the condition.
  void propagateChoice(llvm::function_ref<mlir::Value()> makeCondition,
                       mlir::Value chosen, mlir::Value other,
                       mlir::Value adjoint);
  /// Returns the value that the inserted operations read instead of `value`, a
  /// value of the body. If there is no such value yet, copies the operations
  /// that compute `value` to the insertion point of the builder.
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
  /// Values of the body that depend on the argument of `derivativeBy`.
  llvm::DenseSet<mlir::Value> active;
};

} // namespace proteus::nn

#endif // PROTEUS_LIB_DIALECT_NN_SCALARGRADIENT_H
