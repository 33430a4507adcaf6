//===- Blocks.cpp - blocks of transformers ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

#include "Layers.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

llvm::Error
models::requireDimensions(ArrayRef<std::pair<StringRef, int64_t>> given) {
  for (auto [name, value] : given)
    if (value == 0)
      return llvm::createStringError("the dimension '" + name +
                                     "' is not given");
  return llvm::Error::success();
}

llvm::Error models::checkHeadsDivide(int64_t heads, int64_t hidden) {
  if (hidden % heads == 0)
    return llvm::Error::success();
  return llvm::createStringError("heads (" + Twine(heads) +
                                 ") must divide hidden (" + Twine(hidden) +
                                 "), or head_dim be given");
}

Value models::addLearnedPositions(GraphBuilder &graph, Value x,
                                  int64_t maxPositions) {
  GraphBuilder::Shape shape = GraphBuilder::shapeOf(x);
  if (maxPositions == shape[1])
    return graph.add(
        "position", x,
        graph.parameter("position.weight", {maxPositions, shape[2]}));
  Value places = graph.indices("positions", shape.take_front(2));
  return graph.add("position_sum", x,
                   graph.embedding("position", places, maxPositions, shape[2]));
}

GraphBuilder::Values models::splitSequence(GraphBuilder &graph, StringRef path,
                                           Value x, ArrayRef<int64_t> lengths) {
  GraphBuilder::Shape shape = GraphBuilder::shapeOf(x);
  int64_t batch = shape[0], width = shape[2];
  Value flat =
      graph.reshape((path + ".flat").str(), x, {batch, shape[1] * width});
  SmallVector<int64_t> sizes;
  for (int64_t length : lengths)
    sizes.push_back(length * width);
  GraphBuilder::Values runs = graph.split(path, flat, sizes);
  for (auto [number, run] : llvm::enumerate(runs))
    run = graph.reshape((path + ".run_" + Twine(number)).str(), run,
                        {batch, lengths[number], width});
  return runs;
}

Value models::joinSequences(GraphBuilder &graph, StringRef path,
                            ValueRange runs) {
  GraphBuilder::Shape shape = GraphBuilder::shapeOf(runs.front());
  int64_t batch = shape[0], width = shape[2], length = 0;
  GraphBuilder::Values flat;
  for (auto [number, run] : llvm::enumerate(runs)) {
    int64_t own = GraphBuilder::shapeOf(run)[1];
    length += own;
    flat.push_back(graph.reshape((path + ".run_" + Twine(number)).str(), run,
                                 {batch, own * width}));
  }
  return graph.reshape((path + ".rows").str(), graph.concat(path, flat),
                       {batch, length, width});
}

Value models::plainFeedForward(GraphBuilder &graph, StringRef path, Value x,
                               int64_t width, StringRef activation, bool bias) {
  int64_t hidden = GraphBuilder::shapeOf(x).back();
  std::string act = (path + ".act").str();
  Value up = graph.linear((path + ".fc1").str(), x, width, bias);
  up = activation == "relu" ? graph.relu(act, up) : graph.gelu(act, up);
  return graph.linear((path + ".fc2").str(), up, hidden, bias);
}

Value models::dropoutIfAny(GraphBuilder &graph, StringRef path, Value x,
                           double probability) {
  return probability > 0 ? dropout(graph, path, x, probability) : x;
}

Value models::unfusedAttention(GraphBuilder &graph, Value query, Value key,
                               Value value, int64_t heads, double probability) {
  GraphBuilder::Shape shape = GraphBuilder::shapeOf(query);
  int64_t batch = shape[0], length = shape[1], width = shape[2];
  auto headsFirst = [&](StringRef path, Value x, ArrayRef<int64_t> order) {
    x = graph.reshape((path + ".heads").str(), x,
                      {batch, length, heads, width / heads});
    return graph.transpose(path, x, order);
  };
  query = headsFirst("attention.query", query, {0, 2, 1, 3});
  key = headsFirst("attention.key", key, {0, 2, 3, 1});
  value = headsFirst("attention.value", value, {0, 2, 1, 3});
  // The softmax kernels of frameworks also scale and mask the scores, so the
  // model has no separate operations for scale and mask.
  Value weights =
      graph.softmax("attention.core.softmax",
                    graph.matmul("attention.core.scores", query, key));
  weights = dropoutIfAny(graph, "attention.core.drop", weights, probability);
  Value core = graph.matmul("attention.core.context", weights, value);
  core = graph.transpose("attention.tokens", core, {0, 2, 1, 3});
  return graph.reshape("attention.merge", core, {batch, length, width});
}
