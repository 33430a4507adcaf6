//===- DecoderBuilder.h - parts of a decoder --------------------*- C++ -*-===//
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

/// Builds one decoder-only transformer; the parts of a layer are methods.
class DecoderBuilder {
public:
  using Value = mlir::Value;

  /// `dims` are settled.
  DecoderBuilder(GraphBuilder &graph, const TransformerDims &dims,
                 int64_t batch)
      : graph(graph), dims(dims), batch(batch) {}

  /// The whole model; returns the loss.
  Value build();

private:
  Value embed(Value ids);
  Value head(Value x);
  Value norm(llvm::StringRef path, Value x);

  /// `sparse`: with experts in place of the feed-forward block.
  Value layer(Value x, bool sparse);
  Value attention(Value x);
  /// What a layer adds to its input, after dropout.
  Value dropped(llvm::StringRef path, Value x);
  Value normHeads(llvm::StringRef path, Value x, int64_t heads);
  Value latentAttention(Value x);
  /// Queries of latent attention.
  Value latentQuery(Value x);
  /// Keys and values of latent attention.
  std::pair<Value, Value> latentKeyValue(Value x);
  /// silu(gate) · up.
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
