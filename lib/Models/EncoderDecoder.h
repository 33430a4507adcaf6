//===- EncoderDecoder.h - encoder-decoder transformers ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MODELS_ENCODERDECODER_H
#define PROTEUS_LIB_MODELS_ENCODERDECODER_H

#include "Proteus/Models/Model.h"

namespace proteus::models {

/// Dimensions of a transformer with an encoder and a decoder. The decoder
/// attends to the output of the encoder. Encoder, decoder and output head share
/// one embedding table.
struct EncoderDecoderDims {
  int64_t encoderLayers = 0;
  int64_t decoderLayers = 0;
  /// Number of layers of encoder and decoder together, half of them in each; 0:
  /// `encoderLayers` and `decoderLayers` are given instead.
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  /// Size of a head; 0: hidden / heads.
  int64_t headDim = 0;
  /// Width of the feed-forward block; 0: 4 · hidden.
  int64_t ffn = 0;
  int64_t vocab = 0;
  /// Length of the source sequence, in tokens.
  int64_t seq = 0;
  /// Length of the target sequence, in tokens; 0: as long as the source
  /// sequence.
  int64_t targetSeq = 0;
  /// Activation function of the feed-forward block: relu or gelu.
  std::string activation = "relu";
  /// True if RMS norms precede each block and follow the last layer of encoder
  /// and decoder (T5). Otherwise layer norms follow the residual additions.
  bool preNorm = false;
  /// True if linear operations have biases.
  bool bias = true;
  /// Number of rows of a table of relative position biases; 0: fixed positions
  /// without tables. Encoder and decoder have one table each (T5). Fixed
  /// positions add no operation and no cost: the kernel of the embedding lookup
  /// adds them.
  int64_t relativeBuckets = 0;
};

/// A transformer with an encoder and a decoder.
class EncoderDecoderModel : public Model {
public:
  explicit EncoderDecoderModel(EncoderDecoderDims dims)
      : dims(std::move(dims)) {}
  void declare(Dimensions &dimensions) override;
  llvm::Error check() const override;
  mlir::Value build(GraphBuilder &graph, int64_t batch) const override;

private:
  EncoderDecoderDims dims;
};

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_ENCODERDECODER_H
