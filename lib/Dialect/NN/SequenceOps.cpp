//===- SequenceOps.cpp - position-dependent operations ----------*- C++ -*-===//
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
// RopeOp
//===----------------------------------------------------------------------===//

LogicalResult RopeOp::verify() {
  if (rankOf(getInput()) != 3)
    return emitOpError("operand must have rank 3, got ") << rankOf(getInput());
  auto heads = static_cast<int64_t>(getHeads());
  int64_t width = sizeOf(getInput(), 2);
  if (heads < 1 || width % heads != 0 || width / heads % 2 != 0)
    return emitOpError(
               "'heads' must divide the last dimension into heads of an "
               "even size, got ")
           << heads << " and " << width;
  if (!(getBase().convertToDouble() > 0))
    return emitOpError("'base' must be positive, got ")
           << getBase().convertToDouble();
  return success();
}

IterationSpace RopeOp::getIterationSpace() {
  IterationSpace space;
  auto heads = static_cast<int64_t>(getHeads());
  unsigned batch = space.add("batch", sizeOf(getInput(), 0));
  unsigned seq = space.add("seq", sizeOf(getInput(), 1));
  unsigned head = space.add("head", heads);
  unsigned dim = space.add("dim", heads > 0 ? sizeOf(getInput(), 2) / heads : 1,
                           IteratorKind::Opaque);
  TensorIterators data = {{batch}, {seq}, {head, dim}};
  space.operands = {data};
  space.results = {data};
  return space;
}
// Each element needs two products and a sum. The sines and cosines are read
// from a table.
double RopeOp::getFlopsPerPoint() { return 3; }
bool RopeOp::isLinear() { return true; }

LogicalResult RopeOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(),
              RopeOp::create(
                  scope.builder(), getLoc(), scope.gradientType(getInput()),
                  getPathAttr(), gradient, getHeadsAttr(), getBaseAttr(),
                  getInverse() ? UnitAttr() : UnitAttr::get(getContext())));
  return success();
}

//===----------------------------------------------------------------------===//
// CausalMaskOp
//===----------------------------------------------------------------------===//

LogicalResult CausalMaskOp::verify() {
  if (rankOf(getInput()) < 2)
    return emitOpError("operand must have at least 2 dimensions, got ")
           << rankOf(getInput());
  return success();
}

IterationSpace CausalMaskOp::getIterationSpace() {
  IterationSpace space = elementwise(*this, getInput());
  size_t rank = space.iterators.size();
  if (rank >= 2) {
    space.iterators[rank - 2].name = "seq";
    space.iterators[rank - 1].name = "key";
  }
  return space;
}
// With `zero`, the mask multiplies each score by 0 or 1, which is linear.
// Without `zero`, it replaces scores by −∞, which is not linear.
bool CausalMaskOp::isLinear() { return getZero(); }

LogicalResult CausalMaskOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(), CausalMaskOp::create(scope.builder(), getLoc(),
                                               scope.gradientType(getInput()),
                                               getPathAttr(), gradient,
                                               UnitAttr::get(getContext())));
  return success();
}
