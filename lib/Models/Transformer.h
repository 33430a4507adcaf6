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

/// Dimensions of a decoder-only transformer. A dimension is not given if it is
/// a size of 0, an empty choice or a flag without a value. If such a dimension
/// has a default, which depends on other dimensions, `settle` sets it to this
/// default.
struct TransformerDims {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  /// Number of key and value heads; 0: the number of query heads.
  int64_t kvHeads = 0;
  /// Size of a head; 0: hidden / heads.
  int64_t headDim = 0;
  /// Width of the feed-forward block; 0: 4 · hidden.
  int64_t ffn = 0;
  int64_t vocab = 0;
  int64_t seq = 0;

  /// True if the feed-forward block is gated: it computes silu(gate) · up from
  /// two products, instead of an activation function of one product.
  bool gatedMlp = false;
  /// Activation function of a feed-forward block that is not gated: gelu or
  /// relu. Routed experts that are not gated always have gelu.
  std::string activation = "gelu";
  /// Kind of norms: layer or rms; empty: rms if the feed-forward block is
  /// gated, otherwise layer.
  std::string norm;
  /// Linear operations of a layer that have biases: all, qkv or none; empty:
  /// none if the feed-forward block is gated, otherwise all. Latent attention
  /// and routed experts never have biases.
  std::string bias;
  /// Kind of positions: learned, rope, alibi or none; empty: rope if the
  /// feed-forward block is gated, otherwise learned. alibi adds no operation
  /// and no cost, because the attention kernel computes it.
  std::string positions;
  /// Number of rows of the table of learned positions; 0: seq.
  int64_t maxPositions = 0;
  /// True if one product computes query, key and value. Default: true if the
  /// feed-forward block is not gated.
  std::optional<bool> fusedQkv;
  /// True if the weight of the output head is the embedding table. Default:
  /// true if the feed-forward block is not gated.
  std::optional<bool> tiedEmbeddings;
  /// True if attention and feed-forward block both read the input of the layer
  /// (GPT-NeoX).
  bool parallelResidual = false;
  /// True if a norm follows each residual addition, and no norm precedes the
  /// output head (GPT-1). Otherwise a norm precedes each block and the head.
  bool postNorm = false;
  /// True if a norm follows the embedding (BLOOM).
  bool embeddingNorm = false;
  /// Width of the embedding; 0: hidden. If it differs from hidden, linear
  /// operations after the embedding and before the output head convert between
  /// the two widths.
  int64_t embedding = 0;
  /// True if the queries and keys of each head are normalised (Qwen3).
  bool headNorms = false;

  /// Number of routed experts per layer; 0: no experts. Experts are gated if
  /// `gatedMlp` is set.
  int64_t experts = 0;
  /// Number of routed experts that process each token.
  int64_t topk = 0;
  /// Width of an expert; 0: ffn.
  int64_t moeFfn = 0;
  /// Number of layers, from the first, that have a feed-forward block instead
  /// of experts.
  int64_t denseLayers = 0;
  /// Width of the shared expert, which processes every token in addition to the
  /// routed experts; 0: no shared expert.
  int64_t sharedExpertFfn = 0;
  /// True if the output of the shared expert is multiplied by a gate per token
  /// (Qwen2).
  bool sharedExpertGate = false;
  bool routerBias = false;
  /// Number of slots of an expert, divided by its number of tokens in a
  /// balanced assignment. With 1, the cost is that of a balanced assignment.
  double capacityFactor = 1;

  /// Kernels of attention: `fused` is one kernel; `unfused` is matrix products,
  /// a softmax and copies, with the whole score matrix in memory.
  std::string attentionKernel = "fused";
  /// Probability of dropout on attention weights (unfused attention only) and
  /// before residual additions; 0: no dropout.
  double dropout = 0;

  /// Kernels of silu(gate) · up: `fused` is one kernel; `unfused` is one kernel
  /// for silu and one for the multiplication.
  std::string gatedKernel = "fused";
  /// Type of the logits that the loss reads: `compute` is the type of the
  /// model; with `f32` the logits are converted first.
  std::string logits = "compute";

  /// Width of the latent vector from which latent attention (DeepSeek) computes
  /// keys and values; 0: no latent attention. With latent attention, `headDim`
  /// has no effect: `qkHeadDim`, `qkRopeDim` and `vHeadDim` are the sizes of a
  /// head.
  int64_t kvLoraRank = 0;
  /// Width of the latent vector from which latent attention computes queries;
  /// 0: a single product computes queries.
  int64_t qLoraRank = 0;
  /// Sizes of the two parts of a query or key of one head: the part without
  /// rotary positions (`qkHeadDim`) and the part with them (`qkRopeDim`).
  int64_t qkHeadDim = 0;
  int64_t qkRopeDim = 0;
  /// Size of a value of one head.
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

/// Returns `dims` with the default of each dimension that is not given and has
/// one.
TransformerDims settle(TransformerDims dims);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_TRANSFORMER_H
