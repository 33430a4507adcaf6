//===- Position.cpp - a parameter added to every sample ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

using namespace proteus::fuzz;

static Tensor write(ModelWriter &writer, const BlockUse &,
                    const Tensor &input) {
  const Model &model = writer.model;
  return writer.add(
      "position", input,
      writer.parameter("position.weight", {model.seq, model.width}));
}

void proteus::fuzz::addPosition(Registry &registry) {
  registry.addBlock(
      {"position", Slot::AfterStem, only(Form::Sequence), 50, nullptr, write});
}
