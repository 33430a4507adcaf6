//===- SoftmaxOps.cpp - softmax and its decomposition -----------*- C++ -*-===//
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

LogicalResult SoftmaxOp::verify() {
  if (rankOf(getInput()) < 1)
    return emitOpError("operand must have at least 1 dimension");
  return success();
}

IterationSpace SoftmaxOp::getIterationSpace() {
  RowSpace row(getInput(), IteratorKind::Parallel, IteratorKind::LogSumExp);
  row.space.operands = {row.logits()};
  row.space.results = {row.logits()};
  return row.space;
}
double SoftmaxOp::getFlopsPerPoint() { return 5; }

IterationSpace SoftmaxGradOp::getIterationSpace() {
  RowSpace row(getOutput(), IteratorKind::Parallel, IteratorKind::LogSumExp);
  row.space.operands = {row.logits(), row.logits()};
  row.space.results = {row.logits()};
  return row.space;
}
double SoftmaxGradOp::getFlopsPerPoint() { return 4; }

IterationSpace SoftmaxSumOp::getIterationSpace() {
  RowSpace row(getInput(), IteratorKind::Parallel, IteratorKind::Sum);
  row.space.operands = {row.logits(), row.rows()};
  row.space.results = {row.rows()};
  return row.space;
}
double SoftmaxSumOp::getFlopsPerPoint() { return 3; }

IterationSpace SoftmaxNormalizeOp::getIterationSpace() {
  RowSpace row(getInput(), IteratorKind::Parallel, IteratorKind::Parallel);
  row.space.operands = {row.logits(), row.rows(), row.rows()};
  row.space.results = {row.logits()};
  return row.space;
}
double SoftmaxNormalizeOp::getFlopsPerPoint() { return 3; }

IterationSpace SoftmaxDotOp::getIterationSpace() {
  RowSpace row(getOutput(), IteratorKind::Parallel, IteratorKind::Sum);
  row.space.operands = {row.logits(), row.logits()};
  row.space.results = {row.rows()};
  return row.space;
}
double SoftmaxDotOp::getFlopsPerPoint() { return 2; }

IterationSpace SoftmaxInputGradOp::getIterationSpace() {
  RowSpace row(getOutput(), IteratorKind::Parallel, IteratorKind::Parallel);
  row.space.operands = {row.logits(), row.logits(), row.rows()};
  row.space.results = {row.logits()};
  return row.space;
}
double SoftmaxInputGradOp::getFlopsPerPoint() { return 2; }

//===----------------------------------------------------------------------===//
// Gradient and decomposition
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(), SoftmaxGradOp::create(scope.builder(), getLoc(),
                                                scope.gradientType(getInput()),
                                                getPathAttr(), gradient,
                                                scope.saved(getResult())));
  return success();
}

/// Returns the type of a tensor with one number per row of `data`. Its element
/// type is that of `data`, but at least 32 bits wide: f32 replaces a narrower
/// type.
static RankedTensorType rowType(Value data) {
  RankedTensorType type = tensorType(data);
  Type element = type.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(type.getContext());
  return RankedTensorType::get(type.getShape().drop_back(), element);
}

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  RankedTensorType rows = rowType(getInput());
  Value max =
      RowMaxOp::create(builder, getLoc(), rows, getPathAttr(), getInput());
  Value sum = SoftmaxSumOp::create(builder, getLoc(), rows, getPathAttr(),
                                   getInput(), max);
  return {SoftmaxNormalizeOp::create(builder, getLoc(), getResult().getType(),
                                     getPathAttr(), getInput(), max, sum)};
}

SmallVector<Value> SoftmaxGradOp::decompose(OpBuilder &builder) {
  Value dot = SoftmaxDotOp::create(builder, getLoc(), rowType(getOutput()),
                                   getPathAttr(), getGradient(), getOutput());
  return {SoftmaxInputGradOp::create(builder, getLoc(), getResult().getType(),
                                     getPathAttr(), getGradient(), getOutput(),
                                     dot)};
}
