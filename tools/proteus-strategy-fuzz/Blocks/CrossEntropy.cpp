//===- CrossEntropy.cpp - loss of a classifier ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

using namespace proteus::fuzz;

static void choose(Random &random, const Model &model, BlockUse &use) {
  use.set("cast", random.chance(15));
  // The loss has one row per token.
  use.set("flat", model.seq && random.chance(25));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  const Model &model = writer.model;
  Sizes tokens{model.batch};
  if (model.seq)
    tokens.push_back(model.seq);
  Tensor labels = writer.argument("labels", tokens, "i32", "input");
  Tensor logits = input;
  if (use.get("cast") && logits.element != "f32") {
    logits = writer.fresh(input.shape, "f32");
    writer.emit("cast", "logits", input, "", logits,
                writer.dims(logits, "hidden"));
  }
  if (use.get("flat")) {
    int64_t rows = model.batch * model.seq;
    Tensor flat = writer.fresh({rows, model.classes}, logits.element);
    writer.emit("reshape", "flat.logits", logits, "", flat, {});
    Tensor flatLabels = writer.fresh({rows}, "i32");
    writer.emit("reshape", "flat.labels", labels, "", flatLabels, {});
    logits = flat;
    labels = flatLabels;
  }
  Tensor result = writer.fresh({}, "f32");
  Tensor rows = writer.fresh(labels.shape, "f32");
  writer.emit("cross_entropy", "loss", {logits, labels}, "", {result, rows},
              writer.dims(logits, "vocab"));
  return result;
}

void proteus::fuzz::addCrossEntropy(Registry &registry) {
  registry.addBlock({"cross entropy", Slot::Loss,
                     Form::Rows | Form::Sequence | Form::Image, 50, choose,
                     write});
}
