//===- LinearHead.cpp - logits by a linear of its own -----------*- C++ -*-===//
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
  return writer.linear("head", input, writer.model.classes, use.get("bias"));
}

void proteus::fuzz::addLinearHead(Registry &registry) {
  registry.addBlock({"linear head", Slot::Head, Form::Rows | Form::Sequence, 80,
                     choose, write});
}
