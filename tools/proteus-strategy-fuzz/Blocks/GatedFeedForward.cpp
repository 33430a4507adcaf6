//===- GatedFeedForward.cpp - two linears and a gate ------------*- C++ -*-===//
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
  // 0 is the fused kernel; the others are written out.
  use.set("gate", random.below(4));
  // One linear computes both gate and up and is then split.
  use.set("cut", random.chance(30));
  // The gate is concatenated to the product.
  use.set("joined", random.chance(25));
  use.set("scaled", random.chance(40));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  int64_t inner = use.get("inner");
  Tensor x = writer.rmsNorm("norm_2", input);
  Tensor gate, up;
  if (use.get("cut")) {
    Tensor both = writer.linear("mlp.gate_up", x, 2 * inner, false);
    Sizes shape(input.shape);
    shape.back() = inner;
    gate = writer.fresh(shape);
    up = writer.fresh(shape);
    writer.emit("split", "mlp.cut", both, "", {gate, up}, writer.dims(up, ""));
  } else {
    gate = writer.linear("mlp.gate", x, inner, false);
    up = writer.linear("mlp.up", x, inner, false);
  }
  if (int64_t kind = use.get("gate")) {
    const char *names[] = {"silu", "tanh", "sigmoid"};
    Tensor opened = writer.unary(names[kind - 1], "mlp.gate_act", gate);
    x = writer.binary("mul", "mlp.act", opened, up);
  } else {
    x = writer.binary("swiglu", "mlp.act", gate, up);
  }
  if (use.get("joined")) {
    Sizes shape(x.shape);
    shape.back() = 2 * inner;
    Tensor joined = writer.fresh(shape);
    writer.emit("concat", "mlp.join", {x, gate}, "", joined,
                writer.dims(x, ""));
    x = joined;
  }
  x = writer.linear("mlp.down", x, writer.model.width, false);
  if (use.get("scaled")) {
    // A factor per channel, and one for all channels.
    Tensor factors = writer.parameter("mlp.scale.weight", {writer.model.width});
    x = writer.binary("mul", "mlp.scale", x, factors);
    Tensor half = writer.fresh(x.shape);
    writer.emit("scale", "mlp.half", x, "{factor = 0.5 : f64}", half,
                writer.dims(x, "hidden"));
    x = half;
  }
  return writer.add("residual_2", input, x);
}

void proteus::fuzz::addGatedFeedForward(Registry &registry) {
  registry.addBlock({"gated feed-forward", Slot::Feed,
                     Form::Rows | Form::Sequence, 40, choose, write});
}
