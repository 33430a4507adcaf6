//===- GNMT.cpp - recurrent translation -------------------------*- C++ -*-===//
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

/// A translation model: an encoder of LSTM layers for the source sentence, and
/// a decoder of LSTM layers that attends to the states of the encoder.
class GNMT : public Model {
public:
  void declare(Dimensions &dimensions) override {
    dimensions.integer("layers", layers, 2, 1000);
    dimensions.integer("hidden", hidden);
    dimensions.integer("vocab", vocab);
    dimensions.integer("source_seq", sourceSeq, 1, 1 << 20);
    dimensions.integer("target_seq", targetSeq, 1, 1 << 20);
    dimensions.flag("dropout", drops);
  }
  Error check() const override { return Error::success(); }

  Value build(GraphBuilder &graph, int64_t batch) const override {
    Value source = graph.indices("source", {batch, sourceSeq});
    Value target = graph.indices("target", {batch, targetSeq});
    Value labels = graph.indices("labels", {batch, targetSeq});
    // Source and target language share one embedding table.
    Value table = graph.parameter("embedding.weight", {vocab, hidden});
    auto embed = [&](StringRef path, Value tokens, int64_t seq) -> Value {
      return graph.create<proteus::nn::EmbeddingOp>(
          graph.tensor({batch, seq, hidden}), graph.pathOf(path), tokens,
          table);
    };
    Value context, x;
    graph.under("encoder", [&] {
      context = encode(graph, embed("embedding", source, sourceSeq));
    });
    graph.under("decoder", [&] {
      x = decode(graph, embed("embedding", target, targetSeq), context);
    });
    x = graph.linear("classifier", x, vocab, /*bias=*/true);
    return graph.crossEntropy("loss", x, labels);
  }

private:
  Value drop(GraphBuilder &graph, StringRef path, Value x) const {
    return drops ? dropout(graph, path, x, 0.2) : x;
  }

  /// Builds one LSTM layer. One product computes the gates from the inputs of
  /// all time steps, and an LSTM operation then runs the recurrent part one
  /// time step after the other.
  Value lstm(GraphBuilder &graph, StringRef path, Value x,
             bool reverse = false) const {
    graph.under(path, [&] {
      Value gates = graph.linear("input", x, 4 * hidden, /*bias=*/true);
      Value weight = graph.parameter("recurrent.weight", {4 * hidden, hidden});
      Value bias = graph.parameter("recurrent.bias", {4 * hidden});
      SmallVector<int64_t> shape(GraphBuilder::shapeOf(x));
      shape.back() = hidden;
      Type states = graph.tensor(shape);
      x = graph
              .create<proteus::nn::LstmOp>(
                  TypeRange{states, gates.getType(), states},
                  graph.pathOf("recurrent"), gates, weight, bias, reverse)
              .getResult();
    });
    return x;
  }

  Value encode(GraphBuilder &graph, Value x) const {
    x = drop(graph, "drop0", x);
    x = graph.concat("layer0.join",
                     {lstm(graph, "layer0.forward", x),
                      lstm(graph, "layer0.backward", x, /*reverse=*/true)});
    x = lstm(graph, "layer1", drop(graph, "drop1", x));
    for (int64_t i = 2; i < layers; ++i) {
      std::string number = std::to_string(i);
      Value y = lstm(graph, "layer" + number, drop(graph, "drop" + number, x));
      x = graph.add("residual" + number, y, x);
    }
    return x;
  }

  Value decode(GraphBuilder &graph, Value x, Value context) const {
    x = lstm(graph, "layer0", drop(graph, "drop0", x));
    Value seen;
    graph.under("attention", [&] { seen = attend(graph, x, context); });
    for (int64_t i = 1; i < layers; ++i) {
      std::string number = std::to_string(i);
      Value y = graph.concat("join" + number, {x, seen});
      y = lstm(graph, "layer" + number, drop(graph, "drop" + number, y));
      x = i == 1 ? y : graph.add("residual" + number, y, x);
    }
    return x;
  }

  /// Builds additive attention, score = g · vᵀ tanh(query + key + bias), with
  /// the learned factor g for normalisation.
  Value attend(GraphBuilder &graph, Value queries, Value context) const {
    int64_t batch = GraphBuilder::shapeOf(queries)[0];
    SmallVector<int64_t> pairs = {batch, targetSeq, sourceSeq, hidden};
    Value query = graph.linear("query", queries, hidden, /*bias=*/false);
    Value key = graph.linear("key", context, hidden, /*bias=*/false);
    Value sum =
        graph.add("sum", graph.broadcast("queries", query, pairs, {0, 1, 3}),
                  graph.broadcast("keys", key, pairs, {0, 2, 3}));
    sum = graph.add("shift", sum, graph.parameter("normalize_bias", {hidden}));
    Value scores = graph.linear("score", graph.tanh("act", sum), 1,
                                /*bias=*/false);
    scores = graph.mul("normalize", scores,
                       graph.parameter("normalize_scalar", {1}));
    scores = graph.reshape("scores", scores, {batch, targetSeq, sourceSeq});
    return graph.matmul("context", graph.softmax("softmax", scores), context);
  }

  int64_t layers = 4, hidden = 1024, vocab = 32320;
  int64_t sourceSeq = 50, targetSeq = 50;
  bool drops = true;
};

} // namespace

void proteus::models::addGNMT(Registry &registry) {
  registry.add(Family{"gnmt", "recurrent translation with attention", {}, [] {
                        return std::make_unique<GNMT>();
                      }});
  registry.add(Preset{"gnmt-v2", "gnmt", "GNMT v2: 4 + 4 layers of 1024 units",
                      "NVIDIA DeepLearningExamples, GNMT v2 (Wu et al. 2016)",
                      [] { return std::make_unique<GNMT>(); }});
}
