//===- RecurrentOps.cpp - recurrent layers ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

using namespace mlir;
using namespace proteus::nn;

/// Verifies that gates and states have rank 3, and that there are four gates
/// for each hidden unit. The iteration space relies on both.
static LogicalResult verifyGates(Operation *op, Value gates, Value states) {
  if (rankOf(gates) != 3 || rankOf(states) != 3)
    return op->emitOpError("gates and states must have rank 3, got ")
           << rankOf(gates) << " and " << rankOf(states);
  if (sizeOf(gates, 2) != 4 * sizeOf(states, 2))
    return op->emitOpError("there are four gates per hidden unit, got ")
           << sizeOf(gates, 2) << " gates and " << sizeOf(states, 2)
           << " units";
  return success();
}

LogicalResult LstmOp::verify() {
  return verifyGates(*this, getInput(), getResult());
}
LogicalResult LstmGradOp::verify() {
  return verifyGates(*this, getResult(), getGradient());
}
LogicalResult LstmWgradOp::verify() {
  return verifyGates(*this, getGradient(), getStates());
}

namespace {
/// The iteration space that nn.lstm, nn.lstm_grad and nn.lstm_wgrad share.
struct LstmSpace {
  IterationSpace space;
  unsigned batch, time, gate, hidden, in;

  LstmSpace(Value states, IteratorKind batchKind) {
    batch = space.add("batch", sizeOf(states, 0), batchKind);
    time = space.add("time", sizeOf(states, 1), IteratorKind::Opaque);
    gate = space.add("gate", 4, IteratorKind::Opaque);
    hidden = space.add("hidden", sizeOf(states, 2), IteratorKind::Opaque);
    in = space.add("in", sizeOf(states, 2), IteratorKind::Opaque);
  }
  TensorIterators gates() const { return {{batch}, {time}, {gate, hidden}}; }
  TensorIterators states() const { return {{batch}, {time}, {hidden}}; }
  TensorIterators statesRead() const { return {{batch}, {time}, {in}}; }
  TensorIterators weight() const { return {{gate, hidden}, {in}}; }
};
} // namespace

IterationSpace LstmOp::getIterationSpace() {
  LstmSpace lstm(getResult(), IteratorKind::Parallel);
  lstm.space.operands = {lstm.gates(), lstm.weight()};
  if (getBias())
    lstm.space.operands.push_back({{lstm.gate, lstm.hidden}});
  lstm.space.results = {lstm.states(), lstm.gates(), lstm.states()};
  return lstm.space;
}
double LstmOp::getFlopsPerPoint() { return 2; }
KernelClass LstmOp::getKernelClass() { return KernelClass::Matrix; }
std::optional<StringRef> LstmOp::getSequentialIterator() { return "time"; }

IterationSpace LstmGradOp::getIterationSpace() {
  LstmSpace lstm(getGradient(), IteratorKind::Parallel);
  lstm.space.operands = {lstm.states(), lstm.weight(), lstm.gates(),
                         lstm.states()};
  lstm.space.results = {lstm.gates()};
  return lstm.space;
}
double LstmGradOp::getFlopsPerPoint() { return 2; }
KernelClass LstmGradOp::getKernelClass() { return KernelClass::Matrix; }
std::optional<StringRef> LstmGradOp::getSequentialIterator() { return "time"; }

IterationSpace LstmWgradOp::getIterationSpace() {
  LstmSpace lstm(getStates(), IteratorKind::Sum);
  lstm.space.operands = {lstm.gates(), lstm.statesRead()};
  lstm.space.results = {lstm.weight()};
  return lstm.space;
}
double LstmWgradOp::getFlopsPerPoint() { return 2; }
KernelClass LstmWgradOp::getKernelClass() { return KernelClass::Matrix; }

LogicalResult LstmOp::buildGradients(GradientScope &scope) {
  if (scope.gradientOf(getGates()) || scope.gradientOf(getCells()))
    return emitOpError("gates and cells are for the gradient only; their own "
                       "gradients are not defined");
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  OpBuilder &builder = scope.builder();
  // `gates` is the gradient of the gates, which is also the gradient of the
  // input. The gradients of weight and bias are computed from `gates`.
  Value gates = LstmGradOp::create(
      builder, getLoc(), scope.gradientType(getInput()), getPathAttr(),
      gradient, scope.saved(getWeight()), scope.saved(getGates()),
      scope.saved(getCells()), getReverseAttr());
  if (scope.wants(getInput()))
    scope.add(getInput(), gates);
  if (scope.wants(getWeight()))
    scope.add(getWeight(),
              LstmWgradOp::create(builder, getLoc(),
                                  scope.gradientType(getWeight()),
                                  getPathAttr(), gates,
                                  scope.saved(getResult()), getReverseAttr()));
  if (getBias() && scope.wants(getBias()))
    scope.add(getBias(),
              sumLeading(scope, getLoc(), getPathAttr(), gates, getBias()));
  return success();
}
