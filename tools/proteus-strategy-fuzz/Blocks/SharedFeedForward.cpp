//===- SharedFeedForward.cpp - one weight for all layers --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

using namespace proteus::fuzz;

static void choose(Random &random, const Model &, BlockUse &use) {
  use.set("bias", random.chance(50));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  int64_t width = writer.model.width;
  std::vector<Tensor> operands{
      input, writer.sharedParameter("shared.weight", {width, width})};
  if (use.get("bias"))
    operands.push_back(writer.sharedParameter("shared.bias", {width}));
  Tensor x = writer.fresh(input.shape);
  Iterators iterators = writer.dims(input, "out");
  iterators.push_back({"in", width});
  writer.emit("linear", "shared", operands, "", x, iterators, {width, width});
  x = writer.unary("gelu", "act", x);
  return writer.add("residual", input, x);
}

void proteus::fuzz::addSharedFeedForward(Registry &registry) {
  registry.addBlock({"shared feed-forward", Slot::Feed,
                     Form::Rows | Form::Sequence, 7, choose, write});
}
