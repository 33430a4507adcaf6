//===- Embedding.cpp - rows of a table --------------------------*- C++ -*-===//
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
  Sizes tokens{model.batch};
  Iterators iterators{{"batch", model.batch}};
  if (model.seq) {
    tokens.push_back(model.seq);
    iterators.push_back({"seq", model.seq});
  }
  Tensor ids = writer.argument("ids", tokens, "i32", "input");
  Sizes rows{model.classes, model.width};
  writer.table = writer.parameter("embedding.weight", rows);
  iterators.push_back({"vocab", model.classes});
  iterators.push_back({"hidden", model.width});
  Sizes shape(tokens);
  shape.push_back(model.width);
  Tensor result = writer.fresh(shape);
  writer.emit("embedding", "embedding", {ids, *writer.table}, "", result,
              iterators, rows);
  return result;
}

void proteus::fuzz::addEmbedding(Registry &registry) {
  registry.addBlock({"embedding", Slot::Stem, Form::Rows | Form::Sequence, 50,
                     nullptr, write});
}
