//===- PerLayer.cpp - work on parameters, layer by layer --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PerLayer.h"
#include "Proteus/Transforms/Common/RepeatStacks.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;

/// Returns the repeat that reads `parameter` slice by slice, and the number of
/// its operand. Returns null if there is no such repeat.
static std::pair<RepeatOp, unsigned> slicingRepeat(Value parameter) {
  for (OpOperand &use : parameter.getUses())
    if (auto repeat = dyn_cast<RepeatOp>(use.getOwner()))
      if (use.getOperandNumber() >= repeat.getNumCarried())
        return {repeat, use.getOperandNumber()};
  return {};
}

Operation *proteus::buildPerLayer(OpBuilder &builder, Value parameter,
                                  StringRef path, ValueRange operands,
                                  BuildLayer build) {
  auto [slicer, number] = slicingRepeat(parameter);
  if (!slicer)
    return build(builder, path, operands);
  // Paths inside the repeat are relative to the layer, so `layers[*].` or
  // `layers[0:12].` is removed from the start.
  StringRef relative = path;
  if (relative.consume_front((slicer.getPath() + "[").str()))
    relative = relative.split("].").second;
  Region region;
  Block &body = region.emplaceBlock();
  for (Value stack : operands) {
    auto type = cast<RankedTensorType>(stack.getType());
    body.addArgument(RankedTensorType::get(type.getShape().drop_front(),
                                           type.getElementType()),
                     stack.getLoc());
  }
  // The block has no parent yet, so the builder cannot get the context from it.
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToEnd(&body);
  Operation *inner = buildPerLayer(inside, slicer.getBody().getArgument(number),
                                   relative.empty() ? path : relative,
                                   body.getArguments(), build);
  YieldOp::create(inside, parameter.getLoc(), inner->getResults());
  int64_t count = slicer.getCount();
  SmallVector<Type> types;
  for (Type type : inner->getResultTypes())
    types.push_back(stackOf(type, count));
  auto repeat = RepeatOp::create(builder, parameter.getLoc(), slicer.getPath(),
                                 slicer.getFirst(), count, /*reverse=*/false,
                                 ValueRange(), operands, types);
  repeat.getBody().takeBody(region);
  return repeat;
}
