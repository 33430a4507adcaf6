//===- Decoder.cpp - decoder-only transformers ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transformer.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

namespace {
/// Builds one decoder; the parts of a layer are methods.
class DecoderBuilder {
public:
  DecoderBuilder(GraphBuilder &graph, const TransformerDims &dims,
                 int64_t batch)
      : graph(graph), dims(dims), batch(batch) {}

  Value build();

private:
  Value embed(Value ids);
  Value addPositions(Value x);
  Value layer(Value x);
  Value attention(Value x);
  Value feedForward(Value x);
  Value norm(StringRef path, Value x);
  Value normHeads(StringRef path, Value x, int64_t heads);
  Value head(Value x);

  GraphBuilder &graph;
  const TransformerDims &dims;
  int64_t batch;
};
} // namespace

Value DecoderBuilder::norm(StringRef path, Value x) {
  return dims.norm == "rms" ? graph.rmsNorm(path, x) : graph.layerNorm(path, x);
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

/// A table that is as long as the sequence is added as it is; of a longer one
/// the rows in use are looked up.
Value DecoderBuilder::addPositions(Value x) {
  if (dims.positions != "learned")
    return x;
  if (dims.maxPositions == dims.seq)
    return graph.add(
        "position", x,
        graph.parameter("position.weight", {dims.maxPositions, dims.hidden}));
  Value places = graph.indices("positions", {batch, dims.seq});
  return graph.add(
      "position_sum", x,
      graph.embedding("position", places, dims.maxPositions, dims.hidden));
}

Value DecoderBuilder::embed(Value ids) {
  Value x = graph.embedding("embedding", ids, dims.vocab, dims.embedding);
  if (dims.embedding != dims.hidden)
    x = graph.linear("embedding_in", x, dims.hidden, /*bias=*/false);
  x = addPositions(x);
  return dims.embeddingNorm ? norm("embedding_norm", x) : x;
}

Value DecoderBuilder::head(Value x) {
  if (!dims.postNorm)
    x = norm("norm_f", x);
  if (dims.embedding != dims.hidden)
    x = graph.linear("embedding_out", x, dims.embedding, /*bias=*/false);
  Value weight =
      graph.parameter(dims.tiedEmbeddings ? "embedding.weight" : "head.weight",
                      {dims.vocab, dims.embedding});
  return graph.linearWith("head", x, weight);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

Value DecoderBuilder::normHeads(StringRef path, Value x, int64_t heads) {
  Value apart = graph.reshape((path + ".heads").str(), x,
                              {batch, dims.seq, heads, dims.headDim});
  Value normed = norm(path, apart);
  return graph.reshape((path + ".join").str(), normed,
                       {batch, dims.seq, heads * dims.headDim});
}

Value DecoderBuilder::attention(Value x) {
  bool bias = dims.bias != "none";
  int64_t width = dims.heads * dims.headDim;
  int64_t keyWidth = dims.kvHeads * dims.headDim;
  Value q, k, v;
  if (dims.fusedQkv == "true") {
    Value qkv = graph.linear("attention.qkv", x, width + 2 * keyWidth, bias);
    // Per key head: its queries, its key, its value.
    auto pieces = graph.split("attention.split", qkv,
                              {width, keyWidth, keyWidth}, dims.kvHeads);
    q = pieces[0], k = pieces[1], v = pieces[2];
  } else {
    q = graph.linear("attention.q", x, width, bias);
    k = graph.linear("attention.k", x, keyWidth, bias);
    v = graph.linear("attention.v", x, keyWidth, bias);
  }
  if (dims.headNorms) {
    q = normHeads("attention.norm_q", q, dims.heads);
    k = normHeads("attention.norm_k", k, dims.kvHeads);
  }
  if (dims.positions == "rope") {
    q = graph.rope("attention.rope_q", q, dims.heads);
    k = graph.rope("attention.rope_k", k, dims.kvHeads);
  }
  Value core = graph.attention("attention.core", q, k, v, dims.heads,
                               dims.kvHeads, /*causal=*/true);
  return graph.linear("attention.proj", core, dims.hidden, dims.bias == "all");
}

Value DecoderBuilder::feedForward(Value x) {
  bool bias = dims.bias == "all";
  if (dims.gatedMlp) {
    Value gate = graph.linear("mlp.gate", x, dims.ffn, bias);
    Value up = graph.linear("mlp.up", x, dims.ffn, bias);
    Value act = graph.swiglu("mlp.act", gate, up);
    return graph.linear("mlp.down", act, dims.hidden, bias);
  }
  Value up = graph.linear("mlp.fc1", x, dims.ffn, bias);
  Value act = dims.activation == "relu" ? graph.relu("mlp.act", up)
                                        : graph.gelu("mlp.act", up);
  return graph.linear("mlp.fc2", act, dims.hidden, bias);
}

Value DecoderBuilder::layer(Value x) {
  if (dims.postNorm) {
    Value middle = norm("norm_1", graph.add("residual_1", x, attention(x)));
    return norm("norm_2", graph.add("residual_2", middle, feedForward(middle)));
  }
  Value attended = attention(norm("norm_1", x));
  if (dims.parallelResidual) {
    Value fed = feedForward(norm("norm_2", x));
    Value both = graph.add("residual_1", attended, fed);
    return graph.add("residual_2", x, both);
  }
  Value middle = graph.add("residual_1", x, attended);
  return graph.add("residual_2", middle, feedForward(norm("norm_2", middle)));
}

Value DecoderBuilder::build() {
  Value ids = graph.indices("ids", {batch, dims.seq});
  Value labels = graph.indices("labels", {batch, dims.seq});
  Value x = embed(ids);
  x = graph.repeat("layers", dims.layers, x, [&](Value h) { return layer(h); });
  return graph.crossEntropy("loss", head(x), labels);
}

Value TransformerModel::build(GraphBuilder &graph, int64_t batch) const {
  TransformerDims settled = settle(dims);
  return DecoderBuilder(graph, settled, batch).build();
}
