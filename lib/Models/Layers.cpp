//===- Layers.cpp - layers of several families ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layers.h"

#include "llvm/Support/xxhash.h"

#include <numeric>

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

Value proteus::models::convolution(GraphBuilder &graph, StringRef path, Value x,
                                   int64_t channels, Window window) {
  return graph.conv2d(path, x, channels, window.kernel, window.stride,
                      window.padding, /*bias=*/true);
}

Value proteus::models::normedConvolution(GraphBuilder &graph, StringRef path,
                                         StringRef norm, Value x,
                                         int64_t channels, Window window,
                                         NormGroups normGroups,
                                         int64_t groups) {
  Value y = graph.conv2d(path, x, channels, window.kernel, window.stride,
                         window.padding, /*bias=*/false, groups);
  return graph.batchNorm(norm, y, normGroups);
}

Value proteus::models::maxPool(GraphBuilder &graph, StringRef path, Value x,
                               Window window) {
  return graph.pool2d(path, nn::PoolKind::Max, x, window.kernel, window.stride,
                      window.padding);
}

Value proteus::models::averagePool(GraphBuilder &graph, StringRef path, Value x,
                                   Window window) {
  return graph.pool2d(path, nn::PoolKind::Average, x, window.kernel,
                      window.stride, window.padding);
}

Value proteus::models::poolTo(GraphBuilder &graph, StringRef path, Value x,
                              int64_t size) {
  int64_t part = GraphBuilder::shapeOf(x)[2] / size;
  return averagePool(graph, path, x, Window(part, part));
}

Value proteus::models::flatten(GraphBuilder &graph, StringRef path, Value x) {
  GraphBuilder::Shape shape = GraphBuilder::shapeOf(x);
  int64_t rest = 1;
  for (int64_t size : shape.drop_front())
    rest *= size;
  return graph.reshape(path, x, {shape[0], rest});
}

Value proteus::models::joinChannels(GraphBuilder &graph, StringRef path,
                                    ValueRange images) {
  // Channels are the outermost dimension of a sample, so the concatenation of
  // flattened samples concatenates their channels.
  GraphBuilder::Values samples;
  int64_t channels = 0;
  for (Value image : images) {
    samples.push_back(flatten(graph, (path + ".flat").str(), image));
    channels += GraphBuilder::shapeOf(image)[1];
  }
  SmallVector<int64_t> shape(GraphBuilder::shapeOf(images.front()));
  shape[1] = channels;
  return graph.reshape((path + ".image").str(), graph.concat(path, samples),
                       shape);
}

Value proteus::models::dropout(GraphBuilder &graph, StringRef path, Value x,
                               double probability) {
  Type mask = RankedTensorType::get(GraphBuilder::shapeOf(x),
                                    IntegerType::get(x.getContext(), 8));
  std::string whole = graph.pathOf(path);
  // 31 bits of the hash suffice, and shorter seeds are easier to read.
  auto seed = static_cast<int64_t>(llvm::xxh3_64bits(whole) >> 33);
  return graph
      .create<nn::DropoutOp>(TypeRange{x.getType(), mask}, whole, x,
                             llvm::APFloat(probability), seed)
      .getResult();
}

Value proteus::models::copy(GraphBuilder &graph, StringRef path, Value x) {
  SmallVector<int64_t> same(GraphBuilder::shapeOf(x).size());
  std::iota(same.begin(), same.end(), 0);
  return graph.transpose(path, x, same);
}
