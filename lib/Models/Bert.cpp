//===- Bert.cpp - encoders trained on masked tokens -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "Families.h"

#include "Proteus/Models/Registry.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

namespace {
struct BertDims {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  /// Width of the feed-forward block; 0: 4 · hidden.
  int64_t ffn = 0;
  int64_t vocab = 30522;
  int64_t seq = 512;
  int64_t maxPositions = 512;
  /// Number of token types: in BERT, one type for each of the two sentences of
  /// a sequence.
  int64_t types = 2;
  /// Training task: `mlm` predicts the masked tokens and whether the second
  /// sentence follows the first; `squad` predicts the start and the end of an
  /// answer.
  std::string task = "mlm";
  /// Number of masked tokens of a sequence, which the model predicts; 0: it
  /// predicts all tokens.
  int64_t predictions = 0;
  /// Kernels of attention: `fused` is one kernel; `unfused` is matrix products,
  /// a softmax and copies, with the whole score matrix in memory.
  std::string attentionKernel = "fused";
  /// Probability of dropout; 0: no dropout kernels.
  double dropout = 0;
};

/// BERT: layers with biases and with norms after the residual additions.
class BertModel : public Model {
public:
  explicit BertModel(BertDims dims) : dims(std::move(dims)) {}
  void declare(Dimensions &dimensions) override;
  llvm::Error check() const override;
  Value build(GraphBuilder &graph, int64_t batch) const override;

private:
  Value embed(GraphBuilder &graph, int64_t batch) const;
  Value layer(GraphBuilder &graph, Value x) const;
  Value pretrain(GraphBuilder &graph, Value x) const;
  Value answer(GraphBuilder &graph, Value x) const;

  BertDims dims;
};
} // namespace

void BertModel::declare(Dimensions &dimensions) {
  static constexpr StringRef tasks[] = {"mlm", "squad"};
  static constexpr StringRef kernels[] = {"fused", "unfused"};
  dimensions.integer("layers", dims.layers, 1, Dimensions::mostLayers);
  dimensions.integer("hidden", dims.hidden);
  dimensions.integer("heads", dims.heads);
  dimensions.integer("ffn", dims.ffn);
  dimensions.integer("vocab", dims.vocab);
  dimensions.integer("seq", dims.seq);
  dimensions.integer("max_positions", dims.maxPositions);
  dimensions.integer("types", dims.types);
  dimensions.choice("task", dims.task, tasks);
  dimensions.integer("predictions", dims.predictions);
  dimensions.choice("attention_kernel", dims.attentionKernel, kernels);
  dimensions.share("dropout", dims.dropout, 0.99);
}

llvm::Error BertModel::check() const {
  if (llvm::Error error = requireDimensions({{"layers", dims.layers},
                                             {"hidden", dims.hidden},
                                             {"heads", dims.heads}}))
    return error;
  if (dims.hidden % dims.heads != 0)
    return llvm::createStringError("heads (" + Twine(dims.heads) +
                                   ") must divide hidden (" +
                                   Twine(dims.hidden) + ")");
  if (dims.seq < 2 || dims.seq > dims.maxPositions)
    return llvm::createStringError("seq (" + Twine(dims.seq) +
                                   ") must be from 2 to max_positions (" +
                                   Twine(dims.maxPositions) + ")");
  if (dims.predictions >= dims.seq)
    return llvm::createStringError("predictions (" + Twine(dims.predictions) +
                                   ") must be fewer than seq (" +
                                   Twine(dims.seq) + ")");
  return llvm::Error::success();
}

Value BertModel::embed(GraphBuilder &graph, int64_t batch) const {
  Value ids = graph.indices("ids", {batch, dims.seq});
  Value types = graph.indices("types", {batch, dims.seq});
  Value x = graph.embedding("embedding", ids, dims.vocab, dims.hidden);
  x = addLearnedPositions(graph, x, dims.maxPositions);
  x = graph.add("type_sum", x,
                graph.embedding("type", types, dims.types, dims.hidden));
  return dropoutIfAny(graph, "embedding_drop",
                      graph.layerNorm("embedding_norm", x), dims.dropout);
}

Value BertModel::layer(GraphBuilder &graph, Value x) const {
  Value q = graph.linear("attention.q", x, dims.hidden, /*bias=*/true);
  Value k = graph.linear("attention.k", x, dims.hidden, /*bias=*/true);
  Value v = graph.linear("attention.v", x, dims.hidden, /*bias=*/true);
  Value core = dims.attentionKernel == "unfused"
                   ? unfusedAttention(graph, q, k, v, dims.heads, dims.dropout)
                   : graph.attention("attention.core", q, k, v, dims.heads,
                                     dims.heads, /*causal=*/false);
  Value attended =
      graph.linear("attention.proj", core, dims.hidden, /*bias=*/true);
  attended = dropoutIfAny(graph, "drop_1", attended, dims.dropout);
  x = graph.layerNorm("norm_1", graph.add("residual_1", x, attended));
  Value fed =
      plainFeedForward(graph, "mlp", x, dims.ffn ? dims.ffn : 4 * dims.hidden,
                       "gelu", /*bias=*/true);
  fed = dropoutIfAny(graph, "drop_2", fed, dims.dropout);
  return graph.layerNorm("norm_2", graph.add("residual_2", x, fed));
}

/// Builds the loss of pre-training: prediction of the masked tokens and of the
/// next sentence. The first `predictions` tokens represent the masked tokens;
/// the cost depends only on the number of masked tokens.
Value BertModel::pretrain(GraphBuilder &graph, Value x) const {
  int64_t batch = GraphBuilder::shapeOf(x)[0];
  Value first = splitSequence(graph, "pooler.first", x, {1, dims.seq - 1})[0];
  first = graph.reshape("pooler.row", first, {batch, dims.hidden});
  Value pooled = graph.tanh(
      "pooler.act", graph.linear("pooler.fc", first, dims.hidden, true));
  Value next =
      graph.crossEntropy("next.loss", graph.linear("next.fc", pooled, 2, true),
                         graph.indices("next_labels", {batch}));

  int64_t rows = dims.seq;
  if (dims.predictions) {
    rows = dims.predictions;
    x = splitSequence(graph, "mlm.masked", x, {rows, dims.seq - rows})[0];
  }
  Value y = graph.gelu("mlm.act",
                       graph.linear("mlm.transform", x, dims.hidden, true));
  y = graph.layerNorm("mlm.norm", y);
  Value logits = graph.linearWith(
      "mlm.head", y,
      graph.parameter("embedding.weight", {dims.vocab, dims.hidden}),
      graph.parameter("mlm.head.bias", {dims.vocab}));
  Value masked = graph.crossEntropy("mlm.loss", logits,
                                    graph.indices("labels", {batch, rows}));
  return graph.add("loss", masked, next);
}

/// Builds the loss of question answering: prediction of the first and the last
/// token of the answer in the sequence.
Value BertModel::answer(GraphBuilder &graph, Value x) const {
  int64_t batch = GraphBuilder::shapeOf(x)[0];
  Value both = graph.linear("answer.fc", x, 2, /*bias=*/true);
  auto ends = graph.split("answer.split", both, {1, 1});
  auto loss = [&](const char *name, Value logits) {
    std::string path = name;
    return graph.crossEntropy(
        path + ".loss",
        graph.reshape(path + ".rows", logits, {batch, dims.seq}),
        graph.indices(path + "_labels", {batch}));
  };
  return graph.add("loss", loss("begin", ends[0]), loss("end", ends[1]));
}

Value BertModel::build(GraphBuilder &graph, int64_t batch) const {
  Value x = embed(graph, batch);
  x = graph.repeat("layers", dims.layers, x,
                   [&](Value h) { return layer(graph, h); });
  return dims.task == "squad" ? answer(graph, x) : pretrain(graph, x);
}

void models::addBert(Registry &registry) {
  auto make = [](BertDims dims) {
    return [dims] { return std::make_unique<BertModel>(dims); };
  };
  registry.add(Family{"bert",
                      "encoders trained by masking",
                      {"transformer-encoder"},
                      make(BertDims())});
  BertDims base;
  base.layers = 12, base.hidden = 768, base.heads = 12;
  registry.add(Preset{"bert-base", "bert", "BERT base, pre-training, 110M",
                      "huggingface.co/google-bert/bert-base-uncased",
                      make(base)});
  BertDims large;
  large.layers = 24, large.hidden = 1024, large.heads = 16;
  registry.add(Preset{"bert-large", "bert", "BERT large, pre-training, 336M",
                      "huggingface.co/google-bert/bert-large-uncased",
                      make(large)});
}
