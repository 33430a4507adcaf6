//===- Transformer.h - decoder-only transformers ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MODELS_TRANSFORMER_H
#define PROTEUS_LIB_MODELS_TRANSFORMER_H

#include "Proteus/Models/Model.h"

namespace proteus::models {

/// Dimensions of a decoder-only transformer. A size of 0, an empty choice and a
/// flag without a value have a default that depends on other dimensions
/// (`settle`).
struct TransformerDims {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  /// Number of key and value heads; 0: as many as heads.
  int64_t kvHeads = 0;
  /// Size of a head; 0: hidden / heads.
  int64_t headDim = 0;
  /// Width of the feed-forward block; 0: four times hidden.
  int64_t ffn = 0;
  int64_t vocab = 0;
  int64_t seq = 0;

  /// True if the feed-forward block computes silu(gate) · up instead of one
  /// activation.
  bool gatedMlp = false;
  /// Activation of a feed-forward block that is not gated: gelu or relu.
  std::string activation = "gelu";
  /// Kind of norms: layer or rms; empty: rms if the feed-forward block is
  /// gated, else layer.
  std::string norm;
  /// Linear operations with biases: all, qkv or none; empty: none if the
  /// feed-forward block is gated, else all.
  std::string bias;
  /// Kind of positions: learned, rope, alibi or none; empty: rope if the
  /// feed-forward block is gated, else learned. alibi has no cost, because the
  /// attention kernel adds it.
  std::string positions;
  /// Rows of the table of learned positions; 0: seq.
  int64_t maxPositions = 0;
  /// True if one product computes query, key and value. The default is true if
  /// the feed-forward block is not gated.
  std::optional<bool> fusedQkv;
  /// True if the head uses the embedding table. The default is true if the
  /// feed-forward block is not gated.
  std::optional<bool> tiedEmbeddings;
  /// True if attention and feed-forward block both read the input of the layer
  /// (GPT-NeoX).
  bool parallelResidual = false;
  /// True if norms follow the residual additions and no norm precedes the head
  /// (GPT-1).
  bool postNorm = false;
  /// True if a norm follows the embedding (BLOOM).
  bool embeddingNorm = false;
  /// Width of the embedding; 0: hidden. If it differs from hidden, linear
  /// operations after the embedding and before the head convert between the
  /// widths.
  int64_t embedding = 0;
  /// True if each head of queries and keys is normalised (Qwen3).
  bool headNorms = false;

  /// Number of routed experts per layer; 0: no experts. `gatedMlp` also applies
  /// to experts.
  int64_t experts = 0;
  /// Number of experts per token.
  int64_t topk = 0;
  /// Width of an expert; 0: ffn.
  int64_t moeFfn = 0;
  /// Number of first layers with a feed-forward block instead of experts.
  int64_t denseLayers = 0;
  /// Width of the shared expert, which computes all tokens; 0: no shared
  /// expert.
  int64_t sharedExpertFfn = 0;
  /// True if the output of the shared expert has a gate per token (Qwen2).
  bool sharedExpertGate = false;
  /// True if the router has a bias.
  bool routerBias = false;
  /// Slots per expert, relative to a balanced load. With 1 the work is that of
  /// balanced experts that drop no tokens.
  double capacityFactor = 1;

  /// Kernels of attention: `fused` is one kernel; `unfused` is products and a
  /// softmax on the whole matrix of scores.
  std::string attentionKernel = "fused";
  /// Probability of dropout on attention weights (unfused attention only) and
  /// before residual additions; 0: no dropout.
  double dropout = 0;

  /// Kernels of a gated block: `fused` computes silu and product in one kernel,
  /// `unfused` in two.
  std::string gatedKernel = "fused";
  /// Type of the logits that the loss reads: `compute` is the type of the
  /// model, `f32` converts them first.
  std::string logits = "compute";

  /// Width of the latent vector from which latent attention (DeepSeek) computes
  /// keys and values; 0: no latent attention. With latent attention the sizes
  /// of a head are `qkHeadDim`, `qkRopeDim` and `vHeadDim`.
  int64_t kvLoraRank = 0;
  /// Width of the latent vector of queries; 0: queries are computed directly.
  int64_t qLoraRank = 0;
  /// Sizes of the parts of a query and key without and with rotary positions.
  int64_t qkHeadDim = 0;
  int64_t qkRopeDim = 0;
  /// Size of a value.
  int64_t vHeadDim = 0;
};

/// A decoder-only transformer.
class TransformerModel : public Model {
public:
  explicit TransformerModel(TransformerDims dims) : dims(std::move(dims)) {}
  void declare(Dimensions &dimensions) override;
  llvm::Error check() const override;
  mlir::Value build(GraphBuilder &graph, int64_t batch) const override;

private:
  TransformerDims dims;
};

/// Returns `dims` with defaults for all dimensions that are not given.
TransformerDims settle(TransformerDims dims);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_TRANSFORMER_H
