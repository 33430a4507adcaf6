//===- TransformerXL.cpp - transformers with a memory -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "Families.h"
#include "Layers.h"

#include "Proteus/Models/Registry.h"

#include <cmath>

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

namespace {
struct TransformerXLDims {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  /// Size of a head; 0: hidden / heads.
  int64_t headDim = 0;
  /// Width of the feed-forward block; 0: 4 · hidden.
  int64_t ffn = 0;
  int64_t vocab = 267735;
  int64_t seq = 0;
  /// Number of tokens of the preceding segment to which tokens attend; 0: seq.
  int64_t memLen = 0;
  /// Index of the first word of each cluster of the vocabulary, except the
  /// first cluster. The first cluster has the most frequent words, the last
  /// cluster the rarest words.
  std::vector<int64_t> cutoffs = {19997, 39997, 199997};
  /// Factor by which the embedding width decreases from each cluster to the
  /// next.
  int64_t divVal = 1;
  /// Percentage of the tokens of a sequence that are in each cluster, except
  /// the first cluster, which has the remaining tokens. Each cluster has at
  /// least one token.
  std::vector<int64_t> tailPercent = {3, 4, 1};
  /// Probability of dropout; 0: no dropout kernels.
  double dropout = 0;
  /// True if dropout is also applied to attention weights.
  bool attentionDropout = false;
};

/// A decoder that attends to the preceding segment (the memory) and has an
/// adaptive softmax.
class TransformerXLModel : public Model {
public:
  explicit TransformerXLModel(TransformerXLDims dims) : dims(std::move(dims)) {}
  void declare(Dimensions &dimensions) override;
  llvm::Error check() const override;
  Value build(GraphBuilder &graph, int64_t batch) const override;

private:
  TransformerXLDims dims;
};

/// Part of the vocabulary: words of similar frequency.
struct Cluster {
  int64_t words;
  /// Width of the embedding vectors of the cluster.
  int64_t width;
  /// Number of tokens of a sequence that are in the cluster.
  int64_t tokens;
};
} // namespace

void TransformerXLModel::declare(Dimensions &dimensions) {
  dimensions.integer("layers", dims.layers, 1, Dimensions::mostLayers);
  dimensions.integer("hidden", dims.hidden);
  dimensions.integer("heads", dims.heads);
  dimensions.integer("head_dim", dims.headDim);
  dimensions.integer("ffn", dims.ffn);
  dimensions.integer("vocab", dims.vocab);
  dimensions.integer("seq", dims.seq);
  dimensions.integer("mem_len", dims.memLen);
  dimensions.list("cutoffs", dims.cutoffs);
  dimensions.integer("div_val", dims.divVal, 1, 1024);
  dimensions.list("tail_percent", dims.tailPercent, 1, 100);
  dimensions.share("dropout", dims.dropout, 0.99);
  dimensions.flag("attention_dropout", dims.attentionDropout);
}

static std::vector<Cluster> clustersOf(const TransformerXLDims &dims) {
  std::vector<Cluster> clusters;
  int64_t begin = 0, width = dims.hidden, rest = dims.seq;
  for (size_t i = 0; i <= dims.cutoffs.size(); ++i) {
    int64_t end = i < dims.cutoffs.size() ? dims.cutoffs[i] : dims.vocab;
    int64_t tokens =
        i == 0 ? 0
               : std::max<int64_t>(1, dims.seq * dims.tailPercent[i - 1] / 100);
    clusters.push_back({end - begin, width, tokens});
    rest -= tokens;
    begin = end;
    width /= dims.divVal;
  }
  clusters.front().tokens = rest;
  return clusters;
}

llvm::Error TransformerXLModel::check() const {
  if (llvm::Error error = requireDimensions({{"layers", dims.layers},
                                             {"hidden", dims.hidden},
                                             {"heads", dims.heads},
                                             {"seq", dims.seq}}))
    return error;
  if (!dims.headDim)
    if (llvm::Error error = checkHeadsDivide(dims.heads, dims.hidden))
      return error;
  if (dims.cutoffs.empty() || !llvm::is_sorted(dims.cutoffs) ||
      llvm::adjacent_find(dims.cutoffs) != dims.cutoffs.end() ||
      dims.cutoffs.back() >= dims.vocab)
    return llvm::createStringError(
        "cutoffs must ascend and end before vocab (" + Twine(dims.vocab) + ")");
  if (dims.tailPercent.size() != dims.cutoffs.size())
    return llvm::createStringError(
        "tail_percent has " + Twine(dims.tailPercent.size()) +
        " numbers, cutoffs " + Twine(dims.cutoffs.size()));
  for (const Cluster &cluster : clustersOf(dims))
    if (cluster.tokens < 1 || cluster.width < 1)
      return llvm::createStringError(
          "a cluster of the vocabulary has no tokens or no width: seq is too "
          "short, tail_percent too large, or div_val too large for hidden");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Graph
//===----------------------------------------------------------------------===//

namespace {
class TransformerXLBuilder {
public:
  TransformerXLBuilder(GraphBuilder &graph, const TransformerXLDims &dims,
                       int64_t batch)
      : graph(graph), dims(dims), clusters(clustersOf(dims)), batch(batch),
        headDim(dims.headDim ? dims.headDim : dims.hidden / dims.heads),
        memLen(dims.memLen ? dims.memLen : dims.seq) {}
  Value build();

private:
  Value embed();
  Value layer(Value x);
  Value dropped(StringRef path, Value x) {
    return dropoutIfAny(graph, path, x, dims.dropout);
  }
  Value attention(Value x);
  /// Converts `[batch, length, heads · dim]` to `[batch, heads, length, dim]`.
  Value apart(StringRef path, Value x);
  /// Masks, for each query, the keys of later tokens of the same segment. Keys
  /// of the memory are not masked.
  Value mask(Value scores);
  Value loss(Value x);
  /// Returns the embedding table of a cluster. The table of the first cluster
  /// has an additional row for each other cluster, as the adaptive softmax
  /// requires.
  Value table(size_t number);
  /// Returns the weight of the projection from the width of a cluster to the
  /// width of the model. Returns null if all clusters have the width of the
  /// model (`divVal` is 1).
  Value projection(size_t number);

  GraphBuilder &graph;
  const TransformerXLDims &dims;
  std::vector<Cluster> clusters;
  int64_t batch, headDim, memLen;
  Value memory, positions, contentBias, positionBias;
};
} // namespace

/// Returns the path of `part` of cluster `number`.
static std::string clusterPath(const char *part, size_t number) {
  return std::string(part) + "_" + std::to_string(number);
}

Value TransformerXLBuilder::table(size_t number) {
  int64_t rows =
      clusters[number].words + (number == 0 ? clusters.size() - 1 : 0);
  return graph.parameter(clusterPath("embedding", number) + ".weight",
                         {rows, clusters[number].width});
}

Value TransformerXLBuilder::projection(size_t number) {
  if (dims.divVal == 1)
    return {};
  return graph.parameter(clusterPath("projection", number) + ".weight",
                         {dims.hidden, clusters[number].width});
}

/// Adds the embedding lookups, one per cluster. In this model the tokens of a
/// cluster are contiguous in the sequence; their positions have no effect on
/// the cost.
Value TransformerXLBuilder::embed() {
  GraphBuilder::Values runs;
  for (auto [number, cluster] : llvm::enumerate(clusters)) {
    Value ids =
        graph.indices(clusterPath("ids", number), {batch, cluster.tokens});
    Value x = graph.create<nn::EmbeddingOp>(
        graph.tensor({batch, cluster.tokens, cluster.width}),
        clusterPath("embedding", number), ids, table(number));
    if (Value weight = projection(number))
      x = graph.linearWith(clusterPath("projection", number), x, weight);
    runs.push_back(x);
  }
  return joinSequences(graph, "embedding_join", runs);
}

Value TransformerXLBuilder::apart(StringRef path, Value x) {
  int64_t length = GraphBuilder::shapeOf(x)[1];
  Value heads = graph.reshape((path + ".heads").str(), x,
                              {batch, length, dims.heads, headDim});
  return graph.transpose((path + ".apart").str(), heads, {0, 2, 1, 3});
}

Value TransformerXLBuilder::mask(Value scores) {
  auto parts = graph.split("attention.segments", scores, {memLen, dims.seq});
  parts[1] = graph.create<nn::CausalMaskOp>(
      parts[1].getType(), graph.pathOf("attention.mask"), parts[1]);
  return graph.concat("attention.scores", parts);
}

/// Builds unfused attention, as in the published model: a score is the sum of a
/// content score and a position score, each with a bias that all layers share.
///
/// The activation `r`, which is computed from position differences, is the same
/// for all samples. Its gradient is therefore complete only after the last
/// micro-batch, so a step must have only one micro-batch.
Value TransformerXLBuilder::attention(Value x) {
  int64_t width = dims.heads * headDim, keys = memLen + dims.seq;
  Value all = joinSequences(graph, "attention.context", {memory, x});
  Value qkv = graph.linear("attention.qkv", all, 3 * width, /*bias=*/false);
  auto parts = graph.split("attention.split", qkv, {width, width, width});
  // The product also computes queries for the tokens of the memory. No
  // operation reads these queries.
  Value q = splitSequence(graph, "attention.queries", parts[0],
                          {memLen, dims.seq})[1];
  Value k = apart("attention.k", parts[1]), v = apart("attention.v", parts[2]);
  Value content = apart("attention.q_content",
                        graph.add("attention.content", q, contentBias));
  Value scores = graph.matmul("attention.content_scores", content, k,
                              /*transposeRhs=*/true);

  Value r = graph.linear("attention.r", positions, width, /*bias=*/false);
  r = graph.reshape("attention.r.heads", r, {keys, dims.heads, headDim});
  r = graph.transpose("attention.r.apart", r, {1, 0, 2});
  r = graph.broadcast("attention.r.repeat", r,
                      {batch, dims.heads, keys, headDim}, {1, 2, 3});
  Value position = apart("attention.q_position",
                         graph.add("attention.position", q, positionBias));
  Value positionScores = graph.matmul("attention.position_scores", position, r,
                                      /*transposeRhs=*/true);
  // The published model shifts the rows of the position scores, so that columns
  // are positions of keys instead of position differences. Here a copy, which
  // has the same cost, represents this shift.
  positionScores = copy(graph, "attention.shift", positionScores);

  scores = graph.add("attention.sum", scores, positionScores);
  scores = graph.scale("attention.scale", scores,
                       1 / std::sqrt(static_cast<double>(headDim)));
  Value shares = graph.softmax("attention.softmax", mask(scores));
  if (dims.attentionDropout)
    shares = dropped("attention.drop", shares);
  Value core = graph.matmul("attention.core", shares, v);
  core = graph.transpose("attention.core.join", core, {0, 2, 1, 3});
  core = graph.reshape("attention.core.rows", core, {batch, dims.seq, width});
  return graph.linear("attention.proj", core, dims.hidden, /*bias=*/false);
}

Value TransformerXLBuilder::layer(Value x) {
  Value attended = dropped("drop_1", attention(x));
  x = graph.layerNorm("norm_1", graph.add("residual_1", x, attended));
  Value up = graph.linear("mlp.fc1", x, dims.ffn ? dims.ffn : 4 * dims.hidden,
                          /*bias=*/true);
  up = dropped("mlp.drop", graph.relu("mlp.act", up));
  Value fed = graph.linear("mlp.fc2", up, dims.hidden, /*bias=*/true);
  fed = dropped("drop_2", fed);
  return graph.layerNorm("norm_2", graph.add("residual_2", x, fed));
}

/// Builds the loss of the adaptive softmax, which is a sum. One summand is the
/// cross-entropy of all tokens over the words of the first cluster and one
/// entry for each other cluster. The other summands are, for each other
/// cluster, the cross-entropy of its tokens over its words.
Value TransformerXLBuilder::loss(Value x) {
  SmallVector<int64_t> lengths;
  for (const Cluster &cluster : clusters)
    lengths.push_back(cluster.tokens);
  auto runs = splitSequence(graph, "loss.clusters", x, lengths);
  Value total;
  for (auto [number, cluster] : llvm::enumerate(clusters)) {
    Value hidden = number == 0 ? x : runs[number];
    // The first cluster has a separate projection. Each other cluster uses the
    // transposed projection of its embedding.
    if (dims.divVal > 1 && number == 0)
      hidden = graph.linear("head_projection", hidden, cluster.width,
                            /*bias=*/false);
    else if (Value weight = projection(number))
      hidden = graph.linearWith(
          clusterPath("head_projection", number), hidden,
          graph.transpose(clusterPath("head_transpose", number), weight,
                          {1, 0}));
    Value words = table(number);
    Value bias = graph.parameter(clusterPath("head", number) + ".bias",
                                 {GraphBuilder::shapeOf(words)[0]});
    Value logits =
        graph.linearWith(clusterPath("head", number), hidden, words, bias);
    Value labels = graph.indices(clusterPath("labels", number),
                                 GraphBuilder::shapeOf(hidden).take_front(2));
    Value part =
        graph.crossEntropy(clusterPath("loss", number), logits, labels);
    total =
        total ? graph.add(clusterPath("loss_sum", number), total, part) : part;
  }
  return total;
}

Value TransformerXLBuilder::build() {
  Value x = dropped("embedding_drop", embed());
  int64_t width = dims.heads * headDim;
  // `memory` holds hidden states of the preceding segment. In this model all
  // layers read the same states. In the published model each layer reads states
  // of its own; this takes the same time but more memory.
  memory = graph.input("memory", {batch, memLen, dims.hidden});
  positions =
      graph.create<nn::FillOp>(graph.tensor({memLen + dims.seq, dims.hidden}),
                               "positions", llvm::APFloat(0.5));
  contentBias = graph.parameter("content_bias", {width});
  positionBias = graph.parameter("position_bias", {width});
  x = graph.repeat("layers", dims.layers, x, [&](Value h) { return layer(h); });
  return loss(x);
}

Value TransformerXLModel::build(GraphBuilder &graph, int64_t batch) const {
  return TransformerXLBuilder(graph, dims, batch).build();
}

//===----------------------------------------------------------------------===//
// Presets
//===----------------------------------------------------------------------===//

void models::addTransformerXL(Registry &registry) {
  auto make = [](TransformerXLDims dims) {
    return [dims] { return std::make_unique<TransformerXLModel>(dims); };
  };
  registry.add(Family{
      "transformer-xl",
      "decoders that read the previous segment, with an adaptive softmax",
      {},
      make(TransformerXLDims())});
  const char *source = "github.com/NVIDIA/DeepLearningExamples, "
                       "PyTorch/LanguageModeling/Transformer-XL";
  TransformerXLDims base;
  base.layers = 16, base.hidden = 512, base.heads = 8, base.seq = 192;
  registry.add(Preset{"transformer-xl-base", "transformer-xl",
                      "Transformer-XL base, WikiText-103, 192M", source,
                      make(base)});
  TransformerXLDims large;
  large.layers = 18, large.hidden = 1024, large.heads = 16, large.seq = 384;
  large.divVal = 4, large.attentionDropout = true;
  registry.add(Preset{"transformer-xl-large", "transformer-xl",
                      "Transformer-XL large, WikiText-103, 285M", source,
                      make(large)});
}
