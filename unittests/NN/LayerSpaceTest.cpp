//===- LayerSpaceTest.cpp - iteration spaces of layers --------------------===//
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

TEST_F(IterationSpaceTest, ActivationsAndProductsAreParallel) {
  for (StringRef name : {"silu", "tanh", "sigmoid"})
    expectSpace(("\"nn." + name +
                 "\" <{path = \"x\"}> : (tensor<8x4x16xf32>) -> "
                 "tensor<8x4x16xf32>")
                    .str(),
                "batch:8 seq:4 hidden:16",
                "(batch, seq, hidden) -> (batch, seq, hidden)");
  for (StringRef name : {"silu_grad", "tanh_grad", "sigmoid_grad", "swiglu"})
    expectSpace(("\"nn." + name +
                 "\" <{path = \"x\"}> : (tensor<8x16xf32>, tensor<8x16xf32>) "
                 "-> tensor<8x16xf32>")
                    .str(),
                "batch:8 hidden:16",
                "(batch, hidden) (batch, hidden) -> (batch, hidden)");
  expectSpace(
      R"("nn.swiglu_grad" <{path = "x"}> : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>))",
      "batch:8 hidden:16",
      "(batch, hidden) (batch, hidden) (batch, hidden) -> (batch, hidden) "
      "(batch, hidden)");
  expectSpace(
      R"("nn.mul" <{path = "x"}> : (tensor<8x4x16xf32>, tensor<16xf32>) -> tensor<8x4x16xf32>)",
      "batch:8 seq:4 hidden:16",
      "(batch, seq, hidden) (hidden) -> (batch, seq, hidden)");
  expectSpace(
      R"("nn.scale" <{path = "x", factor = 2.0 : f64}> : (tensor<8x4x16xf32>) -> tensor<8x4x16xf32>)",
      "batch:8 seq:4 hidden:16",
      "(batch, seq, hidden) -> (batch, seq, hidden)");
  EXPECT_TRUE(
      parse(
          R"("nn.scale" <{path = "x", factor = 2.0 : f64}> : (tensor<8x16xf32>) -> tensor<8x16xf32>)")
          .isLinear());
  EXPECT_FALSE(
      parse(
          R"("nn.mul" <{path = "x"}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>)")
          .isLinear());
}

TEST_F(IterationSpaceTest, RotaryEmbeddingKeepsHeadsTogether) {
  expectSpace(
      R"("nn.rope" <{path = "x", heads = 2 : i64}> : (tensor<8x4x16xf32>) -> tensor<8x4x16xf32>)",
      "batch:8 seq:4 head:2 dim:8:opaque",
      "(batch, seq, head dim) -> (batch, seq, head dim)");
}

TEST_F(IterationSpaceTest, MaskOfScoresHasQueriesAndKeys) {
  expectSpace(
      R"("nn.causal_mask" <{path = "x"}> : (tensor<8x2x4x6xf32>) -> tensor<8x2x4x6xf32>)",
      "batch:8 channel:2 seq:4 key:6",
      "(batch, channel, seq, key) -> (batch, channel, seq, key)");
  EXPECT_FALSE(
      parse(
          R"("nn.causal_mask" <{path = "x"}> : (tensor<4x4xf32>) -> tensor<4x4xf32>)")
          .isLinear());
  EXPECT_TRUE(
      parse(
          R"("nn.causal_mask" <{path = "x", zero}> : (tensor<4x4xf32>) -> tensor<4x4xf32>)")
          .isLinear());
}

TEST_F(IterationSpaceTest, BroadcastAndTransposeMoveDimensions) {
  expectSpace(
      R"("nn.broadcast" <{path = "x", keep = array<i64: 0, 2>}> : (tensor<8x16xf32>) -> tensor<8x4x16xf32>)",
      "batch:8 seq:4 hidden:16", "(batch, hidden) -> (batch, seq, hidden)");
  expectSpace(
      R"("nn.transpose" <{path = "x", permutation = array<i64: 2, 0, 1>}> : (tensor<8x4x16xf32>) -> tensor<16x8x4xf32>)",
      "batch:8 seq:4 hidden:16",
      "(batch, seq, hidden) -> (hidden, batch, seq)");
}

TEST_F(IterationSpaceTest, SoftmaxIsCompoundOverTheLastDimension) {
  expectSpace(
      R"("nn.softmax" <{path = "x"}> : (tensor<8x4x16xf32>) -> tensor<8x4x16xf32>)",
      "batch:8 seq:4 vocab:16:lse",
      "(batch, seq, vocab) -> (batch, seq, vocab)");
  expectSpace(
      R"("nn.softmax_grad" <{path = "x"}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>)",
      "batch:8 vocab:16:lse",
      "(batch, vocab) (batch, vocab) -> (batch, vocab)");
  expectSpace(
      R"("nn.softmax_sum" <{path = "x"}> : (tensor<8x16xf32>, tensor<8xf32>) -> tensor<8xf32>)",
      "batch:8 vocab:16:sum", "(batch, vocab) (batch) -> (batch)");
  expectSpace(
      R"("nn.softmax_normalize" <{path = "x"}> : (tensor<8x16xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x16xf32>)",
      "batch:8 vocab:16", "(batch, vocab) (batch) (batch) -> (batch, vocab)");
  expectSpace(
      R"("nn.softmax_dot" <{path = "x"}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8xf32>)",
      "batch:8 vocab:16:sum", "(batch, vocab) (batch, vocab) -> (batch)");
  expectSpace(
      R"("nn.softmax_input_grad" <{path = "x"}> : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<8x16xf32>)",
      "batch:8 vocab:16",
      "(batch, vocab) (batch, vocab) (batch) -> (batch, vocab)");
}

TEST_F(IterationSpaceTest, RmsNormNeedsTheWholeRow) {
  expectSpace(
      R"("nn.rms_norm" <{path = "x"}> : (tensor<8x4x16xf32>, tensor<16xf32>) -> tensor<8x4x16xf32>)",
      "batch:8 seq:4 hidden:16:opaque",
      "(batch, seq, hidden) (hidden) -> (batch, seq, hidden)");
  expectSpace(
      R"("nn.rms_norm_grad" <{path = "x"}> : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>))",
      "batch:8:sum hidden:16:opaque",
      "(batch, hidden) (batch, hidden) (hidden) -> (batch, hidden) (hidden)");
}

TEST_F(IterationSpaceTest, BatchNormOfOneGroupIsCompoundOverTheBatch) {
  expectSpace(
      R"("nn.batch_norm" <{path = "x"}> : (tensor<8x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<8x3x4x5xf32>, tensor<1x3xf32>, tensor<1x3xf32>))",
      "batch:8:moments channel:3 height:4:opaque width:5:opaque",
      "(batch, channel, height, width) (channel) (channel) -> (batch, channel, "
      "height, width) (_, channel) (_, channel)");
  expectSpace(
      R"("nn.batch_norm_grad" <{path = "x"}> : (tensor<8x3x4x5xf32>, tensor<8x3x4x5xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<3xf32>) -> (tensor<8x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>))",
      "batch:8:moments channel:3 height:4:opaque width:5:opaque",
      "(batch, channel, height, width) (batch, channel, height, width) (_, "
      "channel) (_, channel) (channel) -> (batch, channel, height, width) "
      "(channel) (channel)");
}

TEST_F(IterationSpaceTest, BatchNormOfManyGroupsIsParallelOverThem) {
  expectSpace(
      R"("nn.batch_norm" <{path = "x", groups = 2 : i64}> : (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<8x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>))",
      "batch:2 member:4:opaque channel:3",
      "(batch member, channel) (channel) (channel) -> (batch member, channel) "
      "(batch, channel) (batch, channel)");
  expectSpace(
      R"("nn.batch_norm_grad" <{path = "x", groups = 2 : i64}> : (tensor<8x3xf32>, tensor<8x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>))",
      "batch:2:sum member:4:opaque channel:3",
      "(batch member, channel) (batch member, channel) (batch, channel) "
      "(batch, channel) (channel) -> (batch member, channel) (channel) "
      "(channel)");
}

TEST_F(IterationSpaceTest, PiecesOfBatchNormHaveSimpleReductions) {
  expectSpace(
      R"("nn.batch_norm_sums" <{path = "x"}> : (tensor<8x3x4x5xf32>) -> tensor<2x3xf32>)",
      "batch:8:sum channel:3 height:4:opaque width:5:opaque",
      "(batch, channel, height, width) -> (_, channel)");
  expectSpace(
      R"("nn.batch_norm_statistics" <{path = "x", count = 160 : i64}> : (tensor<2x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>))",
      "channel:3", "(_, channel) -> (_, channel) (_, channel)");
  expectSpace(
      R"("nn.batch_norm_apply" <{path = "x"}> : (tensor<8x3x4x5xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<8x3x4x5xf32>)",
      "batch:8 channel:3 height:4:opaque width:5:opaque",
      "(batch, channel, height, width) (_, channel) (_, channel) (channel) "
      "(channel) -> (batch, channel, height, width)");
  expectSpace(
      R"("nn.batch_norm_grad_sums" <{path = "x"}> : (tensor<8x3xf32>, tensor<8x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) -> (tensor<3xf32>, tensor<3xf32>))",
      "batch:8:sum channel:3",
      "(batch, channel) (batch, channel) (_, channel) (_, channel) -> "
      "(channel) (channel)");
  expectSpace(
      R"("nn.batch_norm_input_grad" <{path = "x"}> : (tensor<8x3xf32>, tensor<8x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<8x3xf32>)",
      "batch:8 channel:3",
      "(batch, channel) (batch, channel) (_, channel) (_, channel) (channel) "
      "(channel) (channel) -> (batch, channel)");
}

TEST_F(IterationSpaceTest, BagsSumRowsOfTables) {
  expectSpace(
      R"("nn.embedding_bag" <{path = "x"}> : (tensor<8x4xi32>, tensor<100x16xf32>) -> tensor<8x16xf32>)",
      "batch:8 bag:4:opaque vocab:100:sum hidden:16",
      "(batch, bag) (vocab, hidden) -> (batch, hidden)");
  expectSpace(
      R"("nn.embedding_bag" <{path = "x"}> : (tensor<8x3x4xi32>, tensor<3x100x16xf32>) -> tensor<8x3x16xf32>)",
      "batch:8 table:3 bag:4:opaque vocab:100:sum hidden:16",
      "(batch, table, bag) (table, vocab, hidden) -> (batch, table, hidden)");
  expectSpace(
      R"("nn.embedding_bag_grad" <{path = "x"}> : (tensor<8x3x16xf32>, tensor<8x3x4xi32>) -> tensor<3x100x16xf32>)",
      "batch:8:sum table:3 bag:4:opaque vocab:100 hidden:16",
      "(batch, table, hidden) (batch, table, bag) -> (table, vocab, hidden)");
  expectSpace(
      R"("nn.embedding_bag_update" <{path = "x"}> : (tensor<3x100x16xf32>, tensor<8x3x16xf32>, tensor<8x3x4xi32>) -> tensor<3x100x16xf32>)",
      "batch:8:opaque table:3 bag:4:opaque vocab:100 hidden:16",
      "(table, vocab, hidden) (batch, table, hidden) (batch, table, bag) -> "
      "(table, vocab, hidden)");
  auto update = parse(
      R"("nn.embedding_bag_update" <{path = "x"}> : (tensor<100x16xf32>, tensor<8x16xbf16>, tensor<8x4xi32>) -> tensor<100x16xf32>)");
  // An update reads and writes rows and reads gradients and indices. The size
  // of the table does not matter.
  EXPECT_DOUBLE_EQ(update.getIterationSpace().numPoints() *
                       *update.getBytesPerPoint(),
                   2 * 8 * 4 * 16 * 4 + 8 * 16 * 2 + 8 * 4 * 4);
  auto bag = parse(
      R"("nn.embedding_bag" <{path = "x"}> : (tensor<8x4xi32>, tensor<100x16xf32>) -> tensor<8x16xf32>)");
  EXPECT_FALSE(bag.readsWholeOperand(1));
  EXPECT_EQ(bag.getReadsPerWrite(), 4);
  // One addition per index and element of its row.
  EXPECT_EQ(bag.getIterationSpace().numPoints() * bag.getFlopsPerPoint(),
            8 * 4 * 16);
}

TEST_F(IterationSpaceTest, InteractionSumsOverTheVectors) {
  expectSpace(
      R"("nn.interaction" <{path = "x"}> : (tensor<8x5x16xf32>) -> tensor<8x10xf32>)",
      "batch:8 pair:10:opaque dim:16:sum", "(batch, _, dim) -> (batch, pair)");
  expectSpace(
      R"("nn.interaction_grad" <{path = "x"}> : (tensor<8x10xf32>, tensor<8x5x16xf32>) -> tensor<8x5x16xf32>)",
      "batch:8 pair:10:opaque dim:16",
      "(batch, pair) (batch, _, dim) -> (batch, _, dim)");
  auto op = parse(
      R"("nn.interaction" <{path = "x"}> : (tensor<8x5x16xf32>) -> tensor<8x10xf32>)");
  double points = op.getIterationSpace().numPoints();
  EXPECT_EQ(points * op.getFlopsPerPoint(), 2 * 8 * 10 * 16);
  EXPECT_EQ(points * op.getExecutedFlopsPerPoint(), 2 * 8 * 25 * 16);
}

TEST_F(IterationSpaceTest, LongShortTermMemorySplitsTheBatchAlone) {
  std::string forward =
      R"("nn.lstm" <{path = "l"}> : (tensor<8x5x64xf32>, tensor<64x16xf32>, tensor<64xf32>) -> (tensor<8x5x16xf32>, tensor<8x5x64xf32>, tensor<8x5x16xf32>))";
  expectSpace(forward,
              "batch:8 time:5:opaque gate:4:opaque hidden:16:opaque "
              "in:16:opaque",
              "(batch, time, gate hidden) (gate hidden, in) (gate hidden) -> "
              "(batch, time, hidden) (batch, time, gate hidden) (batch, time, "
              "hidden)");
  EXPECT_EQ(parse(forward).getSequentialIterator(), "time");
  expectSpace(
      R"("nn.lstm_wgrad" <{path = "l"}> : (tensor<8x5x64xf32>, tensor<8x5x16xf32>) -> tensor<64x16xf32>)",
      "batch:8:sum time:5:opaque gate:4:opaque hidden:16:opaque in:16:opaque",
      "(batch, time, gate hidden) (batch, time, in) -> (gate hidden, in)");
}

TEST_F(IterationSpaceTest, SquaredLossIsASumOverElements) {
  expectSpace(
      R"("nn.mse_loss" <{path = "x"}> : (tensor<8x4x16xf32>, tensor<8x4x16xf32>) -> tensor<f32>)",
      "batch:8:sum seq:4:sum hidden:16:sum",
      "(batch, seq, hidden) (batch, seq, hidden) -> ()");
  expectSpace(
      R"("nn.mse_loss_grad" <{path = "x"}> : (tensor<f32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>)",
      "batch:8 seq:4 hidden:16",
      "() (batch, seq, hidden) (batch, seq, hidden) -> (batch, seq, hidden)");
}

TEST_F(IterationSpaceTest, GenericSaysItsSpaceItself) {
  expectSpace(
      R"("nn.generic" <{path = "x", iterators = ["batch", "head", "dim", "state"], sizes = array<i64: 8, 2, 8, 4>, kinds = ["parallel", "parallel", "opaque", "sum"], indexing = [["batch", "head dim"], ["state", ""], ["batch", "head dim"]], flops = 6.0 : f64, bytes = 2.0 : f64, matrix}> : (tensor<8x16xf32>, tensor<4x7xf32>) -> tensor<8x16xf32>)",
      "batch:8 head:2 dim:8:opaque state:4:sum",
      "(batch, head dim) (state, _) -> (batch, head dim)");
  auto op = parse(
      R"("nn.generic" <{path = "x", iterators = ["batch"], sizes = array<i64: 8>, kinds = ["parallel"], indexing = [["batch"], ["batch"]], flops = 6.0 : f64, bytes = 2.0 : f64, matrix}> : (tensor<8xf32>) -> tensor<8xf32>)");
  EXPECT_EQ(op.getFlopsPerPoint(), 6);
  EXPECT_EQ(op.getBytesPerPoint(), 2.0);
  EXPECT_EQ(op.getKernelClass(), KernelClass::Matrix);
}

} // namespace
