//===- MatmulMixer.cpp - products of activations ----------------*- C++ -*-===//
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
  Tensor scores = writer.fresh({model.batch, model.seq, model.seq});
  writer.emit("matmul", "mix.scores", {input, input}, "{transpose_b}", scores,
              {{"batch", model.batch},
               {"m", model.seq},
               {"n", model.seq},
               {"k", model.width}});
  Tensor mixed = writer.fresh(input.shape);
  writer.emit("matmul", "mix.values", {scores, input}, "", mixed,
              {{"batch", model.batch},
               {"m", model.seq},
               {"n", model.width},
               {"k", model.seq}});
  // The norm keeps products of products from growing from layer to layer.
  return writer.layerNorm("mix.norm", mixed);
}

void proteus::fuzz::addMatmulMixer(Registry &registry) {
  registry.addBlock(
      {"matmul mixer", Slot::Mixer, only(Form::Sequence), 28, nullptr, write});
}
