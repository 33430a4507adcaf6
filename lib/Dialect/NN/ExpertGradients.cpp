//===- ExpertGradients.cpp - gradients of mixture of experts ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/Gradient.h"
#include "Proteus/Dialect/NN/NN.h"

using namespace mlir;
using namespace proteus::nn;

LogicalResult MoeRouteOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getGates());
  if (!gradient || !scope.wants(getLogits()))
    return success();
  auto logits = MoeRouteGradOp::create(
      scope.builder(), getLoc(), scope.gradientType(getLogits()), getPathAttr(),
      gradient, scope.saved(getLogits()), scope.saved(getExperts()),
      getNormalizeAttr());
  // A split of the groups is one of the batch.
  scope.correspond(logits, {{"group", "batch"}});
  scope.add(getLogits(), logits);
  return success();
}

// A dispatch is linear in its tokens, and a combination without gates is its
// transpose. With gates it is bilinear.
LogicalResult MoeDispatchOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  Value gates = getGates();
  Value experts = scope.saved(getExperts()), slots = scope.saved(getSlots());
  if (scope.wants(getInput()))
    scope.add(getInput(),
              MoeCombineOp::create(scope.builder(), getLoc(),
                                   scope.gradientType(getInput()),
                                   getPathAttr(), gradient, experts, slots,
                                   gates ? scope.saved(gates) : Value()));
  if (gates && scope.wants(gates))
    scope.add(gates, MoeGateGradOp::create(
                         scope.builder(), getLoc(), scope.gradientType(gates),
                         getPathAttr(), scope.saved(getInput()), gradient,
                         experts, slots));
  return success();
}

LogicalResult MoeCombineOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  Value gates = getGates();
  Value experts = scope.saved(getExperts()), slots = scope.saved(getSlots());
  if (scope.wants(getInput()))
    scope.add(getInput(),
              MoeDispatchOp::create(scope.builder(), getLoc(),
                                    scope.gradientType(getInput()),
                                    getPathAttr(), gradient, experts, slots,
                                    gates ? scope.saved(gates) : Value()));
  if (gates && scope.wants(gates))
    scope.add(gates, MoeGateGradOp::create(
                         scope.builder(), getLoc(), scope.gradientType(gates),
                         getPathAttr(), gradient, scope.saved(getInput()),
                         experts, slots));
  return success();
}

LogicalResult ExpertLinearOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  OpBuilder &builder = scope.builder();
  if (scope.wants(getInput()))
    scope.add(getInput(),
              ExpertLinearDgradOp::create(
                  builder, getLoc(), scope.gradientType(getInput()),
                  getPathAttr(), gradient, scope.saved(getWeight())));
  if (scope.wants(getWeight()))
    scope.add(getWeight(),
              ExpertLinearWgradOp::create(
                  builder, getLoc(), scope.gradientType(getWeight()),
                  getPathAttr(), gradient, scope.saved(getInput())));
  if (getBias() && scope.wants(getBias()))
    scope.add(getBias(), ReduceSumOp::create(
                             builder, getLoc(), scope.gradientType(getBias()),
                             getPathAttr(), gradient, ArrayRef<int64_t>{0, 3}));
  return success();
}
