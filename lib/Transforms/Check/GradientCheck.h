//===- GradientCheck.h - gradients against forward derivatives --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the gradients of a training step with derivatives of the model that
// do not depend on the differentiation of the step. The model without
// gradients is executed on dual numbers: the parameters move in a random
// direction, and the loss carries its derivative in this direction. The
// derivative must be the sum of the products of all gradients with the
// direction.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_CHECK_GRADIENTCHECK_H
#define PROTEUS_LIB_TRANSFORMS_CHECK_GRADIENTCHECK_H

#include "ModelValues.h"

namespace proteus {

/// The gradients of all parameters of a training step that is executed on whole
/// tensors.
class StepGradients {
public:
  explicit StepGradients(const Arguments &arguments) : arguments(arguments) {}

  /// Finds the gradients that the updates of `step` read, and adds them to the
  /// results of `step`, so that an execution returns them. Emits an error and
  /// fails if the update of a parameter does not read a gradient of it.
  mlir::LogicalResult expose(mlir::func::FuncOp step);
  /// Returns the results of an execution of the step without the gradients that
  /// `expose` has added.
  llvm::ArrayRef<interp::Tensor>
  dropGradients(llvm::ArrayRef<interp::Tensor> results) const {
    return results.take_front(numResults);
  }
  /// Sets the gradients from the results of an execution of the step and of a
  /// disturbed one (see `scaleOfTerms`).
  void collect(llvm::ArrayRef<interp::Tensor> results,
               llvm::ArrayRef<interp::Tensor> disturbed);
  /// Executes `model`, the function from which the step was built, on dual
  /// numbers. Emits an error for every parameter with a gradient that differs
  /// from the derivative of the loss by more than `tolerance`. Returns the
  /// relative difference of all gradients together, or nullopt if gradients
  /// are not finite, so that there is nothing to compare.
  llvm::FailureOr<std::optional<double>> check(mlir::func::FuncOp model,
                                               double tolerance) const;

private:
  /// The result of the step that contains the gradient of a parameter, or of
  /// some layers of one.
  struct Source {
    Piece piece;
    unsigned result;
    /// If this is not 0, the result is that of an update of rows, which
    /// computes no gradient: the parameter minus `rate` times the gradient.
    /// Otherwise it is the gradient.
    double rate = 0;
  };
  /// The gradient of one parameter of the model: the derivatives of the loss
  /// times the loss scale.
  struct Gradient {
    interp::Tensor value;
    /// The gradient in the disturbed execution.
    interp::Tensor disturbed;
    /// Largest value of the gradient, or of the terms that cancel in it.
    double scale = 0;
  };
  /// The derivative of the loss in a direction by dual numbers and by
  /// gradients, and the difference relative to the size of the terms.
  struct Slopes {
    double byDuals = 0, byGradients = 0, difference = 0;
  };
  using Paths = llvm::ArrayRef<llvm::StringRef>;

  void setScales();
  interp::Tensor directionOf(llvm::StringRef path) const;
  llvm::FailureOr<Slopes> compare(mlir::func::FuncOp model, Paths moved) const;

  const Arguments &arguments;
  std::vector<Source> sources;
  /// The gradients by the path of the parameter in the model.
  llvm::MapVector<llvm::StringRef, Gradient> gradients;
  /// Number of results of the step before `expose`.
  unsigned numResults = 0;
  double lossScale = 1;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_CHECK_GRADIENTCHECK_H
