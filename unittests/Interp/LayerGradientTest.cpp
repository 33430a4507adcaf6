//===- LayerGradientTest.cpp - gradients of layers --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientHarness.h"

using namespace proteus::interp;

TEST(Gradient, SmoothActivations) {
  for (std::string name : {"silu", "tanh", "sigmoid"})
    expectRightGradients(
        {{{"a", "4x5"}},
         "%y = nn." + name +
             R"( "act"(%a) : (tensor<4x5xf64>) -> tensor<4x5xf64>)",
         "4",
         5});
}

TEST(Gradient, ProductOfEqualAndOfRepeatedOperands) {
  expectRightGradients(
      {{{"a", "2x3x4"}, {"b", "2x3x4"}, {"c", "3x4"}, {"d", "4"}},
       R"(%0 = nn.mul "a"(%a, %b) : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
          %1 = nn.mul "b"(%0, %c) : (tensor<2x3x4xf64>, tensor<3x4xf64>) -> tensor<2x3x4xf64>
          %2 = nn.mul "c"(%1, %d) : (tensor<2x3x4xf64>, tensor<4xf64>) -> tensor<2x3x4xf64>
          %y = nn.scale "d"(%2) {factor = 3.0 : f64} : (tensor<2x3x4xf64>) -> tensor<2x3x4xf64>)",
       "2x3",
       4});
}

TEST(Gradient, Swiglu) {
  expectRightGradients(
      {{{"a", "4x5"}, {"b", "4x5"}},
       R"(%y = nn.swiglu "s"(%a, %b) : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>)",
       "4",
       5});
}

TEST(Gradient, RotaryEmbedding) {
  expectRightGradients(
      {{{"a", "2x3x8"}},
       R"(%y = nn.rope "r"(%a) {heads = 2 : i64, base = 7.0 : f64} : (tensor<2x3x8xf64>) -> tensor<2x3x8xf64>)",
       "2x3",
       8});
}

TEST(Gradient, Softmax) {
  expectRightGradients(
      {{{"a", "2x3x4"}},
       R"(%0 = nn.softmax "s"(%a) : (tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
          %y = nn.scale "f"(%0) {factor = 5.0 : f64} : (tensor<2x3x4xf64>) -> tensor<2x3x4xf64>)",
       "2x3",
       4});
}

TEST(Gradient, UnfusedAttention) {
  expectRightGradients(
      {{{"q", "2x2x3x4"}, {"k", "2x2x3x4"}, {"v", "2x2x3x4"}},
       R"(%0 = nn.matmul "scores"(%q, %k) {transpose_b} : (tensor<2x2x3x4xf64>, tensor<2x2x3x4xf64>) -> tensor<2x2x3x3xf64>
          %1 = nn.causal_mask "mask"(%0) : (tensor<2x2x3x3xf64>) -> tensor<2x2x3x3xf64>
          %2 = nn.softmax "softmax"(%1) : (tensor<2x2x3x3xf64>) -> tensor<2x2x3x3xf64>
          %3 = nn.matmul "context"(%2, %v) : (tensor<2x2x3x3xf64>, tensor<2x2x3x4xf64>) -> tensor<2x2x3x4xf64>
          %4 = nn.transpose "heads"(%3) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x2x3x4xf64>) -> tensor<2x3x2x4xf64>
          %y = nn.reshape "merge"(%4) : (tensor<2x3x2x4xf64>) -> tensor<2x3x8xf64>)",
       "2x3",
       8});
}

TEST(Gradient, TransposeThatIsNotItsOwnInverse) {
  expectRightGradients(
      {{{"a", "3x4x2"}, {"w", "5x3"}},
       R"(%0 = nn.transpose "t"(%a) {permutation = array<i64: 2, 1, 0>} : (tensor<3x4x2xf64>) -> tensor<2x4x3xf64>
          %1 = nn.linear "l"(%0, %w) : (tensor<2x4x3xf64>, tensor<5x3xf64>) -> tensor<2x4x5xf64>
          %y = nn.transpose "u"(%1) {permutation = array<i64: 2, 0, 1>} : (tensor<2x4x5xf64>) -> tensor<5x2x4xf64>)",
       "5x2",
       4});
}

TEST(Gradient, SumAndBroadcast) {
  expectRightGradients(
      {{{"a", "2x3x4"}, {"b", "2x3x4"}},
       R"(%0 = nn.reduce_sum "s"(%a) {keep = array<i64: 0, 2>} : (tensor<2x3x4xf64>) -> tensor<2x4xf64>
          %1 = nn.broadcast "r"(%0) {keep = array<i64: 0, 2>} : (tensor<2x4xf64>) -> tensor<2x3x4xf64>
          %y = nn.mul "m"(%1, %b) : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>)",
       "2x3",
       4});
}

TEST(Gradient, ConcatOfUnequalPieces) {
  expectRightGradients(
      {{{"a", "4x6"}, {"b", "4x2"}, {"x", "4x2"}},
       R"(%0 = nn.concat "c"(%a, %b, %x) {groups = 2 : i64} : (tensor<4x6xf64>, tensor<4x2xf64>, tensor<4x2xf64>) -> tensor<4x10xf64>
          %y = nn.gelu "g"(%0) : (tensor<4x10xf64>) -> tensor<4x10xf64>)",
       "4",
       10});
}

TEST(Gradient, RmsNorm) {
  expectRightGradients(
      {{{"a", "2x3x5"}, {"g", "5"}},
       R"(%y = nn.rms_norm "n"(%a, %g) : (tensor<2x3x5xf64>, tensor<5xf64>) -> tensor<2x3x5xf64>)",
       "2x3",
       5});
}

TEST(Gradient, BatchNormOfOneAndOfManyGroups) {
  for (std::string groups : {"1", "2", "3"})
    expectRightGradients(
        {{{"a", "6x4"}, {"g", "4"}, {"s", "4"}},
         "%y, %m, %i = nn.batch_norm \"n\"(%a, %g, %s) {groups = " + groups +
             " : i64} : (tensor<6x4xf64>, tensor<4xf64>, tensor<4xf64>) -> "
             "(tensor<6x4xf64>, tensor<" +
             groups + "x4xf64>, tensor<" + groups + "x4xf64>)",
         "6",
         4});
}

TEST(Gradient, BatchNormOfImages) {
  expectRightGradients(
      {{{"a", "4x2x2x3"}, {"g", "2"}, {"s", "2"}},
       R"(%0, %m, %i = nn.batch_norm "n"(%a, %g, %s) {groups = 2 : i64} : (tensor<4x2x2x3xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<4x2x2x3xf64>, tensor<2x2xf64>, tensor<2x2xf64>)
          %y = nn.reshape "r"(%0) : (tensor<4x2x2x3xf64>) -> tensor<4x12xf64>)",
       "4",
       12});
}

TEST(Gradient, EmbeddingBag) {
  expectRightGradients(
      {{{"i", "4x3"}, {"w", "3x5"}},
       R"(%y = nn.embedding_bag "e"(%i, %w) : (tensor<4x3xi32>, tensor<3x5xf64>) -> tensor<4x5xf64>)",
       "4",
       5});
}

TEST(Gradient, EmbeddingBagOfStackedTables) {
  expectRightGradients(
      {{{"i", "4x2x3"}, {"w", "2x3x5"}},
       R"(%y = nn.embedding_bag "e"(%i, %w) : (tensor<4x2x3xi32>, tensor<2x3x5xf64>) -> tensor<4x2x5xf64>)",
       "4x2",
       5});
}

TEST(Gradient, Interaction) {
  expectRightGradients(
      {{{"a", "3x4x5"}},
       R"(%y = nn.interaction "i"(%a) : (tensor<3x4x5xf64>) -> tensor<3x6xf64>)",
       "3",
       6});
}

TEST(Gradient, SquaredLossOfBothSides) {
  expectRightGradients(R"(
    func.func @m(%a: tensor<4x3xf64> {nn.role = "parameter", nn.path = "a"},
                 %b: tensor<4x3xf64> {nn.role = "parameter", nn.path = "b"}) -> tensor<f64>
        attributes {nn.training = #nn.training<optimizer = momentum>} {
      %loss = nn.mse_loss "loss"(%a, %b) : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<f64>
      return %loss : tensor<f64>
    })");
}

TEST(Gradient, LongShortTermMemory) {
  for (std::string attributes : {"", " {reverse}"})
    expectRightGradients(
        {{{"a", "2x3x8"}, {"w", "8x2"}, {"b", "8"}, {"v", "5x2"}},
         R"(%h, %gates, %cells = nn.lstm "l"(%a, %w, %b))" + attributes +
             R"( : (tensor<2x3x8xf64>, tensor<8x2xf64>, tensor<8xf64>) -> (tensor<2x3x2xf64>, tensor<2x3x8xf64>, tensor<2x3x2xf64>)
                %y = nn.linear "f"(%h, %v) : (tensor<2x3x2xf64>, tensor<5x2xf64>) -> tensor<2x3x5xf64>)",
         "2x3",
         5});
}
