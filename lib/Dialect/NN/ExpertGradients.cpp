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
  // nn.moe_route_grad has no iterator `group`. If nn.moe_route is split over
  // `group`, its gradient is split over `batch`.
  scope.correspond(logits, {{"group", "batch"}});
  scope.add(getLogits(), logits);
  return success();
}

/// Builds the gradients of an nn.moe_dispatch or nn.moe_combine with respect to
/// its input and its gates. Both operations are linear in their input, and each
/// is the transpose of the other. The gradient of the input is therefore
/// computed by `Transpose`: nn.moe_combine for a dispatch, and nn.moe_dispatch
/// for a combination.
template <typename Transpose, typename Op>
static LogicalResult buildRoutingGradients(Op op, GradientScope &scope) {
  Value gradient = scope.gradientOf(op.getResult());
  if (!gradient)
    return success();
  Value gates = op.getGates();
  Value experts = scope.saved(op.getExperts());
  Value slots = scope.saved(op.getSlots());
  if (scope.wants(op.getInput()))
    scope.add(op.getInput(),
              Transpose::create(scope.builder(), op.getLoc(),
                                scope.gradientType(op.getInput()),
                                op.getPathAttr(), gradient, experts, slots,
                                gates ? scope.saved(gates) : Value()));
  if (gates && scope.wants(gates)) {
    // A gate belongs to one token and one of its chosen experts. Its gradient
    // is the dot product of the vector of the token in a tensor `[batch, ..,
    // hidden]` and the vector in the slot of this choice in a tensor `[experts,
    // groups, capacity, hidden]`. For a dispatch, the tensors are the input and
    // `gradient`; for a combination, `gradient` and the input.
    Value tokens = scope.saved(op.getInput()), inSlots = gradient;
    if (isa<MoeCombineOp>(op))
      std::swap(tokens, inSlots);
    scope.add(gates,
              MoeGateGradOp::create(scope.builder(), op.getLoc(),
                                    scope.gradientType(gates), op.getPathAttr(),
                                    tokens, inSlots, experts, slots));
  }
  return success();
}

LogicalResult MoeDispatchOp::buildGradients(GradientScope &scope) {
  return buildRoutingGradients<MoeCombineOp>(*this, scope);
}

LogicalResult MoeCombineOp::buildGradients(GradientScope &scope) {
  return buildRoutingGradients<MoeDispatchOp>(*this, scope);
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
