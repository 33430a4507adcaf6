//===- TransformerDims.cpp - dimensions of transformers ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transformer.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::models;

void TransformerModel::declare(Dimensions &dimensions) {
  static constexpr StringRef activations[] = {"gelu", "relu"};
  static constexpr StringRef norms[] = {"layer", "rms"};
  static constexpr StringRef biases[] = {"all", "qkv", "none"};
  static constexpr StringRef positions[] = {"learned", "rope", "alibi", "none"};
  static constexpr StringRef answers[] = {"true", "false"};
  dimensions.integer("layers", dims.layers, 1, 100000);
  dimensions.integer("hidden", dims.hidden);
  dimensions.integer("heads", dims.heads);
  dimensions.integer("kv_heads", dims.kvHeads);
  dimensions.integer("head_dim", dims.headDim);
  dimensions.integer("ffn", dims.ffn);
  dimensions.integer("vocab", dims.vocab);
  dimensions.integer("seq", dims.seq);
  dimensions.flag("gated_mlp", dims.gatedMlp);
  dimensions.choice("activation", dims.activation, activations);
  dimensions.choice("norm", dims.norm, norms);
  dimensions.choice("bias", dims.bias, biases);
  dimensions.choice("positions", dims.positions, positions);
  dimensions.integer("max_positions", dims.maxPositions);
  dimensions.choice("fused_qkv", dims.fusedQkv, answers);
  dimensions.flag("tied_embeddings", dims.tiedEmbeddings);
  dimensions.opposite("untied_embeddings", dims.tiedEmbeddings);
  dimensions.flag("parallel_residual", dims.parallelResidual);
  dimensions.flag("post_norm", dims.postNorm);
  dimensions.flag("embedding_norm", dims.embeddingNorm);
  dimensions.integer("embedding", dims.embedding);
  dimensions.flag("head_norms", dims.headNorms);
}

TransformerDims models::settle(TransformerDims dims) {
  auto decide = [](auto &value, auto otherwise) {
    if (value == std::decay_t<decltype(value)>())
      value = otherwise;
  };
  decide(dims.kvHeads, dims.heads);
  decide(dims.headDim, dims.heads ? dims.hidden / dims.heads : 0);
  decide(dims.ffn, 4 * dims.hidden);
  decide(dims.norm, dims.gatedMlp ? "rms" : "layer");
  decide(dims.bias, dims.gatedMlp ? "none" : "all");
  decide(dims.positions, dims.gatedMlp ? "rope" : "learned");
  decide(dims.maxPositions, dims.seq);
  decide(dims.fusedQkv, dims.gatedMlp ? "false" : "true");
  decide(dims.embedding, dims.hidden);
  return dims;
}

Error TransformerModel::check() const {
  for (auto [name, value] :
       {std::pair("layers", dims.layers), std::pair("hidden", dims.hidden),
        std::pair("heads", dims.heads), std::pair("vocab", dims.vocab),
        std::pair("seq", dims.seq)})
    if (value == 0)
      return createStringError("the dimension '" + Twine(name) +
                               "' is not given");
  if (!dims.headDim && dims.hidden % dims.heads != 0)
    return createStringError("heads (" + Twine(dims.heads) +
                             ") must divide hidden (" + Twine(dims.hidden) +
                             "), or head_dim be given");
  TransformerDims settled = settle(dims);
  if (settled.heads % settled.kvHeads != 0)
    return createStringError("kv_heads (" + Twine(settled.kvHeads) +
                             ") must divide heads (" + Twine(settled.heads) +
                             ")");
  if (settled.positions == "rope" && settled.headDim % 2 != 0)
    return createStringError("head_dim (" + Twine(settled.headDim) +
                             ") must be even for rotary positions");
  if (settled.positions == "learned" && settled.maxPositions < settled.seq)
    return createStringError("seq (" + Twine(settled.seq) +
                             ") is longer than max_positions (" +
                             Twine(settled.maxPositions) + ")");
  return Error::success();
}
