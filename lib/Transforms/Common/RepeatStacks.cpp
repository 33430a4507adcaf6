//===- RepeatStacks.cpp - stacked results of repeats ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Common/RepeatStacks.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;

Type proteus::stackOf(Type type, int64_t size) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.insert(shape.begin(), size);
  return RankedTensorType::get(shape, tensor.getElementType());
}

RepeatOp proteus::stackAsWell(RepeatOp repeat, ArrayRef<Value> values) {
  SmallVector<Type> types(repeat.getResultTypes());
  for (Value value : values)
    types.push_back(stackOf(value.getType(), repeat.getCount()));
  OpBuilder builder(repeat);
  auto extended = RepeatOp::create(builder, repeat.getLoc(), repeat.getPath(),
                                   repeat.getFirst(), repeat.getCount(),
                                   repeat.getReverse(), repeat.getCarried(),
                                   repeat.getSliced(), types);
  extended->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
  extended.getBody().takeBody(repeat.getBody());
  Operation *yield = extended.getYield();
  SmallVector<Value> yielded(yield->getOperands());
  llvm::append_range(yielded, values);
  yield->setOperands(yielded);
  repeat->replaceAllUsesWith(
      extended->getResults().take_front(repeat->getNumResults()));
  return extended;
}
