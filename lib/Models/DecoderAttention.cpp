//===- DecoderAttention.cpp - attention of decoders -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "DecoderBuilder.h"
#include "Layers.h"

using namespace mlir;
using namespace proteus::models;

//===----------------------------------------------------------------------===//
// Heads of queries, keys and values
//===----------------------------------------------------------------------===//

Value DecoderBuilder::normHeads(StringRef path, Value x, int64_t heads) {
  Value apart = graph.reshape((path + ".heads").str(), x,
                              {batch, dims.seq, heads, dims.headDim});
  Value normed = norm(path, apart);
  return graph.reshape((path + ".join").str(), normed,
                       {batch, dims.seq, heads * dims.headDim});
}

Value DecoderBuilder::attention(Value x) {
  if (dims.kvLoraRank)
    return latentAttention(x);
  bool bias = dims.bias != "none";
  int64_t width = dims.heads * dims.headDim;
  int64_t keyWidth = dims.kvHeads * dims.headDim;
  Value q, k, v;
  if (*dims.fusedQkv) {
    Value qkv = graph.linear("attention.qkv", x, width + 2 * keyWidth, bias);
    // The columns of `qkv` form one group per key head. A group has the queries
    // that read the key head, then the key, then the value.
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
  Value core = dims.attentionKernel == "unfused"
                   ? unfusedAttention(graph, q, k, v, dims.heads, dims.dropout)
                   : graph.attention("attention.core", q, k, v, dims.heads,
                                     dims.kvHeads, /*causal=*/true);
  return graph.linear("attention.proj", core, dims.hidden, dims.bias == "all");
}

Value DecoderBuilder::dropped(StringRef path, Value x) {
  return dropoutIfAny(graph, path, x, dims.dropout);
}

//===----------------------------------------------------------------------===//
// Latent attention
//===----------------------------------------------------------------------===//

Value DecoderBuilder::latentQuery(Value x) {
  int64_t plain = dims.heads * dims.qkHeadDim;
  int64_t turned = dims.heads * dims.qkRopeDim;
  if (dims.qLoraRank)
    x = norm("attention.norm_q",
             graph.linear("attention.q_down", x, dims.qLoraRank,
                          /*bias=*/false));
  Value q = graph.linear(dims.qLoraRank ? "attention.q_up" : "attention.q", x,
                         plain + turned, /*bias=*/false);
  auto parts = graph.split("attention.split_q", q, {plain, turned}, dims.heads);
  parts[1] = graph.rope("attention.rope_q", parts[1], dims.heads);
  return graph.concat("attention.join_q", parts, dims.heads);
}

/// Builds the keys and values. The model computes the rotary part of the keys
/// for one head and repeats it, because all heads have the same rotary part.
std::pair<Value, Value> DecoderBuilder::latentKeyValue(Value x) {
  Value latent = graph.linear("attention.kv_down", x,
                              dims.kvLoraRank + dims.qkRopeDim, /*bias=*/false);
  auto parts = graph.split("attention.split_latent", latent,
                           {dims.kvLoraRank, dims.qkRopeDim});
  Value turned = graph.rope("attention.rope_k", parts[1], /*heads=*/1);
  turned =
      graph.broadcast("attention.repeat_k", turned,
                      {batch, dims.seq, dims.heads, dims.qkRopeDim}, {0, 1, 3});
  turned = graph.reshape("attention.heads_k", turned,
                         {batch, dims.seq, dims.heads * dims.qkRopeDim});

  int64_t plain = dims.heads * dims.qkHeadDim;
  int64_t values = dims.heads * dims.vHeadDim;
  Value kv =
      graph.linear("attention.kv_up", norm("attention.norm_kv", parts[0]),
                   plain + values, /*bias=*/false);
  auto pieces =
      graph.split("attention.split_kv", kv, {plain, values}, dims.heads);
  Value key = graph.concat("attention.join_k", {pieces[0], turned}, dims.heads);
  return {key, pieces[1]};
}

Value DecoderBuilder::latentAttention(Value x) {
  Value query = latentQuery(x);
  auto [key, value] = latentKeyValue(x);
  Value core = graph.attention("attention.core", query, key, value, dims.heads,
                               dims.heads, /*causal=*/true);
  return graph.linear("attention.proj", core, dims.hidden, /*bias=*/false);
}
