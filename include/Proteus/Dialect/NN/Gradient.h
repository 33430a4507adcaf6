//===- Gradient.h - how operations build their gradients --------*- C++ -*-===//
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

/// What an operation sees while its gradients are built. It hides where the
/// backward operations go, and how a value of the forward pass reaches them
/// (directly, stacked over iterations, or recomputed).
class GradientScope {
public:
  virtual ~GradientScope() = default;

  /// Places the backward operations.
  virtual mlir::OpBuilder &builder() = 0;

  /// Gradient of a result of the forward operation; null if nothing depends on
  /// it.
  virtual mlir::Value gradientOf(mlir::Value result) = 0;

  /// A value of the forward pass, as the backward pass may use it.
  virtual mlir::Value saved(mlir::Value value) = 0;

  /// Whether the gradient of `operand` is wanted.
  virtual bool wants(mlir::Value operand) = 0;

  /// The type a gradient of `operand` has: the element type differs from that
  /// of a parameter when gradients accumulate in another one.
  virtual mlir::Type gradientType(mlir::Value operand) = 0;

  /// Adds `gradient` to the gradient of `operand`.
  virtual void add(mlir::Value operand, mlir::Value gradient) = 0;

  /// A backward operation is split like its forward operation, iterator by
  /// iterator of the same name. Where the names mean something else, pairs of
  /// (forward name, backward name) say what corresponds; nothing else does.
  virtual void correspond(
      mlir::Operation *backward,
      llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> names) {}
};

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_GRADIENT_H
