//===- DenseInput.cpp - activations as an input of the model ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

using namespace proteus::fuzz;

static Tensor write(ModelWriter &writer, const BlockUse &, const Tensor &) {
  const Model &model = writer.model;
  Sizes shape{model.batch};
  if (model.seq)
    shape.push_back(model.seq);
  shape.push_back(model.width);
  return writer.argument("x", shape, model.element, "input");
}

void proteus::fuzz::addDenseInput(Registry &registry) {
  registry.addBlock(
      {"input", Slot::Stem, Form::Rows | Form::Sequence, 50, nullptr, write});
}
