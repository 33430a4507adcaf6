//===- EncoderDecoder.cpp - encoder-decoder transformers --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncoderDecoder.h"

#include "Blocks.h"
#include "Families.h"

#include "Proteus/Models/Registry.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

void EncoderDecoderModel::declare(Dimensions &dimensions) {
  static constexpr StringRef activations[] = {"relu", "gelu"};
  dimensions.integer("encoder_layers", dims.encoderLayers, 1,
                     Dimensions::mostLayers);
  dimensions.integer("decoder_layers", dims.decoderLayers, 1,
                     Dimensions::mostLayers);
  dimensions.integer("layers", dims.layers, 2, 2 * Dimensions::mostLayers);
  dimensions.integer("hidden", dims.hidden);
  dimensions.integer("heads", dims.heads);
  dimensions.integer("head_dim", dims.headDim);
  dimensions.integer("ffn", dims.ffn);
  dimensions.integer("vocab", dims.vocab);
  dimensions.integer("seq", dims.seq);
  dimensions.integer("target_seq", dims.targetSeq);
  dimensions.choice("activation", dims.activation, activations);
  dimensions.flag("pre_norm", dims.preNorm);
  dimensions.flag("bias", dims.bias);
  dimensions.integer("relative_buckets", dims.relativeBuckets, 0);
  dimensions.remark("arch");
}

llvm::Error EncoderDecoderModel::check() const {
  if (dims.layers % 2 != 0)
    return llvm::createStringError(
        "layers (" + Twine(dims.layers) +
        ") must be even: half of them are the encoder's");
  if (!dims.layers)
    if (llvm::Error error =
            requireDimensions({{"encoder_layers", dims.encoderLayers},
                               {"decoder_layers", dims.decoderLayers}}))
      return error;
  if (llvm::Error error = requireDimensions({{"hidden", dims.hidden},
                                             {"heads", dims.heads},
                                             {"vocab", dims.vocab},
                                             {"seq", dims.seq}}))
    return error;
  return dims.headDim ? llvm::Error::success()
                      : checkHeadsDivide(dims.heads, dims.hidden);
}

/// Returns `dims` with values for all dimensions that are not given.
static EncoderDecoderDims settle(EncoderDecoderDims dims) {
  if (dims.layers)
    dims.encoderLayers = dims.decoderLayers = dims.layers / 2;
  if (!dims.headDim)
    dims.headDim = dims.hidden / dims.heads;
  if (!dims.ffn)
    dims.ffn = 4 * dims.hidden;
  if (!dims.targetSeq)
    dims.targetSeq = dims.seq;
  return dims;
}

//===----------------------------------------------------------------------===//
// Graph
//===----------------------------------------------------------------------===//

namespace {
class EncoderDecoderBuilder {
public:
  EncoderDecoderBuilder(GraphBuilder &graph, const EncoderDecoderDims &dims,
                        int64_t batch)
      : graph(graph), dims(dims), batch(batch) {}
  Value build();

private:
  Value norm(StringRef path, Value x);
  /// Builds `block`, a residual addition, and a norm. The norm precedes the
  /// block if `preNorm` is set. Otherwise it follows the addition.
  Value residual(StringRef name, Value x,
                 llvm::function_ref<Value(Value)> block);
  /// Adds an operation that represents the relative position bias of `table`.
  /// T5 adds this bias to the scores. Here the scores are inside the attention
  /// operation, so the added operation reads `table` and `queries` and returns
  /// the queries. A split of the heads then applies to `table` and to the
  /// queries.
  Value addRelative(StringRef path, Value queries, Value table);
  Value attention(StringRef path, Value x, Value source, Value relative,
                  bool causal);
  Value feedForward(Value x);
  /// Returns the table of relative position biases of the current module, which
  /// is the encoder or the decoder. Returns null if there are no tables.
  Value relativeTable();
  Value encode(Value ids);
  Value decode(Value ids, Value encoded);

  GraphBuilder &graph;
  const EncoderDecoderDims &dims;
  int64_t batch;
};
} // namespace

Value EncoderDecoderBuilder::norm(StringRef path, Value x) {
  return dims.preNorm ? graph.rmsNorm(path, x) : graph.layerNorm(path, x);
}

Value EncoderDecoderBuilder::residual(StringRef name, Value x,
                                      llvm::function_ref<Value(Value)> block) {
  std::string normPath = ("norm_" + name).str();
  std::string addPath = ("residual_" + name).str();
  if (dims.preNorm)
    return graph.add(addPath, x, block(norm(normPath, x)));
  return norm(normPath, graph.add(addPath, x, block(x)));
}

Value EncoderDecoderBuilder::addRelative(StringRef path, Value queries,
                                         Value table) {
  Builder builder(queries.getContext());
  auto dimensions = [&](ArrayRef<StringRef> names) -> Attribute {
    return builder.getStrArrayAttr(names);
  };
  int64_t length = GraphBuilder::shapeOf(queries)[1];
  auto generic = graph.create<nn::GenericOp>(
      TypeRange{queries.getType()}, graph.pathOf(path),
      ValueRange{queries, table},
      builder.getStrArrayAttr({"batch", "seq", "head", "dim", "bucket"}),
      ArrayRef<int64_t>{batch, length, dims.heads, dims.headDim,
                        dims.relativeBuckets},
      builder.getStrArrayAttr(
          {"parallel", "parallel", "parallel", "opaque", "opaque"}),
      builder.getArrayAttr({dimensions({"batch", "seq", "head dim"}),
                            dimensions({"bucket", "head"}),
                            dimensions({"batch", "seq", "head dim"})}),
      llvm::APFloat(0.0), /*bytes=*/FloatAttr(), /*matrix=*/false,
      builder.getF64FloatAttr(0));
  return generic.getResult(0);
}

Value EncoderDecoderBuilder::attention(StringRef path, Value x, Value source,
                                       Value relative, bool causal) {
  int64_t width = dims.heads * dims.headDim;
  auto named = [&](const char *name) { return (path + name).str(); };
  Value q = graph.linear(named(".q"), x, width, dims.bias);
  Value k = graph.linear(named(".k"), source, width, dims.bias);
  Value v = graph.linear(named(".v"), source, width, dims.bias);
  if (relative)
    q = addRelative(named(".relative"), q, relative);
  Value core =
      graph.attention(named(".core"), q, k, v, dims.heads, dims.heads, causal);
  return graph.linear(named(".proj"), core, dims.hidden, dims.bias);
}

Value EncoderDecoderBuilder::feedForward(Value x) {
  return plainFeedForward(graph, "mlp", x, dims.ffn, dims.activation,
                          dims.bias);
}

Value EncoderDecoderBuilder::relativeTable() {
  if (!dims.relativeBuckets)
    return {};
  return graph.parameter("relative.weight", {dims.relativeBuckets, dims.heads});
}

Value EncoderDecoderBuilder::encode(Value x) {
  graph.under("encoder", [&] {
    Value table = relativeTable();
    x = graph.repeat("layers", dims.encoderLayers, x, [&](Value h) {
      h = residual("1", h, [&](Value y) {
        return attention("attention", y, y, table, /*causal=*/false);
      });
      return residual("2", h, [&](Value y) { return feedForward(y); });
    });
    if (dims.preNorm)
      x = norm("norm_f", x);
  });
  return x;
}

Value EncoderDecoderBuilder::decode(Value x, Value encoded) {
  graph.under("decoder", [&] {
    Value table = relativeTable();
    x = graph.repeat("layers", dims.decoderLayers, x, [&](Value h) {
      h = residual("1", h, [&](Value y) {
        return attention("attention", y, y, table, /*causal=*/true);
      });
      h = residual("2", h, [&](Value y) {
        return attention("cross", y, encoded, Value(), /*causal=*/false);
      });
      return residual("3", h, [&](Value y) { return feedForward(y); });
    });
    if (dims.preNorm)
      x = norm("norm_f", x);
  });
  return x;
}

Value EncoderDecoderBuilder::build() {
  Value source = graph.indices("source", {batch, dims.seq});
  Value target = graph.indices("target", {batch, dims.targetSeq});
  Value labels = graph.indices("labels", {batch, dims.targetSeq});
  Value table = graph.parameter("embedding.weight", {dims.vocab, dims.hidden});
  auto embed = [&](const char *path, Value ids, int64_t length) -> Value {
    return graph.create<nn::EmbeddingOp>(
        graph.tensor({batch, length, dims.hidden}), path, ids, table);
  };
  Value encoded = encode(embed("source_embedding", source, dims.seq));
  Value decoded =
      decode(embed("target_embedding", target, dims.targetSeq), encoded);
  return graph.crossEntropy("loss", graph.linearWith("head", decoded, table),
                            labels);
}

Value EncoderDecoderModel::build(GraphBuilder &graph, int64_t batch) const {
  EncoderDecoderDims settled = settle(dims);
  return EncoderDecoderBuilder(graph, settled, batch).build();
}

//===----------------------------------------------------------------------===//
// Presets
//===----------------------------------------------------------------------===//

/// Returns the dimensions of Transformer big, the larger of the two published
/// translation models.
static EncoderDecoderDims transformerBig() {
  EncoderDecoderDims dims;
  dims.encoderLayers = dims.decoderLayers = 6;
  dims.hidden = 1024;
  dims.heads = 16;
  dims.vocab = 33712;
  dims.seq = 128;
  return dims;
}

static EncoderDecoderDims t5(int64_t layers, int64_t hidden, int64_t heads,
                             int64_t headDim, int64_t ffn) {
  EncoderDecoderDims dims;
  dims.encoderLayers = dims.decoderLayers = layers;
  dims.hidden = hidden;
  dims.heads = heads;
  dims.headDim = headDim;
  dims.ffn = ffn;
  dims.vocab = 32128;
  dims.seq = 512;
  dims.targetSeq = 114;
  dims.preNorm = true;
  dims.bias = false;
  dims.relativeBuckets = 32;
  return dims;
}

void models::addEncoderDecoders(Registry &registry) {
  auto make = [](EncoderDecoderDims dims) {
    return [dims] { return std::make_unique<EncoderDecoderModel>(dims); };
  };
  registry.add(Family{"encoder-decoder",
                      "transformers with an encoder and a decoder",
                      {"transformer-encdec"},
                      make(transformerBig())});
  registry.add(Preset{"transformer-big", "encoder-decoder",
                      "Transformer big, WMT English-German, 211M",
                      "arXiv:1706.03762; vocabulary of fairseq's joined "
                      "dictionary",
                      make(transformerBig())});
  for (auto [name, label, dims] :
       {std::tuple("t5-small", "T5 small, 61M", t5(6, 512, 8, 64, 2048)),
        std::tuple("t5-base", "T5 base, 223M", t5(12, 768, 12, 64, 3072)),
        std::tuple("t5-large", "T5 large, 738M", t5(24, 1024, 16, 64, 4096)),
        std::tuple("t5-3b", "T5 3B", t5(24, 1024, 32, 128, 16384)),
        std::tuple("t5-11b", "T5 11B", t5(24, 1024, 128, 128, 65536))})
    registry.add(Preset{name, "encoder-decoder", label,
                        "huggingface.co/google-t5", make(dims)});
}
