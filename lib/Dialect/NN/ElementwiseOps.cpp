//===- ElementwiseOps.cpp - activations and products ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

using namespace mlir;
using namespace proteus::nn;

//===----------------------------------------------------------------------===//
// Iteration spaces
//===----------------------------------------------------------------------===//

IterationSpace SiluOp::getIterationSpace() {
  return elementwise(*this, getInput());
}
double SiluOp::getFlopsPerPoint() { return 5; }
IterationSpace SiluGradOp::getIterationSpace() {
  return elementwise(*this, getGradient());
}
double SiluGradOp::getFlopsPerPoint() { return 9; }

IterationSpace TanhOp::getIterationSpace() {
  return elementwise(*this, getInput());
}
double TanhOp::getFlopsPerPoint() { return 6; }
IterationSpace TanhGradOp::getIterationSpace() {
  return elementwise(*this, getGradient());
}
double TanhGradOp::getFlopsPerPoint() { return 3; }

IterationSpace SigmoidOp::getIterationSpace() {
  return elementwise(*this, getInput());
}
double SigmoidOp::getFlopsPerPoint() { return 4; }
IterationSpace SigmoidGradOp::getIterationSpace() {
  return elementwise(*this, getGradient());
}
double SigmoidGradOp::getFlopsPerPoint() { return 3; }

IterationSpace MulOp::getIterationSpace() {
  return elementwise(*this, getLhs());
}
double MulOp::getFlopsPerPoint() { return 1; }
LogicalResult MulOp::verify() {
  return verifyRepeatedOperand(*this, getLhs(), getRhs());
}

IterationSpace ScaleOp::getIterationSpace() {
  return elementwise(*this, getInput());
}
double ScaleOp::getFlopsPerPoint() { return 1; }
bool ScaleOp::isLinear() { return true; }

IterationSpace SwigluOp::getIterationSpace() {
  return elementwise(*this, getGate());
}
double SwigluOp::getFlopsPerPoint() { return 6; }
IterationSpace SwigluGradOp::getIterationSpace() {
  return elementwise(*this, getGradient());
}
double SwigluGradOp::getFlopsPerPoint() { return 15; }

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Builds the gradient of an activation function. The gradient operation reads
/// `kept`, which is the operand or the result of the forward operation.
template <typename GradOp, typename OpTy>
static LogicalResult activationGradient(OpTy op, GradientScope &scope,
                                        Value kept) {
  Value gradient = scope.gradientOf(op.getResult());
  if (gradient && scope.wants(op.getInput()))
    scope.add(op.getInput(),
              GradOp::create(scope.builder(), op.getLoc(),
                             scope.gradientType(op.getInput()),
                             op.getPathAttr(), gradient, scope.saved(kept)));
  return success();
}

LogicalResult SiluOp::buildGradients(GradientScope &scope) {
  return activationGradient<SiluGradOp>(*this, scope, getInput());
}
LogicalResult TanhOp::buildGradients(GradientScope &scope) {
  return activationGradient<TanhGradOp>(*this, scope, getResult());
}
LogicalResult SigmoidOp::buildGradients(GradientScope &scope) {
  return activationGradient<SigmoidGradOp>(*this, scope, getResult());
}

LogicalResult MulOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  OpBuilder &builder = scope.builder();
  if (scope.wants(getLhs()))
    scope.add(getLhs(),
              MulOp::create(builder, getLoc(), scope.gradientType(getLhs()),
                            getPathAttr(), gradient, scope.saved(getRhs())));
  if (!scope.wants(getRhs()))
    return success();
  if (rankOf(getRhs()) == rankOf(getLhs())) {
    scope.add(getRhs(),
              MulOp::create(builder, getLoc(), scope.gradientType(getRhs()),
                            getPathAttr(), gradient, scope.saved(getLhs())));
    return success();
  }
  Value product = MulOp::create(builder, getLoc(), gradient.getType(),
                                getPathAttr(), gradient, scope.saved(getLhs()));
  scope.add(getRhs(),
            sumLeading(scope, getLoc(), getPathAttr(), product, getRhs()));
  return success();
}

LogicalResult ScaleOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(),
              ScaleOp::create(scope.builder(), getLoc(),
                              scope.gradientType(getInput()), getPathAttr(),
                              gradient, getFactorAttr()));
  return success();
}

LogicalResult SwigluOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  auto grad = SwigluGradOp::create(
      scope.builder(), getLoc(),
      TypeRange{scope.gradientType(getGate()), scope.gradientType(getUp())},
      getPathAttr(), gradient, scope.saved(getGate()), scope.saved(getUp()));
  for (auto [operand, result] : llvm::zip(getOperands(), grad.getResults()))
    if (scope.wants(operand))
      scope.add(operand, result);
  return success();
}
