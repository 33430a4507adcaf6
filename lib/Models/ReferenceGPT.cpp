//===- ReferenceGPT.cpp - GPT of the reference ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "Layers.h"

#include "Proteus/Models/Registry.h"

using namespace llvm;
using namespace mlir;
using namespace proteus::models;

namespace {

/// GPT as in the examples of the reference (the published Proteus), with the
/// same kernels: attention is unfused, views are copied in memory, masks and
/// positions are inputs, and no normalisation follows the last layer.
class ReferenceGPT : public Model {
public:
  ReferenceGPT() = default;
  ReferenceGPT(int64_t layers, int64_t hidden, int64_t heads, int64_t vocab)
      : layers(layers), hidden(hidden), heads(heads), vocab(vocab) {}

  void declare(Dimensions &dimensions) override {
    dimensions.integer("layers", layers, 1, Dimensions::mostLayers);
    dimensions.integer("hidden", hidden);
    dimensions.integer("heads", heads);
    dimensions.integer("seq", seq, 1, 1 << 24);
    dimensions.integer("vocab", vocab);
    dimensions.flag("seq_first", seqFirst);
  }

  Error check() const override {
    if (hidden % heads != 0)
      return createStringError("heads=" + Twine(heads) +
                               " must divide hidden=" + Twine(hidden));
    return Error::success();
  }

  Value build(GraphBuilder &graph, int64_t batch) const override {
    Value tokens = graph.indices("tokens", {batch, seq});
    Value positions = graph.indices("positions", {batch, seq});
    Value labels = graph.indices("labels", {batch, seq});
    Value mask = graph.input("mask", {batch, heads, seq, seq});
    Value x = graph.add(
        "embedding.add",
        graph.embedding("embedding.tokens", tokens, vocab, hidden),
        graph.embedding("embedding.positions", positions, seq, hidden));
    x = dropout(graph, "embedding.drop", x, 0.1);
    if (seqFirst)
      x = copy(graph, "embedding.seq_first", x);
    x = graph.repeat("layers", layers, x,
                     [&](Value y) { return layer(graph, y, mask); });
    if (seqFirst)
      x = copy(graph, "batch_first", x);
    // The output head and the token embedding share one table.
    Value table = graph.parameter("embedding.tokens.weight", {vocab, hidden});
    x = graph.linearWith("head", x, table);
    return graph.crossEntropy("loss", x, labels);
  }

private:
  Value layer(GraphBuilder &graph, Value x, Value mask) const {
    Value y = graph.layerNorm("ln_1", x);
    graph.under("attention", [&] { y = attention(graph, y, mask); });
    x = graph.add("attention.residual", x, y);
    y = graph.layerNorm("ln_2", x);
    y = graph.linear("mlp.fc1", y, 4 * hidden, /*bias=*/true);
    y = graph.linear("mlp.fc2", graph.gelu("mlp.act", y), hidden,
                     /*bias=*/true);
    return graph.add("mlp.residual", x, dropout(graph, "mlp.drop", y, 0.1));
  }

  /// Builds queries, keys and values of all heads. Queries and values are
  /// `[batch, heads, seq, dim]`; keys are `[batch, heads, dim, seq]`.
  GraphBuilder::Values project(GraphBuilder &graph, Value x) const {
    int64_t batch = GraphBuilder::shapeOf(x)[0], dim = hidden / heads;
    x = graph.linear("qkv", x, 3 * hidden, /*bias=*/true);
    x = graph.reshape("heads", x, {batch, seq, heads, 3 * dim});
    x = copy(graph, "heads_copy", x);
    if (!seqFirst)
      x = graph.transpose("heads_first", x, {0, 2, 1, 3});
    // `split_copy` copies queries, keys and values in one kernel. In the
    // backward pass, one kernel concatenates their gradients.
    GraphBuilder::Values parts =
        graph.split("split", graph.concat("split_copy", {x}), {dim, dim, dim});
    const char *const names[] = {"query", "keys", "values"};
    for (auto [number, part] : llvm::enumerate(parts)) {
      std::string name = names[number];
      bool keys = number == 1;
      if (seqFirst)
        part = graph.transpose(name, copy(graph, name + "_copy", part),
                               keys ? ArrayRef<int64_t>{0, 2, 3, 1}
                                    : ArrayRef<int64_t>{0, 2, 1, 3});
      else if (keys)
        part = graph.transpose(name, part, {0, 1, 3, 2});
    }
    return parts;
  }

  Value attention(GraphBuilder &graph, Value x, Value mask) const {
    int64_t batch = GraphBuilder::shapeOf(x)[0];
    // In the reference, operands of matrix products have a single dimension for
    // batch and heads together; other tensors have two. With `seqFirst`, each
    // reshape between these shapes is a copy.
    auto reshaped = [&](const std::string &path, Value value) {
      return seqFirst ? copy(graph, path, value) : value;
    };
    GraphBuilder::Values parts = project(graph, x);
    Value scores = graph.matmul("scores", parts[0], parts[1]);
    scores = graph.mul("mask", reshaped("scores_copy", scores), mask);
    Value weights =
        dropout(graph, "drop", graph.softmax("softmax", scores), 0.1);
    x = graph.matmul("context", reshaped("weights_copy", weights), parts[2]);
    x = graph.transpose("tokens_first", reshaped("context_copy", x),
                        {0, 2, 1, 3});
    x = graph.reshape("merge", x, {batch, seq, hidden});
    x = graph.linear("proj", copy(graph, "merge_copy", x), hidden,
                     /*bias=*/true);
    return dropout(graph, "proj_drop", x, 0.1);
  }

  int64_t layers = 12, hidden = 768, heads = 12, seq = 1024, vocab = 40576;
  /// True if activations are `[seq, batch, ..]`, as in Megatron-LM, instead of
  /// `[batch, seq, ..]`. Tensor sizes do not depend on this order, so the graph
  /// always has the batch first, and `seqFirst` only adds the copies that
  /// convert between the orders.
  bool seqFirst = false;
};

} // namespace

void proteus::models::addReferenceGPTs(Registry &registry) {
  registry.add(
      Family{"gpt-reference", "GPT as in the published Proteus", {}, [] {
               return std::make_unique<ReferenceGPT>();
             }});
  std::string source = "the example of the published Proteus";
  registry.add(Preset{"gpt2-reference", "gpt-reference",
                      "the gpt-2 of the published Proteus", source,
                      [] { return std::make_unique<ReferenceGPT>(); }});
  registry.add(Preset{"gpt1.5b-reference", "gpt-reference",
                      "the gpt-1.5b of the published Proteus", source, [] {
                        return std::make_unique<ReferenceGPT>(48, 1600, 16,
                                                              50304);
                      }});
}
