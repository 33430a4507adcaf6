//===- EncoderDecoder.h - transformers that read and write ------*- C++ -*-===//
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

/// A transformer with an encoder and a decoder that looks at its result. One
/// embedding serves both ends and the head.
struct EncoderDecoderDims {
  int64_t encoderLayers = 0;
  int64_t decoderLayers = 0;
  /// Both together, half each, if given.
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  /// 0: hidden / heads.
  int64_t headDim = 0;
  /// 0: four times hidden.
  int64_t ffn = 0;
  int64_t vocab = 0;
  /// Of what is read.
  int64_t seq = 0;
  /// Of what is written; 0: as long as what is read.
  int64_t targetSeq = 0;
  /// relu or gelu.
  std::string activation = "relu";
  /// Norms before each block and at both ends, with a scale only (T5); else
  /// behind the additions, with a shift.
  bool preNorm = false;
  bool bias = true;
  /// Rows of the tables of position differences, one table for the encoder and
  /// one for the decoder (T5); 0: none. Fixed positions cost nothing here: they
  /// are added where rows are looked up.
  int64_t relativeBuckets = 0;
};

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
