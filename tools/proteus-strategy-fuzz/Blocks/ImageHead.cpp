//===- ImageHead.cpp - pooling, flattening and a linear ---------*- C++ -*-===//
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
  use.set("maximum", random.chance(50));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  const Model &model = writer.model;
  Tensor x = writer.pool("last_pool", input, 2, 2, 0, use.get("maximum"));
  Tensor flat = writer.fresh({model.batch, model.width * 4});
  writer.emit("reshape", "flatten", x, "", flat, {});
  return writer.linear("head", flat, model.classes, use.get("bias"));
}

void proteus::fuzz::addImageHead(Registry &registry) {
  registry.addBlock(
      {"image head", Slot::Head, only(Form::Image), 50, choose, write});
}
