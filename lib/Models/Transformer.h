//===- Transformer.h - the decoder-only transformers ------------*- C++ -*-===//
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

/// What distinguishes one decoder-only transformer from another. A size of 0
/// and an empty choice are decided by the others (`settle`).
struct TransformerDims {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  /// Key and value heads; 0: as many as heads.
  int64_t kvHeads = 0;
  /// Size of a head; 0: hidden / heads.
  int64_t headDim = 0;
  /// Width of the feed-forward block; 0: four times hidden.
  int64_t ffn = 0;
  int64_t vocab = 0;
  int64_t seq = 0;

  /// silu(gate) · up in place of one activation.
  bool gatedMlp = false;
  /// gelu or relu, where the feed-forward block is not gated.
  std::string activation = "gelu";
  /// layer or rms; empty: rms where the feed-forward block is gated.
  std::string norm;
  /// all, qkv or none; empty: none where the feed-forward block is gated.
  std::string bias;
  /// learned, rope, alibi or none; empty: rope where the feed-forward block is
  /// gated, else learned. A kernel adds alibi on the way: it costs nothing.
  std::string positions;
  /// Rows of the table of learned positions; 0: seq.
  int64_t maxPositions = 0;
  /// One product for query, key and value; unless given: where the feed-forward
  /// block is not gated.
  std::optional<bool> fusedQkv;
  /// The head is the embedding; unless given: where the feed-forward block is
  /// not gated.
  std::optional<bool> tiedEmbeddings;
  /// Attention and feed-forward block read the same value (GPT-NeoX).
  bool parallelResidual = false;
  /// Norms behind the additions, and none at the end (GPT-1).
  bool postNorm = false;
  /// A norm behind the embedding (BLOOM).
  bool embeddingNorm = false;
  /// Width of the embedding, where a linear leads to hidden; 0: hidden.
  int64_t embedding = 0;
  /// Norms of each head of queries and keys (Qwen3).
  bool headNorms = false;

  /// Routed experts per layer; 0: none. They are as gated as feed-forward
  /// blocks, and as wide unless moeFfn is given.
  int64_t experts = 0;
  /// Experts of a token.
  int64_t topk = 0;
  int64_t moeFfn = 0;
  /// First layers with a feed-forward block in place of experts.
  int64_t denseLayers = 0;
  /// Width of what all tokens use beside their experts; 0: nothing.
  int64_t sharedExpertFfn = 0;
  /// The shared expert is weighted, token by token (Qwen2).
  bool sharedExpertGate = false;
  bool routerBias = false;
  /// Slots per expert, relative to an even load. With 1 the work is that of
  /// balanced experts that drop nothing.
  double capacityFactor = 1;

  /// fused: one kernel; unfused: products and softmax of whole squares.
  std::string attentionKernel = "fused";
  /// Of attention weights (unfused attention only) and of what is added to the
  /// residual; 0: none.
  double dropout = 0;

  /// fused: silu and product of a gated block are one kernel.
  std::string gatedKernel = "fused";
  /// compute: the loss reads logits in the type of the model; f32: they are
  /// converted first.
  std::string logits = "compute";

  /// Latent attention (DeepSeek): width that keys and values are computed from;
  /// 0: none. The sizes of a head are then the following ones.
  int64_t kvLoraRank = 0;
  /// Width that queries are computed from; 0: directly.
  int64_t qLoraRank = 0;
  /// Part of a query and key without and with rotary positions.
  int64_t qkHeadDim = 0;
  int64_t qkRopeDim = 0;
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

/// `dims` with everything decided that was left open.
TransformerDims settle(TransformerDims dims);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_TRANSFORMER_H
