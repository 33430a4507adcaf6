//===- GradientScaling.cpp - gradient norm and loss scale -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/NN.h"

using namespace mlir;
using namespace proteus::nn;

/// Returns the space of an operation that reduces all dimensions of `input` to
/// a scalar, with iterators d0, d1, ... of kind `kind`.
static IterationSpace reduceAll(Value input, IteratorKind kind) {
  IterationSpace space;
  TensorIterators dims;
  for (auto [dim, size] :
       llvm::enumerate(cast<RankedTensorType>(input.getType()).getShape()))
    dims.push_back({space.add("d" + std::to_string(dim), size, kind)});
  space.operands = {dims};
  space.results = {TensorIterators()};
  return space;
}

/// Returns a space without iterators. Nothing can then be split: each device
/// reads the whole operands and computes the scalar result.
static IterationSpace scalars(Operation *op) {
  IterationSpace space;
  for (Value operand : op->getOperands())
    space.operands.emplace_back(
        cast<RankedTensorType>(operand.getType()).getRank());
  space.results = {TensorIterators()};
  return space;
}

IterationSpace SquareSumOp::getIterationSpace() {
  return reduceAll(getInput(), IteratorKind::Sum);
}
double SquareSumOp::getFlopsPerPoint() { return 2; }
bool SquareSumOp::isObserver() { return true; }

IterationSpace OverflowOp::getIterationSpace() {
  return reduceAll(getInput(), IteratorKind::Max);
}
double OverflowOp::getFlopsPerPoint() { return 1; }
bool OverflowOp::isObserver() { return true; }

IterationSpace TotalOp::getIterationSpace() { return scalars(*this); }
double TotalOp::getFlopsPerPoint() {
  return static_cast<double>(getInputs().size());
}

IterationSpace UpdateFactorOp::getIterationSpace() {
  IterationSpace space;
  space.operands.resize(getInputs().size());
  space.results = {TensorIterators()};
  return space;
}
double UpdateFactorOp::getFlopsPerPoint() { return 4; }

LogicalResult UpdateFactorOp::verify() {
  size_t expected = getClip().has_value() + getLossScale().has_value();
  if (expected == 0)
    return emitOpError("needs 'clip' or 'loss_scale'");
  if (getInputs().size() != expected)
    return emitOpError("needs one operand for each of 'clip' and "
                       "'loss_scale', ")
           << expected << " in all, got " << getInputs().size();
  for (auto value : {getClip(), getLossScale()})
    if (value && !(value->convertToDouble() > 0))
      return emitOpError("'clip' and 'loss_scale' must be positive, got ")
             << value->convertToDouble();
  return success();
}
