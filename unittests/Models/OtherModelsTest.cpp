//===- OtherModelsTest.cpp - translation and recommendation ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelFixture.h"

#include "Proteus/Dialect/Proteus/Proteus.h"

using namespace proteus;
using namespace proteus::models;

namespace {

class OtherModelsTest : public ModelFixture {};

/// The number of parameters that MLPerf states for its GNMT.
TEST_F(OtherModelsTest, TranslationHasThePublishedParameters) {
  EXPECT_EQ(parameters("gnmt-v2"), 160'671'297);
}

TEST_F(OtherModelsTest, WorkOfALayerGrowsWithItsUnitsTwice) {
  // A layer has 8 h (h + in) operations per word, half as many products;
  // attention and the classifier follow.
  double h = 1024, in = 50, out = 50, vocab = 32320;
  double encoder = 2 * 4 * h * (2 * h) + 4 * h * (3 * h) + 2 * 4 * h * (2 * h);
  double decoder = 4 * h * (2 * h) + 3 * 4 * h * (3 * h);
  double attention = out * h * h + in * h * h + 2 * out * in * h;
  double expected = in * encoder + out * (decoder + vocab * h) + attention;
  EXPECT_NEAR(gigaMacs("gnmt-v2"), expected / 1e9, 1e-9);
}

TEST_F(OtherModelsTest, TranslationIsLoweredRight) {
  Overrides tiny = {"layers=3", "hidden=4", "vocab=11", "source_seq=3",
                    "target_seq=2"};
  expectRightLowering("gnmt-v2", 8, tiny, {2, 1, 2});
  expectLowers("gnmt-v2", 64, {}, {8, 1, 1});
}

TEST_F(OtherModelsTest, RecommendationHasTheParametersOfItsTables) {
  double bottom = 13 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128;
  double top = (479 + 1) * 1024 + 1025 * 1024 + 1025 * 512 + 513 * 256 + 257;
  EXPECT_EQ(parameters("dlrm-criteo-small"), 32'709'138.0 * 128 + bottom + top);
  EXPECT_EQ(parameters("dlrm-criteo-large"),
            177'944'275.0 * 128 + bottom + top);
}

TEST_F(OtherModelsTest, RecommendationIsLoweredRight) {
  expectRightLowering("dlrm-reference", 8,
                      {"tables=4", "rows=6", "embedding=4", "bag=3", "dense=5",
                       "bottom=6,4", "top=8,1"},
                      {2, 1, 2});
  expectRightLowering("dlrm-criteo-small", 8,
                      {"tables=3", "rows=6,3,4", "embedding=4", "dense=5",
                       "bottom=6,4", "top=8,4,1"},
                      {2, 2, 1});
  expectLowers("dlrm-criteo-small", 4096, {}, {8, 1, 1});
}

TEST_F(OtherModelsTest, TablesAreKeptOnceInTheTypeOfSecondCopies) {
  for (bool rows : {true, false}) {
    std::string flag = rows ? "row_updates=true" : "row_updates=false";
    auto module = buildModel(context, {"dlrm-criteo-small", 8, {}, {flag}});
    ASSERT_TRUE(static_cast<bool>(module));
    (*module)->walk([&](nn::EmbeddingBagOp bag) {
      EXPECT_EQ(bag.getRowUpdates(), rows);
      auto type = mlir::cast<mlir::RankedTensorType>(bag.getTable().getType());
      EXPECT_EQ(type.getElementType().isF32(), rows);
      EXPECT_TRUE(mlir::cast<mlir::RankedTensorType>(bag.getResult().getType())
                      .getElementType()
                      .isBF16());
    });
  }
}

TEST_F(OtherModelsTest, LayersComputeInTheMatrixType) {
  ModelRequest request{"mixtral-8x7b", 1, {}, {"layers=2"}};
  request.precision.matrix = "f8";
  auto module = buildModel(context, request);
  ASSERT_TRUE(static_cast<bool>(module));
  unsigned narrow = 0, wide = 0;
  (*module)->walk([&](mlir::Operation *op) {
    bool isNarrow = op->hasAttr(ProteusDialect::computeAttrName);
    narrow += isNarrow;
    if (mlir::isa<nn::ExpertLinearOp>(op))
      EXPECT_TRUE(isNarrow);
    else if (!mlir::isa<nn::LinearOp>(op))
      EXPECT_FALSE(isNarrow);
    else if (!isNarrow)
      ++wide;
  });
  // Per layer: the projections of attention and the products of experts, but
  // not the router and not the head.
  EXPECT_EQ(narrow, 4u + 3u);
  EXPECT_EQ(wide, 2u);
}

TEST_F(OtherModelsTest, DimensionsThatDoNotFitAreErrors) {
  auto expect = [](const std::string &message,
                   const std::vector<std::string> &overrides) {
    auto description = describe({"dlrm-reference", 4, Precision(), overrides});
    ASSERT_FALSE(description);
    std::string error = llvm::toString(description.takeError());
    EXPECT_NE(error.find(message), std::string::npos) << error;
  };
  expect("rows must be one number for all tables, or tables=8 numbers; got 2",
         {"rows=5,6"});
  expect("must be as wide as embedding=64", {"bottom=32"});
  expect("must be 1: a probability", {"top=32"});
}

} // namespace
