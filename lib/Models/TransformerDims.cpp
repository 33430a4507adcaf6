//===- TransformerDims.cpp - dimensions of transformers ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "Transformer.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::models;

void TransformerModel::declare(Dimensions &dimensions) {
  static constexpr StringRef activations[] = {"gelu", "relu"};
  static constexpr StringRef norms[] = {"layer", "rms"};
  static constexpr StringRef biases[] = {"all", "qkv", "none"};
  static constexpr StringRef positions[] = {"learned", "rope", "alibi", "none"};
  static constexpr StringRef kernels[] = {"fused", "unfused"};
  static constexpr StringRef logits[] = {"compute", "f32"};
  dimensions.integer("layers", dims.layers, 1, Dimensions::mostLayers);
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
  dimensions.flag("fused_qkv", dims.fusedQkv);
  dimensions.flag("tied_embeddings", dims.tiedEmbeddings);
  dimensions.opposite("untied_embeddings", dims.tiedEmbeddings);
  dimensions.flag("parallel_residual", dims.parallelResidual);
  dimensions.flag("post_norm", dims.postNorm);
  dimensions.flag("embedding_norm", dims.embeddingNorm);
  dimensions.integer("embedding", dims.embedding);
  dimensions.flag("head_norms", dims.headNorms);
  dimensions.integer("experts", dims.experts, 1, 1000000);
  dimensions.integer("topk", dims.topk, 1, 1000000);
  dimensions.integer("moe_ffn", dims.moeFfn);
  dimensions.integer("dense_layers", dims.denseLayers, 0, 1000);
  dimensions.integer("shared_expert_ffn", dims.sharedExpertFfn);
  dimensions.flag("shared_expert_gate", dims.sharedExpertGate);
  dimensions.flag("router_bias", dims.routerBias);
  dimensions.number("capacity_factor", dims.capacityFactor, 1000);
  dimensions.choice("attention_kernel", dims.attentionKernel, kernels);
  dimensions.choice("gated_kernel", dims.gatedKernel, kernels);
  dimensions.choice("logits", dims.logits, logits);
  dimensions.share("dropout", dims.dropout, 0.99);
  dimensions.integer("kv_lora_rank", dims.kvLoraRank);
  dimensions.integer("q_lora_rank", dims.qLoraRank);
  dimensions.integer("qk_head_dim", dims.qkHeadDim);
  dimensions.integer("qk_rope_dim", dims.qkRopeDim);
  dimensions.integer("v_head_dim", dims.vHeadDim);
  dimensions.remark("params");
  dimensions.remark("attn");
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
  decide(dims.embedding, dims.hidden);
  decide(dims.moeFfn, dims.ffn);
  dims.fusedQkv = dims.fusedQkv.value_or(!dims.gatedMlp);
  dims.tiedEmbeddings = dims.tiedEmbeddings.value_or(!dims.gatedMlp);
  return dims;
}

static Error checkHeads(const TransformerDims &dims) {
  if (!dims.headDim && !dims.kvLoraRank)
    if (Error error = checkHeadsDivide(dims.heads, dims.hidden))
      return error;
  TransformerDims settled = settle(dims);
  if (settled.heads % settled.kvHeads != 0)
    return createStringError("kv_heads (" + Twine(settled.kvHeads) +
                             ") must divide heads (" + Twine(settled.heads) +
                             ")");
  if (settled.attentionKernel == "unfused" &&
      (settled.kvLoraRank || settled.kvHeads != settled.heads))
    return createStringError(
        "attention_kernel=unfused needs as many kv_heads as heads, and no "
        "kv_lora_rank");
  int64_t turned = dims.kvLoraRank ? dims.qkRopeDim : settled.headDim;
  if (settled.positions == "rope" && turned % 2 != 0)
    return createStringError(
        Twine(dims.kvLoraRank ? "qk_rope_dim (" : "head_dim (") +
        Twine(turned) + ") must be even for rotary positions");
  if (settled.positions == "learned" && settled.maxPositions < settled.seq)
    return createStringError("seq (" + Twine(settled.seq) +
                             ") is longer than max_positions (" +
                             Twine(settled.maxPositions) + ")");
  return Error::success();
}

static Error checkExperts(const TransformerDims &dims) {
  if (dims.experts == 0)
    return dims.topk || dims.sharedExpertFfn || dims.denseLayers
               ? createStringError("the dimension 'experts' is not given, but "
                                   "other dimensions of experts are")
               : Error::success();
  if (Error error = requireDimensions({{"topk", dims.topk}}))
    return error;
  if (dims.topk > dims.experts)
    return createStringError("topk (" + Twine(dims.topk) +
                             ") is more than experts (" + Twine(dims.experts) +
                             ")");
  if (dims.denseLayers > dims.layers)
    return createStringError("dense_layers (" + Twine(dims.denseLayers) +
                             ") is more than layers (" + Twine(dims.layers) +
                             ")");
  return Error::success();
}

Error TransformerModel::check() const {
  if (Error error = requireDimensions({{"layers", dims.layers},
                                       {"hidden", dims.hidden},
                                       {"heads", dims.heads},
                                       {"vocab", dims.vocab},
                                       {"seq", dims.seq}}))
    return error;
  if (dims.kvLoraRank)
    if (Error error = requireDimensions({{"qk_head_dim", dims.qkHeadDim},
                                         {"qk_rope_dim", dims.qkRopeDim},
                                         {"v_head_dim", dims.vHeadDim}}))
      return error;
  if (Error error = checkHeads(dims))
    return error;
  return checkExperts(dims);
}
