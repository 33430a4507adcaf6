//===- TiedHead.cpp - logits by the table of the embedding ------*- C++ -*-===//
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
  const Tensor &table = *writer.table;
  Sizes shape(input.shape);
  shape.back() = table.shape.front();
  Tensor logits = writer.fresh(shape);
  Iterators iterators = writer.dims(logits, "out");
  iterators.push_back({"in", table.shape.back()});
  writer.emit("linear", "head", {input, table}, "", logits, iterators,
              table.shape);
  return logits;
}

void proteus::fuzz::addTiedHead(Registry &registry) {
  registry.addBlock(
      {"tied head", Slot::Head, Form::Rows | Form::Sequence, 20, nullptr, write,
       [](const Model &model) { return model.uses("embedding"); }});
}
