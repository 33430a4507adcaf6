//===- GraphExperts.cpp - mixtures of experts in a graph --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Models/GraphBuilder.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

GraphBuilder::Routing GraphBuilder::route(StringRef path, Value logits,
                                          int64_t topk, int64_t groups,
                                          double capacityFactor) {
  SmallVector<int64_t> shape(shapeOf(logits));
  int64_t numExperts = shape.back();
  shape.back() = topk;
  auto numbers = RankedTensorType::get(shape, builder.getI32Type());
  auto route = create<nn::MoeRouteOp>(
      TypeRange{tensor(shape), numbers, numbers}, pathOf(path), logits, groups,
      llvm::APFloat(capacityFactor), /*normalize=*/true);
  return {route.getGates(), route.getExperts(), route.getSlots(), numExperts,
          groups,           route.getCapacity()};
}

Value GraphBuilder::dispatch(StringRef path, Value tokens,
                             const Routing &routing) {
  RankedTensorType slots = tensor({routing.numExperts, routing.groups,
                                   routing.capacity, shapeOf(tokens).back()});
  return create<nn::MoeDispatchOp>(slots, pathOf(path), tokens, routing.experts,
                                   routing.slots, /*gates=*/Value());
}

Value GraphBuilder::expertLinear(StringRef path, Value slots,
                                 int64_t outFeatures) {
  SmallVector<int64_t> shape(shapeOf(slots));
  Value weight = parameter((path + ".weight").str(),
                           {shape.front(), outFeatures, shape.back()});
  shape.back() = outFeatures;
  return inMatrixType(create<nn::ExpertLinearOp>(
      tensor(shape), pathOf(path), slots, weight, /*bias=*/Value()));
}

Value GraphBuilder::combine(StringRef path, Value slots, Value tokens,
                            const Routing &routing) {
  return create<nn::MoeCombineOp>(tokens.getType(), pathOf(path), slots,
                                  routing.experts, routing.slots,
                                  routing.gates);
}
