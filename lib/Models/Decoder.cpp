//===- Decoder.cpp - decoder-only transformers ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "DecoderBuilder.h"
#include "DecoderPresets.h"
#include "Families.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

//===----------------------------------------------------------------------===//
// Embedding and head
//===----------------------------------------------------------------------===//

Value DecoderBuilder::norm(StringRef path, Value x) {
  return dims.norm == "rms" ? graph.rmsNorm(path, x) : graph.layerNorm(path, x);
}

Value DecoderBuilder::embed(Value ids) {
  Value x = graph.embedding("embedding", ids, dims.vocab, dims.embedding);
  if (dims.embedding != dims.hidden)
    x = graph.linear("embedding_in", x, dims.hidden, /*bias=*/false);
  if (dims.positions == "learned")
    x = addLearnedPositions(graph, x, dims.maxPositions);
  return dims.embeddingNorm ? norm("embedding_norm", x) : x;
}

Value DecoderBuilder::head(Value x) {
  if (!dims.postNorm)
    x = norm("norm_f", x);
  if (dims.embedding != dims.hidden)
    x = graph.linear("embedding_out", x, dims.embedding, /*bias=*/false);
  Value weight =
      graph.parameter(*dims.tiedEmbeddings ? "embedding.weight" : "head.weight",
                      {dims.vocab, dims.embedding});
  return graph.linearWith("head", x, weight);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

Value DecoderBuilder::gated(StringRef path, Value gate, Value up) {
  if (dims.gatedKernel == "fused")
    return graph.swiglu(path, gate, up);
  return graph.mul(path, graph.silu((path + ".silu").str(), gate), up);
}

Value DecoderBuilder::feedForward(StringRef path, Value x, int64_t width) {
  bool bias = dims.bias == "all";
  if (!dims.gatedMlp)
    return plainFeedForward(graph, path, x, width, dims.activation, bias);
  Value gate = graph.linear((path + ".gate").str(), x, width, bias);
  Value up = graph.linear((path + ".up").str(), x, width, bias);
  Value act = gated((path + ".act").str(), gate, up);
  return graph.linear((path + ".down").str(), act, dims.hidden, bias);
}

Value DecoderBuilder::layer(Value x, bool sparse) {
  auto transform = [&](Value y) {
    return sparse ? mixture(y) : feedForward("mlp", y, dims.ffn);
  };
  if (dims.postNorm) {
    Value middle = norm(
        "norm_1", graph.add("residual_1", x, dropped("drop_1", attention(x))));
    return norm("norm_2", graph.add("residual_2", middle,
                                    dropped("drop_2", transform(middle))));
  }
  Value attended = dropped("drop_1", attention(norm("norm_1", x)));
  if (dims.parallelResidual) {
    Value both = graph.add("residual_1", attended,
                           dropped("drop_2", transform(norm("norm_2", x))));
    return graph.add("residual_2", x, both);
  }
  Value middle = graph.add("residual_1", x, attended);
  return graph.add("residual_2", middle,
                   dropped("drop_2", transform(norm("norm_2", middle))));
}

Value DecoderBuilder::build() {
  Value ids = graph.indices("ids", {batch, dims.seq});
  Value labels = graph.indices("labels", {batch, dims.seq});
  Value x = embed(ids);
  // The first `denseLayers` layers have no experts. They are few, so they are
  // written out instead of repeated.
  for (int64_t i = 0; i < dims.denseLayers; ++i)
    graph.under("layers[" + Twine(i) + "]",
                [&] { x = layer(x, /*sparse=*/false); });
  if (int64_t others = dims.layers - dims.denseLayers)
    x = graph.repeat(
        "layers", others, x,
        [&](Value h) { return layer(h, /*sparse=*/dims.experts > 0); },
        /*first=*/dims.denseLayers);
  Value logits = head(x);
  if (dims.logits == "f32")
    logits = graph.toF32("logits", logits);
  return graph.crossEntropy("loss", logits, labels);
}

Value TransformerModel::build(GraphBuilder &graph, int64_t batch) const {
  TransformerDims settled = settle(dims);
  return DecoderBuilder(graph, settled, batch).build();
}

void models::addDecoders(Registry &registry) {
  registry.add(Family{
      "decoder",
      "decoder-only transformers",
      {"transformer-decoder", "moe-mla-decoder"},
      [] { return std::make_unique<TransformerModel>(TransformerDims()); }});
  DecoderPresets presets(registry);
  addGptPresets(presets);
  addLlamaPresets(presets);
}
