//===- DecoderPresets.cpp - published decoders ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "Transformer.h"

#include "Proteus/Models/Registry.h"

using namespace proteus;
using namespace proteus::models;

/// GPT-2: learned positions, biases, tied embeddings.
static TransformerDims gpt2(int64_t layers, int64_t hidden, int64_t heads) {
  TransformerDims dims;
  dims.layers = layers;
  dims.hidden = hidden;
  dims.heads = heads;
  dims.vocab = 50257;
  dims.seq = dims.maxPositions = 1024;
  dims.tiedEmbeddings = true;
  return dims;
}

void models::addDecoders(Registry &registry) {
  registry.add(Family{
      "decoder",
      "decoder-only transformers",
      {"transformer-decoder", "moe-mla-decoder"},
      [] { return std::make_unique<TransformerModel>(TransformerDims()); }});
  auto add = [&](const char *name, const char *description, const char *source,
                 TransformerDims dims) {
    registry.add(Preset{name, "decoder", description, source, [dims] {
                          return std::make_unique<TransformerModel>(dims);
                        }});
  };
  add("gpt2", "GPT-2 small, 124M", "huggingface.co/openai-community/gpt2",
      gpt2(12, 768, 12));
}
