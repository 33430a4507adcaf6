//===- OpHelpers.cpp - helpers for nn operations ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

using namespace mlir;
using namespace proteus::nn;

RankedTensorType proteus::nn::tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

int64_t proteus::nn::sizeOf(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  return dim >= 0 && dim < type.getRank() ? type.getDimSize(dim) : 1;
}

int64_t proteus::nn::rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

TensorIterators proteus::nn::indexedBy(ArrayRef<unsigned> iterators) {
  TensorIterators dims;
  for (unsigned iterator : iterators)
    dims.push_back({iterator});
  return dims;
}

SmallVector<unsigned> proteus::nn::addLeading(IterationSpace &space,
                                              Value value, int64_t count,
                                              IteratorKind kind) {
  SmallVector<unsigned> added;
  int64_t rank = rankOf(value);
  for (int64_t dim = 0; dim < count; ++dim) {
    std::string name =
        dataIteratorName(dim, std::max<int64_t>(rank, count + 1));
    added.push_back(space.add(name, sizeOf(value, dim), kind));
  }
  return added;
}

SmallVector<unsigned> proteus::nn::appended(SmallVector<unsigned> list,
                                            unsigned last) {
  list.push_back(last);
  return list;
}

IterationSpace proteus::nn::elementwise(Operation *op, Value like) {
  IterationSpace space;
  int64_t rank = rankOf(like);
  SmallVector<unsigned> all;
  for (int64_t dim = 0; dim < rank; ++dim)
    all.push_back(space.add(dataIteratorName(dim, rank), sizeOf(like, dim)));
  auto trailing = [&](Value value) {
    int64_t own = std::min(rankOf(value), rank);
    return indexedBy(ArrayRef<unsigned>(all).take_back(own));
  };
  for (Value operand : op->getOperands())
    space.operands.push_back(trailing(operand));
  for (Value result : op->getResults())
    space.results.push_back(trailing(result));
  return space;
}

RowSpace::RowSpace(Value data, IteratorKind leadingKind,
                   IteratorKind vocabKind) {
  int64_t rank = rankOf(data);
  leading = addLeading(space, data, rank - 1, leadingKind);
  vocab = space.add("vocab", sizeOf(data, rank - 1), vocabKind);
}

Value proteus::nn::sumLeading(GradientScope &scope, Location loc,
                              StringAttr path, Value gradient, Value operand) {
  SmallVector<int64_t> keep;
  for (int64_t dim = rankOf(gradient) - rankOf(operand); dim < rankOf(gradient);
       ++dim)
    keep.push_back(dim);
  return ReduceSumOp::create(scope.builder(), loc, scope.gradientType(operand),
                             path, gradient, keep);
}

LogicalResult proteus::nn::verifyRepeatedOperand(Operation *op, Value lhs,
                                                 Value rhs) {
  if (rankOf(rhs) > rankOf(lhs))
    return op->emitOpError(
               "the right operand may lack dimensions of the left, not "
               "the other way round; got ranks ")
           << rankOf(lhs) << " and " << rankOf(rhs);
  return success();
}
