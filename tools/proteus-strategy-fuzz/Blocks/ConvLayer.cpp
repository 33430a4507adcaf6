//===- ConvLayer.cpp - a convolution and an activation ----------*- C++ -*-===//
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
  use.set("gelu", random.chance(50));
  use.set("pool", random.chance(40));
  use.set("maximum", random.chance(50));
  use.set("residual", random.chance(50));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  Tensor x = writer.conv("conv", input, writer.model.width, use.get("bias"));
  x = writer.unary(use.get("gelu") ? "gelu" : "relu", "act", x);
  if (use.get("pool"))
    x = writer.pool("pool", x, 3, 1, 1, use.get("maximum"));
  return use.get("residual") ? writer.add("residual", input, x) : x;
}

void proteus::fuzz::addConvLayer(Registry &registry) {
  registry.addBlock(
      {"convolution", Slot::Feed, only(Form::Image), 50, choose, write});
}
