//===- DecoderBuilder.h - builder of decoders -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MODELS_DECODERBUILDER_H
#define PROTEUS_LIB_MODELS_DECODERBUILDER_H

#include "Transformer.h"

namespace proteus::models {

/// Builder of a decoder-only transformer. Each method builds one part of the
/// model.
class DecoderBuilder {
public:
  using Value = mlir::Value;

  /// `dims` must be complete, that is, a result of `settle`.
  DecoderBuilder(GraphBuilder &graph, const TransformerDims &dims,
                 int64_t batch)
      : graph(graph), dims(dims), batch(batch) {}

  /// Builds the whole model and returns the loss.
  Value build();

private:
  Value embed(Value ids);
  Value head(Value x);
  Value norm(llvm::StringRef path, Value x);

  /// Builds a layer. If `sparse` is set, the layer has experts instead of a
  /// feed-forward block.
  Value layer(Value x, bool sparse);
  Value attention(Value x);
  /// Adds a dropout of `x`, which is the operand of a residual addition.
  /// Returns `x` if the model has no dropout.
  Value dropped(llvm::StringRef path, Value x);
  /// Normalises each head of `x` separately.
  Value normHeads(llvm::StringRef path, Value x, int64_t heads);
  Value latentAttention(Value x);
  Value latentQuery(Value x);
  std::pair<Value, Value> latentKeyValue(Value x);
  /// Adds silu(gate) · up.
  Value gated(llvm::StringRef path, Value gate, Value up);
  Value feedForward(llvm::StringRef path, Value x, int64_t width);
  Value mixture(Value x);
  Value sharedExpert(Value x);

  GraphBuilder &graph;
  const TransformerDims &dims;
  int64_t batch;
};

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_DECODERBUILDER_H
