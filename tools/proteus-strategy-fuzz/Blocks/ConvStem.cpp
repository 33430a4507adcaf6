//===- ConvStem.cpp - a first convolution -----------------------*- C++ -*-===//
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

static Tensor write(ModelWriter &writer, const BlockUse &use, const Tensor &) {
  const Model &model = writer.model;
  Tensor x =
      writer.argument("x", {model.batch, 2, 4, 4}, model.element, "input");
  return writer.conv("stem", x, model.width, use.get("bias"));
}

void proteus::fuzz::addConvStem(Registry &registry) {
  registry.addBlock(
      {"convolution stem", Slot::Stem, only(Form::Image), 50, choose, write});
}
