//===- NNGradients.cpp - gradients of nn operations -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

using namespace mlir;
using namespace proteus::nn;

LogicalResult LinearOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  OpBuilder &builder = scope.builder();
  if (scope.wants(getInput()))
    scope.add(getInput(), LinearDgradOp::create(builder, getLoc(),
                                                scope.gradientType(getInput()),
                                                getPathAttr(), gradient,
                                                scope.saved(getWeight())));
  if (scope.wants(getWeight()))
    scope.add(getWeight(),
              LinearWgradOp::create(
                  builder, getLoc(), scope.gradientType(getWeight()),
                  getPathAttr(), gradient, scope.saved(getInput())));
  if (getBias() && scope.wants(getBias()))
    scope.add(getBias(),
              sumLeading(scope, getLoc(), getPathAttr(), gradient, getBias()));
  return success();
}

LogicalResult MatmulOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  OpBuilder &builder = scope.builder();
  IterationSpace space = getIterationSpace();
  // Adds the matrix product of `a` and `b` to the gradient of `wanted`. `m`,
  // `n` and `k` are the names of the forward iterators that correspond to the
  // iterators m, n and k of the new product. Iterators of leading dimensions
  // keep their names.
  auto product = [&](Value wanted, Value a, Value b, bool ta, bool tb,
                     StringRef m, StringRef n, StringRef k) {
    auto result =
        MatmulOp::create(builder, getLoc(), scope.gradientType(wanted),
                         getPathAttr(), a, b, ta, tb);
    SmallVector<std::pair<StringRef, StringRef>> names = {
        {m, "m"}, {n, "n"}, {k, "k"}};
    for (const Iterator &leading : ArrayRef(space.iterators).drop_back(3))
      names.push_back({leading.name, leading.name});
    scope.correspond(result, names);
    scope.add(wanted, result);
  };
  // If C = A B, then dA = dC Bᵀ and dB = Aᵀ dC. If an operand of the forward
  // operation is stored transposed, its gradient is, too: the factors of its
  // product are then exchanged.
  if (scope.wants(getLhs())) {
    Value rhs = scope.saved(getRhs());
    if (getTransposeA())
      product(getLhs(), rhs, gradient, getTransposeB(), true, "k", "m", "n");
    else
      product(getLhs(), gradient, rhs, false, !getTransposeB(), "m", "k", "n");
  }
  if (scope.wants(getRhs())) {
    Value lhs = scope.saved(getLhs());
    if (getTransposeB())
      product(getRhs(), gradient, lhs, true, getTransposeA(), "n", "k", "m");
    else
      product(getRhs(), lhs, gradient, !getTransposeA(), false, "k", "n", "m");
  }
  return success();
}

LogicalResult AttentionOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (scope.gradientOf(getLogsumexp()))
    return emitOpError("the log-sum-exp is for the gradient only; its own "
                       "gradient is not defined");
  if (!gradient)
    return success();
  auto grad = AttentionGradOp::create(
      scope.builder(), getLoc(),
      TypeRange{scope.gradientType(getQuery()), scope.gradientType(getKey()),
                scope.gradientType(getValue())},
      getPathAttr(), gradient, scope.saved(getQuery()), scope.saved(getKey()),
      scope.saved(getValue()), scope.saved(getResult()),
      scope.saved(getLogsumexp()), getHeadsAttr(), getKvHeadsAttr(),
      getCausalAttr());
  for (auto [operand, result] : llvm::zip(getOperands(), grad.getResults()))
    if (scope.wants(operand))
      scope.add(operand, result);
  return success();
}

LogicalResult EmbeddingOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getTable()))
    scope.add(getTable(),
              EmbeddingGradOp::create(
                  scope.builder(), getLoc(), scope.gradientType(getTable()),
                  getPathAttr(), gradient, scope.saved(getIndices())));
  return success();
}

LogicalResult LayerNormOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  auto grad = LayerNormGradOp::create(
      scope.builder(), getLoc(),
      TypeRange{scope.gradientType(getInput()), scope.gradientType(getScale()),
                scope.gradientType(getShift())},
      getPathAttr(), gradient, scope.saved(getInput()),
      scope.saved(getScale()));
  for (auto [operand, result] : llvm::zip(getOperands(), grad.getResults()))
    if (scope.wants(operand))
      scope.add(operand, result);
  return success();
}

LogicalResult ReluOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(),
              ReluGradOp::create(scope.builder(), getLoc(),
                                 scope.gradientType(getInput()), getPathAttr(),
                                 gradient, scope.saved(getResult())));
  return success();
}

LogicalResult GeluOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(),
              GeluGradOp::create(scope.builder(), getLoc(),
                                 scope.gradientType(getInput()), getPathAttr(),
                                 gradient, scope.saved(getInput())));
  return success();
}

LogicalResult AddOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  if (scope.wants(getLhs()))
    scope.add(getLhs(), gradient);
  if (scope.wants(getRhs())) {
    bool repeated = rankOf(getRhs()) < rankOf(getLhs());
    scope.add(getRhs(), repeated ? sumLeading(scope, getLoc(), getPathAttr(),
                                              gradient, getRhs())
                                 : gradient);
  }
  return success();
}

LogicalResult DropoutOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(), DropoutGradOp::create(scope.builder(), getLoc(),
                                                scope.gradientType(getInput()),
                                                getPathAttr(), gradient,
                                                scope.saved(getMask()),
                                                getProbabilityAttr()));
  return success();
}

LogicalResult ReshapeOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(), ReshapeOp::create(scope.builder(), getLoc(),
                                            scope.gradientType(getInput()),
                                            getPathAttr(), gradient));
  return success();
}

LogicalResult CastOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(), CastOp::create(scope.builder(), getLoc(),
                                         scope.gradientType(getInput()),
                                         getPathAttr(), gradient));
  return success();
}

LogicalResult KeepOp::buildGradients(GradientScope &scope) {
  // The gradient is passed on without an nn.keep, because its layout does not
  // depend on the layout in which the value is kept.
  if (Value gradient = scope.gradientOf(getResult()))
    scope.add(getInput(), gradient);
  return success();
}

LogicalResult CrossEntropyOp::buildGradients(GradientScope &scope) {
  if (scope.gradientOf(getLogsumexp()))
    return emitOpError("the log-sum-exp is for the gradient only; its own "
                       "gradient is not defined");
  Value gradient = scope.gradientOf(getLoss());
  if (gradient && scope.wants(getLogits()))
    scope.add(getLogits(),
              CrossEntropyGradOp::create(
                  scope.builder(), getLoc(), scope.gradientType(getLogits()),
                  getPathAttr(), gradient, scope.saved(getLogits()),
                  scope.saved(getLabels()), scope.saved(getLogsumexp())));
  return success();
}

LogicalResult MSELossOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getLoss());
  if (!gradient)
    return success();
  auto of = [&](Value wanted, Value other) {
    if (scope.wants(wanted))
      scope.add(wanted, MSELossGradOp::create(
                            scope.builder(), getLoc(),
                            scope.gradientType(wanted), getPathAttr(), gradient,
                            scope.saved(wanted), scope.saved(other)));
  };
  // Prediction and target have the same gradient except for the sign.
  // Exchanging the two operands of nn.mse_loss_grad changes the sign.
  of(getPrediction(), getTarget());
  of(getTarget(), getPrediction());
  return success();
}

SmallVector<Value> CrossEntropyOp::decompose(OpBuilder &builder) {
  auto rows = cast<RankedTensorType>(getLogsumexp().getType());
  auto max =
      RowMaxOp::create(builder, getLoc(), rows, getPathAttr(), getLogits());
  auto sums = RowExpSumOp::create(builder, getLoc(), TypeRange{rows, rows},
                                  getPathAttr(), getLogits(), getLabels(),
                                  max.getResult());
  auto loss = RowLossOp::create(
      builder, getLoc(), TypeRange{getLoss().getType(), rows}, getPathAttr(),
      max.getResult(), sums.getSum(), sums.getPicked());
  return {loss.getLoss(), loss.getLogsumexp()};
}
