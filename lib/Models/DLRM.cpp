//===- DLRM.cpp - recommendation with tables --------------------*- C++ -*-===//
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
using namespace proteus;
using namespace proteus::models;

namespace {

/// A recommendation model. The network `bottom` computes a vector from the
/// dense features, and lookups in tables give one vector per sparse feature.
/// The network `top` computes a click probability from the vector of `bottom`
/// and the dot products of all pairs of vectors.
class DLRM : public Model {
public:
  void declare(Dimensions &dimensions) override {
    dimensions.integer("dense", dense);
    dimensions.integer("tables", tables, 1, 100000);
    dimensions.list("rows", rows);
    dimensions.integer("embedding", embedding);
    dimensions.integer("bag", bag, 1, 1 << 20);
    dimensions.list("bottom", bottom);
    dimensions.list("top", top);
    dimensions.flag("copies", copies);
    dimensions.flag("row_updates", rowUpdates);
  }

  Error check() const override {
    if (rows.size() != 1 && static_cast<int64_t>(rows.size()) != tables)
      return createStringError("rows must be one number for all tables, or "
                               "tables=" +
                               Twine(tables) + " numbers; got " +
                               Twine(rows.size()));
    if (bottom.back() != embedding)
      return createStringError(
          "the last layer of bottom, " + Twine(bottom.back()) +
          ", must be as wide as embedding=" + Twine(embedding));
    if (top.back() != 1)
      return createStringError("the last layer of top, " + Twine(top.back()) +
                               ", must be 1: a probability");
    return Error::success();
  }

  Value build(GraphBuilder &graph, int64_t batch) const override {
    Value x = graph.input("dense", {batch, dense});
    Value clicked = graph.input("clicked", {batch, 1});
    x = network(graph, "bottom", x, bottom, /*lastActs=*/true);
    GraphBuilder::Values features{x};
    lookUp(graph, batch, features);
    Value z = graph.concat("features.join", features);
    z = graph.reshape("features.vectors", z, {batch, tables + 1, embedding});
    z = copies ? products(graph, z)
               : Value(graph.create<nn::InteractionOp>(
                     graph.tensor({batch, (tables + 1) * tables / 2}),
                     graph.pathOf("interaction"), z));
    z = graph.concat("top.join", {x, z});
    z = network(graph, "top", z, top, /*lastActs=*/false);
    return graph.mseLoss("loss", graph.sigmoid("top.probability", z), clicked);
  }

  int64_t dense = 13, tables = 26, embedding = 128, bag = 1;
  /// Number of rows of each table, or a single number for all tables.
  std::vector<int64_t> rows = {1000000};
  std::vector<int64_t> bottom = {512, 256, 128};
  std::vector<int64_t> top = {1024, 1024, 512, 256, 1};
  /// True if the model has the kernels of the reference (the published
  /// Proteus): every table is a separate parameter, the dot products of
  /// features are several operations, and views are copied in memory.
  bool copies = false;
  /// True if a step updates only the table rows that the batch looks up, by
  /// gradient descent. If false, the optimizer of the other parameters updates
  /// whole tables.
  bool rowUpdates = true;

private:
  /// Adds the dot products of all pairs of vectors, computed as in the
  /// reference. With n = tables + 1 vectors, one product computes an n × n
  /// matrix for all ordered pairs. The first n (n - 1) / 2 elements of the
  /// matrix represent the unordered pairs; only the number of pairs affects the
  /// cost.
  Value products(GraphBuilder &graph, Value x) const {
    int64_t batch = GraphBuilder::shapeOf(x)[0], count = tables + 1;
    int64_t pairs = count * tables / 2;
    graph.under("interaction", [&] {
      x = copy(graph, "vectors", x);
      Value turned = graph.transpose("turned", x, {0, 2, 1});
      x = graph.matmul("products", x, turned);
      x = graph.reshape("flatten", x, {batch, count * count});
      x = copy(graph, "flatten_copy", x);
      x = graph.split("pairs", graph.concat("pairs_copy", {x}),
                      {pairs, count * count - pairs})[0];
    });
    return x;
  }

  static Value network(GraphBuilder &graph, StringRef name, Value x,
                       ArrayRef<int64_t> widths, bool lastActs) {
    graph.under(name, [&] {
      for (auto [i, width] : llvm::enumerate(widths)) {
        std::string number = std::to_string(i + 1);
        x = graph.linear("fc" + number, x, width, /*bias=*/true);
        if (lastActs || i + 1 < widths.size())
          x = graph.relu("act" + number, x);
      }
    });
    return x;
  }

  /// Adds the lookups and appends their results to `features`. If all tables
  /// have the same size, and `copies` is not set, they form one stacked
  /// parameter, which a strategy can split over tables. Otherwise each table is
  /// a separate parameter, so that a strategy can assign it to devices.
  void lookUp(GraphBuilder &graph, int64_t batch,
              GraphBuilder::Values &features) const {
    auto bags = [&](StringRef path, Value ids, Value table, Type type) {
      return graph.create<nn::EmbeddingBagOp>(type, path, ids, table,
                                              rowUpdates);
    };
    auto parameter = [&](StringRef path, GraphBuilder::Shape shape) {
      return rowUpdates ? graph.table(path, shape)
                        : graph.parameter(path, shape);
    };
    if (!copies && llvm::all_equal(rows)) {
      Value ids = graph.indices("ids", {batch, tables, bag});
      Value stack = parameter("tables.weight", {tables, rows[0], embedding});
      Value found =
          bags("tables", ids, stack, graph.tensor({batch, tables, embedding}));
      features.push_back(flatten(graph, "features.flatten", found));
      return;
    }
    for (int64_t i = 0; i < tables; ++i) {
      std::string name = "tables[" + std::to_string(i) + "]";
      Value ids = graph.indices("ids[" + std::to_string(i) + "]", {batch, bag});
      Value table = parameter(name + ".weight",
                              {rows[rows.size() == 1 ? 0 : i], embedding});
      features.push_back(
          bags(name, ids, table, graph.tensor({batch, embedding})));
    }
  }
};

} // namespace

void proteus::models::addDLRM(Registry &registry) {
  registry.add(Family{"dlrm", "recommendation with tables", {}, [] {
                        return std::make_unique<DLRM>();
                      }});
  auto criteo = [&](StringRef name, StringRef description,
                    std::vector<int64_t> rows) {
    registry.add(Preset{("dlrm-criteo-" + name).str(), "dlrm",
                        description.str(),
                        "NVIDIA DeepLearningExamples, DLRM (Naumov et al. "
                        "2019); rows of the Criteo 1TB click logs",
                        [rows] {
                          auto model = std::make_unique<DLRM>();
                          model->rows = rows;
                          return model;
                        }});
  };
  criteo("small", "DLRM, 26 tables with 33 M rows: ids seen 15 times",
         {7912889, 33823,   17139,   7339,    20046,  4,     7105, 1382, 63,
          5554114, 582469,  245828,  11,      2209,   10667, 104,  4,    968,
          15,      8165896, 2675940, 7156453, 302516, 12022, 97,   35});
  criteo("large", "DLRM, 26 tables with 178 M rows: ids seen 3 times",
         {45833188, 36746,  17245,    7413,    20243,  3,        7114,
          1441,     62,     29275261, 1572176, 345138, 10,       2209,
          11267,    128,    4,        974,     14,     48937457, 11316796,
          40094537, 452104, 12606,    104,     35});
  registry.add(Preset{
      "dlrm-reference", "dlrm",
      "DLRM as in the published Proteus: 8 tables of 1 M rows, bags of 100",
      "the example of the published Proteus", [] {
        auto model = std::make_unique<DLRM>();
        model->dense = 128;
        model->tables = 8;
        model->embedding = 64;
        model->bag = 100;
        model->bottom = {512, 512, 512, 64};
        model->top = {1024, 1024, 1024, 1024, 1};
        model->copies = true;
        // The reference computes gradients of whole tables.
        model->rowUpdates = false;
        return model;
      }});
}
