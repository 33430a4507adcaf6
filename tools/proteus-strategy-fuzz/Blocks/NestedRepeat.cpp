//===- NestedRepeat.cpp - layers of repeated blocks -------------*- C++ -*-===//
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
  use.set("count", random.between(1, 3), 1);
  use.set("bias", random.chance(50));
  use.set("norm", random.chance(50));
  // Values of the outer repeat and of the function that the body reads.
  use.set("outer value", random.chance(30));
  use.set("shared", random.chance(30));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  auto body = [&](const Tensor &carried) {
    Tensor x = use.get("norm") ? writer.layerNorm("ln", carried) : carried;
    x = writer.linear("fc", x, writer.model.width, use.get("bias"));
    if (use.get("shared"))
      x = writer.add(
          "shift", x,
          writer.sharedParameter("blocks.shift.weight", {writer.model.width}));
    x = writer.unary("gelu", "act", x);
    if (use.get("outer value"))
      x = writer.binary("mul", "join", x, input);
    return writer.add("residual", carried, x);
  };
  return writer.repeat("blocks", 0, use.get("count"), input, body);
}

void proteus::fuzz::addNestedRepeat(Registry &registry) {
  registry.addBlock({"nested repeat", Slot::Feed, Form::Rows | Form::Sequence,
                     7, choose, write});
}
