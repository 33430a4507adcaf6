//===- FeedForward.cpp - two linears with an activation ---------*- C++ -*-===//
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
  use.set("inner", random.between(4, 12), 4);
  use.set("norm", random.chance(50));
  use.set("bias", random.chance(50));
  use.set("gelu", random.chance(50));
  use.set("dropout", random.chance(20));
  use.set("residual", random.chance(70));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  Tensor x = use.get("norm") ? writer.layerNorm("ln_2", input) : input;
  x = writer.linear("mlp.up", x, use.get("inner"), use.get("bias"));
  x = writer.unary(use.get("gelu") ? "gelu" : "relu", "mlp.act", x);
  if (use.get("dropout"))
    x = writer.dropout("mlp.drop", x);
  x = writer.linear("mlp.down", x, writer.model.width, use.get("bias"));
  return use.get("residual") ? writer.add("residual_2", input, x) : x;
}

void proteus::fuzz::addFeedForward(Registry &registry) {
  registry.addBlock({"feed-forward", Slot::Feed, Form::Rows | Form::Sequence,
                     50, choose, write});
}
