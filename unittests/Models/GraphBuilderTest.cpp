//===- GraphBuilderTest.cpp - functions built step by step ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Models/GraphBuilder.h"

#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

namespace {

class GraphBuilderTest : public ::testing::Test {
protected:
  GraphBuilderTest() {
    context.loadDialect<func::FuncDialect, nn::NNDialect>();
  }
  GraphBuilder start() {
    return GraphBuilder(context, "m", Builder(&context).getF32Type(), {});
  }
  /// Finishes the module of `graph`, verifies it and returns its text.
  std::string finish(GraphBuilder &graph, Value loss) {
    OwningOpRef<ModuleOp> module = graph.finish(loss);
    EXPECT_TRUE(succeeded(verify(*module)));
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }
  /// Returns the paths of the arguments of the function in `text`, in order.
  static std::vector<std::string> paths(StringRef text) {
    std::vector<std::string> result;
    while (text.contains("nn.path = \"")) {
      text = text.split("nn.path = \"").second;
      result.push_back(text.split('"').first.str());
    }
    return result;
  }
  using Paths = std::vector<std::string>;

  MLIRContext context;
};

TEST_F(GraphBuilderTest, ParametersBecomeArgumentsInTheOrderOfTheirUse) {
  GraphBuilder graph = start();
  Value x = graph.input("x", {8, 4});
  Value labels = graph.indices("labels", {8});
  Value y = graph.linear("a", x, 6, /*bias=*/true);
  graph.under("block", [&] { y = graph.linear("b", y, 4, /*bias=*/false); });
  std::string text = finish(graph, graph.crossEntropy("loss", y, labels));
  EXPECT_EQ(paths(text),
            (Paths{"x", "labels", "a.weight", "a.bias", "block.b.weight"}));
  EXPECT_NE(text.find("nn.linear \"block.b\""), std::string::npos);
}

TEST_F(GraphBuilderTest, ParametersOfRepeatedLayersAreStacks) {
  GraphBuilder graph = start();
  Value x = graph.input("x", {8, 4});
  Value labels = graph.indices("labels", {8});
  Value shared = graph.parameter("shared", {4});
  Value y = graph.repeat("layers", 3, x, [&](Value h) {
    return graph.repeat("inner", 2, graph.add("plus", h, shared), [&](Value g) {
      return graph.linear("fc", g, 4, /*bias=*/false);
    });
  });
  EXPECT_EQ(graph.getNumParameters(), 4 + 3 * 2 * 16);
  std::string text = finish(graph, graph.crossEntropy("loss", y, labels));
  EXPECT_EQ(paths(text),
            (Paths{"x", "labels", "shared", "layers[*].inner[*].fc.weight"}));
  EXPECT_NE(text.find("tensor<3x2x4x4xf32>"), std::string::npos);
}

TEST_F(GraphBuilderTest, TheSamePathIsTheSameParameter) {
  GraphBuilder graph = start();
  Value ids = graph.indices("ids", {8, 3});
  Value labels = graph.indices("labels", {8, 3});
  Value x = graph.embedding("table", ids, 10, 4);
  Value logits =
      graph.linearWith("head", x, graph.parameter("table.weight", {10, 4}));
  EXPECT_EQ(graph.getNumParameters(), 40);
  finish(graph, graph.crossEntropy("loss", logits, labels));
}

TEST_F(GraphBuilderTest, ImagesShrinkAsTheWindowsSay) {
  GraphBuilder graph = start();
  Value x = graph.input("x", {4, 3, 9, 9});
  Value labels = graph.indices("labels", {4});
  Value y = graph.conv2d("conv", x, 8, {3, 3}, {2, 2}, {1, 1}, /*bias=*/true);
  y = graph.relu("act", graph.batchNorm("bn", y));
  y = graph.pool2d("pool", nn::PoolKind::Average, y, {5, 5}, {1, 1}, {0, 0});
  y = graph.reshape("flat", y, {4, 8});
  finish(graph, graph.crossEntropy("loss", y, labels));
}

} // namespace
