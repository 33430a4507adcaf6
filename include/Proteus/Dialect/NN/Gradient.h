//===- Gradient.h - building of gradients -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_GRADIENT_H
#define PROTEUS_DIALECT_NN_GRADIENT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace proteus::nn {

/// Interface between the backward pass and an operation that builds its own
/// gradients (`GradientOpInterface::buildGradients`). An implementation
/// determines where backward operations are inserted, and how they read a value
/// of the forward pass: directly, as a slice of values stacked over iterations,
/// or recomputed.
class GradientScope {
public:
  virtual ~GradientScope() = default;

  /// Returns the builder that inserts backward operations.
  virtual mlir::OpBuilder &builder() = 0;

  /// Returns the gradient of a result of the forward operation, or null if the
  /// loss does not depend on the result.
  virtual mlir::Value gradientOf(mlir::Value result) = 0;

  /// Returns the value that backward operations must read instead of `value`,
  /// which is a value of the forward pass.
  virtual mlir::Value saved(mlir::Value value) = 0;

  /// Returns true if the step needs the gradient of `operand`.
  virtual bool wants(mlir::Value operand) = 0;

  /// Returns the type of the gradient of `operand`. This is the type of
  /// `operand`, except that the gradient of a parameter may have another
  /// element type: that in which the step accumulates gradients.
  virtual mlir::Type gradientType(mlir::Value operand) = 0;

  /// Adds `gradient` as a summand to the gradient of `operand`.
  virtual void add(mlir::Value operand, mlir::Value gradient) = 0;

  /// Sets which iterators of the operation `backward` correspond to iterators
  /// of the forward operation, as pairs (forward name, backward name). If the
  /// forward operation is split over the first iterator of a pair, `backward`
  /// is split over the second. Splits of forward iterators without a pair do
  /// not apply to `backward`. If this function is not called, iterators of the
  /// same name correspond.
  virtual void correspond(
      mlir::Operation *backward,
      llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> names) {}
};

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_GRADIENT_H
