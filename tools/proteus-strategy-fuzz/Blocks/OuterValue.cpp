//===- OuterValue.cpp - layers that read a value from outside ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers that combine their activation with a value that is computed once,
// before all layers. A repeat of the layers reads it from outside.
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

using namespace proteus::fuzz;

static void choose(Random &random, const Model &model, BlockUse &use) {
  // Otherwise the value is the input of the first layer.
  use.set("computed", random.chance(50));
  use.set("linear", model.form != Form::Image && random.chance(40));
  use.set("mul", random.chance(50));
}

static Tensor prepare(ModelWriter &writer, const BlockUse &use,
                      const Tensor &input) {
  return use.get("computed") ? writer.unary("tanh", "outer", input) : input;
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  Tensor outer = *writer.outer;
  if (use.get("linear"))
    outer = writer.linear("outer.fc", outer, writer.model.width, true);
  return writer.binary(use.get("mul") ? "mul" : "add", "outer.join", input,
                       outer);
}

void proteus::fuzz::addOuterValue(Registry &registry) {
  registry.addBlock({"outer value", Slot::Mixer,
                     Form::Rows | Form::Sequence | Form::Image, 15, choose,
                     write, nullptr, prepare});
}
