//===- IterationSpaceTest.cpp - iteration spaces of nn operations ---------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceFixture.h"

using namespace mlir;
using namespace proteus::nn;

namespace {

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

TEST_F(IterationSpaceTest, FlattenMergesDimensions) {
  expectReshape("8x256x6x6x", "8x9216x", "batch:8 f1:256 f2:6 f3:6",
                "(batch, f1, f2, f3) -> (batch, f1 f2 f3)");
}

TEST_F(IterationSpaceTest, UnflattenSplitsADimension) {
  expectReshape("64x768x", "64x12x64x", "batch:64 f1:12 f2:64",
                "(batch, f1 f2) -> (batch, f1, f2)");
}

TEST_F(IterationSpaceTest, SplitAndMergeAtOnceHasTheFactorsOfBoth) {
  // 12 x 2 = 4 x 6: cut at 4 and at 12, that is 4 x 3 x 2.
  expectReshape("12x2x", "4x6x", "batch:4 f1:3 f2:2",
                "(batch f1, f2) -> (batch, f1 f2)");
}

TEST_F(IterationSpaceTest, ShapesWithoutCommonFactorsAreOpaque) {
  expectReshape("6x4x", "4x6x", "opaque0:24:opaque", "(_, _) -> (_, _)");
}

TEST_F(IterationSpaceTest, OpaqueStretchesLeaveTheRestAlone) {
  expectReshape("8x6x4x5x", "8x4x6x5x", "batch:8 opaque1:24:opaque f2:5",
                "(batch, _, _, f2) -> (batch, _, _, f2)");
}

TEST_F(IterationSpaceTest, StretchThatTurnsOutOpaqueIndexesNothing) {
  // 4 divides 12, but the 3 that is left does not divide 10.
  expectReshape("12x10x", "4x10x3x", "opaque0:120:opaque",
                "(_, _) -> (_, _, _)");
}

TEST_F(IterationSpaceTest, IdentityKeepsEveryDimension) {
  expectReshape("8x16x32x", "8x16x32x", "batch:8 f1:16 f2:32",
                "(batch, f1, f2) -> (batch, f1, f2)");
}

TEST_F(IterationSpaceTest, DimensionsOfSizeOneComeAndGo) {
  expectReshape("1x8x4x", "8x1x4x", "batch:8 f1:4",
                "(_, batch, f1) -> (batch, _, f1)");
  expectReshape("8x4x", "8x4x1x1x", "batch:8 f1:4",
                "(batch, f1) -> (batch, f1, _, _)");
  expectReshape("2x1x3x", "6x", "batch:2 f1:3", "(batch, _, f1) -> (batch f1)");
}

TEST_F(IterationSpaceTest, BatchOfOneStaysTheBatch) {
  expectReshape("1x6x6x", "1x36x", "batch:1 f1:6 f2:6",
                "(batch, f1, f2) -> (batch, f1 f2)");
}

TEST_F(IterationSpaceTest, ScalarHasNoIterators) {
  expectReshape("", "1x1x", "", "() -> (_, _)");
  expectReshape("1x1x", "", "", "(_, _) -> ()");
  expectReshape("", "", "", "() -> ()");
}

//===----------------------------------------------------------------------===//
// Matrix operations
//===----------------------------------------------------------------------===//

TEST_F(IterationSpaceTest, LinearSumsOverIn) {
  expectSpace(
      R"("nn.linear" <{path = "fc"}> : (tensor<8x16x128xf32>, tensor<256x128xf32>, tensor<256xf32>) -> tensor<8x16x256xf32>)",
      "batch:8 seq:16 out:256 in:128:sum",
      "(batch, seq, in) (out, in) (out) -> (batch, seq, out)");
  expectSpace(
      R"("nn.linear_dgrad" <{path = "fc"}> : (tensor<8x256xf32>, tensor<256x128xf32>) -> tensor<8x128xf32>)",
      "batch:8 out:256:sum in:128", "(batch, out) (out, in) -> (batch, in)");
  expectSpace(
      R"("nn.linear_wgrad" <{path = "fc"}> : (tensor<8x256xf32>, tensor<8x128xf32>) -> tensor<256x128xf32>)",
      "batch:8:sum out:256 in:128", "(batch, out) (batch, in) -> (out, in)");
}

TEST_F(IterationSpaceTest, MatmulFollowsItsTransposes) {
  expectSpace(
      R"("nn.matmul" <{path = "m"}> : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>)",
      "batch:2 m:4 n:16 k:8:sum",
      "(batch, m, k) (batch, k, n) -> (batch, m, n)");
  expectSpace(
      R"("nn.matmul" <{path = "m", transpose_a, transpose_b}> : (tensor<2x8x4xf32>, tensor<2x16x8xf32>) -> tensor<2x4x16xf32>)",
      "batch:2 m:4 n:16 k:8:sum",
      "(batch, k, m) (batch, n, k) -> (batch, m, n)");
}

TEST_F(IterationSpaceTest, ConvolutionReadsTheImageThroughAWindow) {
  expectSpace(
      R"("nn.conv2d" <{path = "c", stride = array<i64: 1, 1>, padding = array<i64: 1, 1>}> : (tensor<8x4x9x9xf32>, tensor<16x4x3x3xf32>, tensor<16xf32>) -> tensor<8x16x9x9xf32>)",
      "batch:8 out:16 in:4:sum height:9:opaque width:9:opaque "
      "kernel_height:3:opaque kernel_width:3:opaque",
      "(batch, in, _, _) (out, in, kernel_height, kernel_width) (out) "
      "-> (batch, out, height, width)");
  expectSpace(
      R"("nn.conv2d_dgrad" <{path = "c", stride = array<i64: 1, 1>, padding = array<i64: 1, 1>}> : (tensor<8x16x9x9xf32>, tensor<16x4x3x3xf32>) -> tensor<8x4x9x9xf32>)",
      "batch:8 out:16:sum in:4 height:9:opaque width:9:opaque "
      "kernel_height:3:opaque kernel_width:3:opaque",
      "(batch, out, height, width) (out, in, kernel_height, "
      "kernel_width) -> (batch, in, _, _)");
  expectSpace(
      R"("nn.conv2d_wgrad" <{path = "c", stride = array<i64: 1, 1>, padding = array<i64: 1, 1>}> : (tensor<8x16x9x9xf32>, tensor<8x4x9x9xf32>) -> tensor<16x4x3x3xf32>)",
      "batch:8:sum out:16 in:4 height:9:opaque width:9:opaque "
      "kernel_height:3:opaque kernel_width:3:opaque",
      "(batch, out, height, width) (batch, in, _, _) -> (out, in, "
      "kernel_height, kernel_width)");
}

TEST_F(IterationSpaceTest, GroupsOfChannelsAreIndependent) {
  std::string attributes =
      R"( <{path = "c", stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, groups = 2 : i64}> : )";
  std::string image = "tensor<8x4x9x9xf32>", output = "tensor<8x16x9x9xf32>",
              weight = "tensor<16x2x3x3xf32>";
  std::string positions = " height:9:opaque width:9:opaque "
                          "kernel_height:3:opaque kernel_width:3:opaque";
  expectSpace("\"nn.conv2d\"" + attributes + "(" + image + ", " + weight +
                  ", tensor<16xf32>) -> " + output,
              "batch:8 group:2 out:8 in:2:sum" + positions,
              "(batch, group in, _, _) (group out, in, kernel_height, "
              "kernel_width) (group out) -> (batch, group out, height, width)");
  expectSpace("\"nn.conv2d_dgrad\"" + attributes + "(" + output + ", " +
                  weight + ") -> " + image,
              "batch:8 group:2 out:8:sum in:2" + positions,
              "(batch, group out, height, width) (group out, in, "
              "kernel_height, kernel_width) -> (batch, group in, _, _)");
  expectSpace("\"nn.conv2d_wgrad\"" + attributes + "(" + output + ", " + image +
                  ") -> " + weight,
              "batch:8:sum group:2 out:8 in:2" + positions,
              "(batch, group out, height, width) (batch, group in, _, _) -> "
              "(group out, in, kernel_height, kernel_width)");
}

TEST_F(IterationSpaceTest, AttentionHasAnIteratorForValuesOfAnotherSize) {
  expectSpace(
      R"("nn.attention" <{path = "core", heads = 4 : i64, kv_heads = 2 : i64}> : (tensor<8x16x32xf32>, tensor<8x12x16xf32>, tensor<8x12x6xf32>) -> (tensor<8x16x12xf32>, tensor<8x4x16xf32>))",
      "batch:8 head:2 group:2 seq:16 key:12:lse dim:8:opaque "
      "value_dim:3:opaque",
      "(batch, seq, head group dim) (batch, key, head dim) (batch, key, head "
      "value_dim) -> (batch, seq, head group value_dim) (batch, head group, "
      "seq)");
  expectSpace(
      R"("nn.attention_grad" <{path = "core", heads = 2 : i64}> : (tensor<1x4x6xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>, tensor<1x2x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x6xf32>))",
      "batch:1 head:2 group:1:sum seq:4:sum key:4:sum dim:4:opaque "
      "value_dim:3:opaque",
      "(batch, seq, head group value_dim) (batch, seq, head group dim) "
      "(batch, key, head dim) (batch, key, head value_dim) (batch, seq, head "
      "group value_dim) (batch, head group, seq) -> (batch, seq, head group "
      "dim) (batch, key, head dim) (batch, key, head value_dim)");
}

TEST_F(IterationSpaceTest, AttentionFusesHeadGroupAndDim) {
  expectSpace(
      R"("nn.attention" <{path = "core", heads = 12 : i64, kv_heads = 3 : i64}> : (tensor<8x16x96xf32>, tensor<8x32x24xf32>, tensor<8x32x24xf32>) -> (tensor<8x16x96xf32>, tensor<8x12x16xf32>))",
      "batch:8 head:3 group:4 seq:16 key:32:lse dim:8:opaque",
      "(batch, seq, head group dim) (batch, key, head dim) (batch, "
      "key, head dim) -> (batch, seq, head group dim) (batch, head "
      "group, seq)");
  expectSpace(
      R"("nn.attention_grad" <{path = "core", heads = 2 : i64}> : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x2x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>))",
      "batch:1 head:2 group:1:sum seq:4:sum key:4:sum dim:4:opaque",
      "(batch, seq, head group dim) (batch, seq, head group dim) "
      "(batch, key, head dim) (batch, key, head dim) (batch, seq, head "
      "group dim) (batch, head group, seq) -> (batch, seq, head group "
      "dim) (batch, key, head dim) (batch, key, head dim)");
}

//===----------------------------------------------------------------------===//
// Memory-bound operations
//===----------------------------------------------------------------------===//

TEST_F(IterationSpaceTest, EmbeddingSumsOverTheVocabulary) {
  StringRef text =
      R"("nn.embedding" <{path = "e"}> : (tensor<8x16xi32>, tensor<100x32xf32>) -> tensor<8x16x32xf32>)";
  expectSpace(text, "batch:8 seq:16 vocab:100:sum hidden:32",
              "(batch, seq) (vocab, hidden) -> (batch, seq, hidden)");
  auto op = parse(text);
  EXPECT_TRUE(op.readsWholeOperand(0));
  EXPECT_FALSE(op.readsWholeOperand(1));
  expectSpace(
      R"("nn.embedding_grad" <{path = "e"}> : (tensor<8x16x32xf32>, tensor<8x16xi32>) -> tensor<100x32xf32>)",
      "batch:8:sum seq:16:sum vocab:100 hidden:32",
      "(batch, seq, hidden) (batch, seq) -> (vocab, hidden)");
}

TEST_F(IterationSpaceTest, NormalisationNeedsTheWholeRow) {
  expectSpace(
      R"("nn.layer_norm" <{path = "ln"}> : (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<8x16xf32>)",
      "batch:8 hidden:16:opaque",
      "(batch, hidden) (hidden) (hidden) -> (batch, hidden)");
  expectSpace(
      R"("nn.layer_norm_grad" <{path = "ln"}> : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>))",
      "batch:8:sum hidden:16:opaque",
      "(batch, hidden) (batch, hidden) (hidden) -> (batch, hidden) "
      "(hidden) (hidden)");
}

TEST_F(IterationSpaceTest, ElementwiseOperationsAreParallel) {
  for (StringRef name : {"relu", "gelu", "cast"})
    expectSpace(("\"nn." + name +
                 "\" <{path = \"x\"}> : (tensor<8x4x16xf32>) -> "
                 "tensor<8x4x16xf32>")
                    .str(),
                "batch:8 seq:4 hidden:16",
                "(batch, seq, hidden) -> (batch, seq, hidden)");
  for (StringRef name : {"relu_grad", "gelu_grad"})
    expectSpace(("\"nn." + name +
                 "\" <{path = \"x\"}> : (tensor<8x16xf32>, tensor<8x16xf32>) "
                 "-> tensor<8x16xf32>")
                    .str(),
                "batch:8 hidden:16",
                "(batch, hidden) (batch, hidden) -> (batch, hidden)");
  expectSpace(
      R"("nn.dropout" <{path = "d", probability = 0.1 : f64, seed = 1 : i64}> : (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xi8>))",
      "batch:8 hidden:16",
      "(batch, hidden) -> (batch, hidden) (batch, hidden)");
  expectSpace(
      R"("nn.dropout_grad" <{path = "d", probability = 0.1 : f64}> : (tensor<8x16xf32>, tensor<8x16xi8>) -> tensor<8x16xf32>)",
      "batch:8 hidden:16",
      "(batch, hidden) (batch, hidden) -> (batch, hidden)");
  expectSpace(
      R"("nn.fill" <{path = "x", value = 0.0 : f64}> : () -> tensor<8x16xf32>)",
      "batch:8 hidden:16", "-> (batch, hidden)");
}

TEST_F(IterationSpaceTest, RepeatedOperandOfASumLacksTheLeadingDimensions) {
  StringRef text =
      R"("nn.add" <{path = "x"}> : (tensor<8x4x16xf32>, tensor<4x16xf32>) -> tensor<8x4x16xf32>)";
  expectSpace(text, "batch:8 seq:4 hidden:16",
              "(batch, seq, hidden) (seq, hidden) -> (batch, seq, hidden)");
  EXPECT_FALSE(parse(text).isLinear());
  EXPECT_TRUE(
      parse(
          R"("nn.add" <{path = "x"}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>)")
          .isLinear());
}

TEST_F(IterationSpaceTest, ImagesHaveChannels) {
  expectSpace(
      R"("nn.relu" <{path = "x"}> : (tensor<8x3x4x5xf32>) -> tensor<8x3x4x5xf32>)",
      "batch:8 channel:3 height:4 width:5",
      "(batch, channel, height, width) -> (batch, channel, height, "
      "width)");
  expectSpace(
      R"("nn.pool2d" <{path = "p", kind = 0 : i32, kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>}> : (tensor<8x4x8x8xf32>) -> tensor<8x4x4x4xf32>)",
      "batch:8 channel:4 height:4:opaque width:4:opaque",
      "(batch, channel, _, _) -> (batch, channel, height, width)");
  expectSpace(
      R"("nn.pool2d_grad" <{path = "p", kind = 0 : i32, kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>}> : (tensor<8x4x4x4xf32>, tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xf32>)",
      "batch:8 channel:4 height:4:opaque width:4:opaque",
      "(batch, channel, height, width) (batch, channel, _, _) -> "
      "(batch, channel, _, _)");
}

TEST_F(IterationSpaceTest, SumKeepsTheNamedDimensions) {
  expectSpace(
      R"("nn.reduce_sum" <{path = "x", keep = array<i64: 1>}> : (tensor<8x4x16xf32>) -> tensor<4xf32>)",
      "batch:8:sum seq:4 hidden:16:sum", "(batch, seq, hidden) -> (seq)");
}

TEST_F(IterationSpaceTest, CutsKeepGroupsTogether) {
  expectSpace(
      R"("nn.split" <{path = "s", groups = 2 : i64}> : (tensor<8x12xf32>) -> (tensor<8x8xf32>, tensor<8x4xf32>))",
      "batch:8 head:2 whole:6:opaque piece0:4:opaque piece1:2:opaque",
      "(batch, head whole) -> (batch, head piece0) (batch, head "
      "piece1)");
  expectSpace(
      R"("nn.concat" <{path = "s"}> : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x12xf32>)",
      "batch:8 head:1 whole:12:opaque piece0:8:opaque piece1:4:opaque",
      "(batch, head piece0) (batch, head piece1) -> (batch, head "
      "whole)");
}

//===----------------------------------------------------------------------===//
// Losses and updates
//===----------------------------------------------------------------------===//

TEST_F(IterationSpaceTest, LossIsASumOverRows) {
  expectSpace(
      R"("nn.cross_entropy" <{path = "l"}> : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>))",
      "batch:8:sum vocab:10:lse", "(batch, vocab) (batch) -> () (batch)");
  expectSpace(
      R"("nn.cross_entropy_grad" <{path = "l"}> : (tensor<f32>, tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>) -> tensor<8x10xf32>)",
      "batch:8 vocab:10",
      "() (batch, vocab) (batch) (batch) -> (batch, vocab)");
}

TEST_F(IterationSpaceTest, PiecesOfTheLossHaveSimpleReductions) {
  expectSpace(
      R"("nn.row_max" <{path = "l"}> : (tensor<8x10xf32>) -> tensor<8xf32>)",
      "batch:8 vocab:10:max", "(batch, vocab) -> (batch)");
  expectSpace(
      R"("nn.row_exp_sum" <{path = "l"}> : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>))",
      "batch:8 vocab:10:sum",
      "(batch, vocab) (batch) (batch) -> (batch) (batch)");
  expectSpace(
      R"("nn.row_loss" <{path = "l"}> : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>))",
      "batch:8:sum", "(batch) (batch) (batch) -> () (batch)");
}

TEST_F(IterationSpaceTest, ParametersHaveNoBatch) {
  expectSpace(
      R"("nn.sgd" <{path = "w"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>)",
      "d0:4 d1:8", "(d0, d1) (d0, d1) -> (d0, d1)");
  expectSpace(
      R"("nn.adam" <{path = "w"}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>))",
      "d0:4", "(d0) (d0) (d0) (d0) -> (d0) (d0) (d0)");
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

TEST_F(IterationSpaceTest, LinearCountsMultiplyAndAdd) {
  // 2 x 8 x 16 x 256 x 128
  EXPECT_EQ(
      flops(
          R"("nn.linear" <{path = "fc"}> : (tensor<8x16x128xf32>, tensor<256x128xf32>) -> tensor<8x16x256xf32>)"),
      8388608);
}

TEST_F(IterationSpaceTest, AttentionCountsTwoProducts) {
  // 2 products x 2 x batch 2 x heads 12 x 64 queries x 64 keys x dim 8
  constexpr double kFull = 4.0 * 2 * 12 * 64 * 64 * 8;
  EXPECT_EQ(
      flops(
          R"("nn.attention" <{path = "a", heads = 12 : i64}> : (tensor<2x64x96xf32>, tensor<2x64x96xf32>, tensor<2x64x96xf32>) -> (tensor<2x64x96xf32>, tensor<2x12x64xf32>))"),
      kFull);
  // Key heads are shared, query heads count.
  EXPECT_EQ(
      flops(
          R"("nn.attention" <{path = "a", heads = 12 : i64, kv_heads = 3 : i64, causal}> : (tensor<2x64x96xf32>, tensor<2x64x24xf32>, tensor<2x64x24xf32>) -> (tensor<2x64x96xf32>, tensor<2x12x64xf32>))"),
      kFull / 2);
}

TEST_F(IterationSpaceTest, AttentionCountsEachProductOverItsOwnSize) {
  // Scores have keys of 8 numbers, values have 5.
  constexpr double kPairs = 2.0 * 12 * 64 * 64;
  EXPECT_DOUBLE_EQ(
      flops(
          R"("nn.attention" <{path = "a", heads = 12 : i64}> : (tensor<2x64x96xf32>, tensor<2x64x96xf32>, tensor<2x64x60xf32>) -> (tensor<2x64x60xf32>, tensor<2x12x64xf32>))"),
      kPairs * 2 * (8 + 5));
  EXPECT_DOUBLE_EQ(
      flops(
          R"("nn.attention_grad" <{path = "a", heads = 12 : i64}> : (tensor<2x64x60xf32>, tensor<2x64x96xf32>, tensor<2x64x96xf32>, tensor<2x64x60xf32>, tensor<2x64x60xf32>, tensor<2x12x64xf32>) -> (tensor<2x64x96xf32>, tensor<2x64x96xf32>, tensor<2x64x60xf32>))"),
      kPairs * 4 * (8 + 5));
}

TEST_F(IterationSpaceTest, ConvolutionCountsTheKernelAtEveryOutput) {
  // 2 x 8 x 64 x 3 x 55 x 55 x 11 x 11
  EXPECT_EQ(
      flops(
          R"("nn.conv2d" <{path = "c", stride = array<i64: 4, 4>, padding = array<i64: 2, 2>}> : (tensor<8x3x224x224xf32>, tensor<64x3x11x11xf32>) -> tensor<8x64x55x55xf32>)"),
      1124428800.0);
}

TEST_F(IterationSpaceTest, MatrixUnitsRunProducts) {
  EXPECT_EQ(
      parse(
          R"("nn.linear" <{path = "fc"}> : (tensor<8x128xf32>, tensor<256x128xf32>) -> tensor<8x256xf32>)")
          .getKernelClass(),
      KernelClass::Matrix);
  EXPECT_EQ(
      parse(
          R"("nn.relu" <{path = "x"}> : (tensor<8x16xf32>) -> tensor<8x16xf32>)")
          .getKernelClass(),
      KernelClass::Memory);
  EXPECT_EQ(
      parse(
          R"("nn.reshape" <{path = "x"}> : (tensor<8x16xf32>) -> tensor<128xf32>)")
          .getKernelClass(),
      KernelClass::View);
}

} // namespace

//===----------------------------------------------------------------------===//
// Mixture of experts
//===----------------------------------------------------------------------===//

// Groups split the batch. A group is never split, so no iterator indexes its
// tokens.
TEST_F(IterationSpaceTest, TokensAreRoutedByGroups) {
  StringRef results =
      "tensor<8x16x2xf32>, tensor<8x16x2xi32>, tensor<8x16x2xi32>";
  expectSpace(("\"nn.moe_route\" <{path = \"r\", groups = 4 : i64, "
               "capacity_factor = 1.0 : f64}> : (tensor<8x16x6xf32>) -> (" +
               results + ")")
                  .str(),
              "group:4 sample:2:opaque logit:96:opaque",
              "(group sample, _, _) -> (group sample, _, _) (group sample, _, "
              "_) (group sample, _, _)");
  // A group of one sample is its index in the batch.
  expectSpace(("\"nn.moe_route\" <{path = \"r\", groups = 8 : i64, "
               "capacity_factor = 1.0 : f64}> : (tensor<8x16x6xf32>) -> (" +
               results + ")")
                  .str(),
              "group:8 logit:96:opaque",
              "(group, _, _) -> (group, _, _) (group, _, _) (group, _, _)");
}

TEST_F(IterationSpaceTest, DispatchAndCombinationAreTransposes) {
  expectSpace("\"nn.moe_dispatch\" <{path = \"d\"}> : (tensor<8x16x32xf32>, "
              "tensor<8x16x2xi32>, tensor<8x16x2xi32>) -> "
              "tensor<6x8x5x32xf32>",
              "expert:6 group:8 slot:5 hidden:32",
              "(group, _, hidden) (group, _, _) (group, _, _) -> (expert, "
              "group, slot, hidden)");
  expectSpace("\"nn.moe_combine\" <{path = \"c\"}> : (tensor<6x8x5x32xf32>, "
              "tensor<8x16x2xi32>, tensor<8x16x2xi32>, tensor<8x16x2xf32>) -> "
              "tensor<8x16x32xf32>",
              "expert:6:sum group:8 seq:16 slot:5:sum hidden:32",
              "(expert, group, slot, hidden) (group, seq, _) (group, seq, _) "
              "(group, seq, _) -> (group, seq, hidden)");
  expectSpace("\"nn.moe_gate_grad\" <{path = \"c\"}> : (tensor<8x16x32xf32>, "
              "tensor<6x8x5x32xf32>, tensor<8x16x2xi32>, tensor<8x16x2xi32>) "
              "-> tensor<8x16x2xf32>",
              "expert:6:sum group:8 seq:16 slot:5:sum hidden:32:sum",
              "(group, seq, hidden) (expert, group, slot, hidden) (group, seq, "
              "_) (group, seq, _) -> (group, seq, _)");
}

TEST_F(IterationSpaceTest, GradientsOfGroupedProductsSumWhatTheyLack) {
  StringRef x = "tensor<6x8x5x32xf32>", y = "tensor<6x8x5x64xf32>",
            w = "tensor<6x64x32xf32>";
  expectSpace(("\"nn.expert_linear\" <{path = \"l\"}> : (" + x + ", " + w +
               ", tensor<6x64xf32>) -> " + y)
                  .str(),
              "expert:6 group:8 slot:5 out:64 in:32:sum",
              "(expert, group, slot, in) (expert, out, in) (expert, out) -> "
              "(expert, group, slot, out)");
  expectSpace(("\"nn.expert_linear_dgrad\" <{path = \"l\"}> : (" + y + ", " +
               w + ") -> " + x)
                  .str(),
              "expert:6 group:8 slot:5 out:64:sum in:32",
              "(expert, group, slot, out) (expert, out, in) -> (expert, group, "
              "slot, in)");
  expectSpace(("\"nn.expert_linear_wgrad\" <{path = \"l\"}> : (" + y + ", " +
               x + ") -> " + w)
                  .str(),
              "expert:6 group:8:sum slot:5:sum out:64 in:32",
              "(expert, group, slot, out) (expert, group, slot, in) -> "
              "(expert, out, in)");
}

// Expert products count all slots. A combination counts one product per choice
// of a token.
TEST_F(IterationSpaceTest, ExpertsCountTheirSlots) {
  EXPECT_EQ(flops("\"nn.expert_linear\" <{path = \"l\"}> : "
                  "(tensor<6x8x5x32xf32>, tensor<6x64x32xf32>) -> "
                  "tensor<6x8x5x64xf32>"),
            2.0 * 6 * 8 * 5 * 32 * 64);
  EXPECT_NEAR(flops("\"nn.moe_combine\" <{path = \"c\"}> : "
                    "(tensor<6x8x5x32xf32>, tensor<8x16x2xi32>, "
                    "tensor<8x16x2xi32>, tensor<8x16x2xf32>) -> "
                    "tensor<8x16x32xf32>"),
              2.0 * 8 * 16 * 2 * 32, 1e-6);
  EXPECT_EQ(flops("\"nn.moe_dispatch\" <{path = \"d\"}> : "
                  "(tensor<8x16x32xf32>, tensor<8x16x2xi32>, "
                  "tensor<8x16x2xi32>) -> tensor<6x8x5x32xf32>"),
            0);
}

TEST_F(IterationSpaceTest, NumbersAboutGradientsReduceEverything) {
  expectSpace("\"nn.square_sum\" <{path = \"s\"}> : (tensor<4x5xf32>) -> "
              "tensor<f32>",
              "d0:4:sum d1:5:sum", "(d0, d1) -> ()");
  expectSpace("\"nn.overflow\" <{path = \"s\"}> : (tensor<4x5xf32>) -> "
              "tensor<f32>",
              "d0:4:max d1:5:max", "(d0, d1) -> ()");
  EXPECT_EQ(flops("\"nn.square_sum\" <{path = \"s\"}> : (tensor<4x5xf32>) -> "
                  "tensor<f32>"),
            2.0 * 4 * 5);
}
