//===- FlatCutTest.cpp - blocks that are cut as lists of elements ---------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankData.h"

#include "gtest/gtest.h"

using namespace proteus::dist;
using llvm::SmallVector;

namespace {

/// Returns a layout of rank 2 that axis 2 shards by columns, with a flat cut
/// over axis 1.
static Layout flatColumns(int64_t granule = 1) {
  Layout layout(2);
  layout.dims[1] = {2};
  layout.flat = {{1}, 0, granule};
  return layout;
}

TEST(FlatCut, PartsAreEqualAndTheLastIsPadded) {
  Mesh mesh = makeMesh({3, 2});
  SmallVector<int64_t> shape = {7, 4};
  // A block has 7 * 2 elements, so three parts have 5, 5 and 4 of them.
  EXPECT_EQ(flatPartSize(mesh, flatColumns(), shape), 5);
  for (int64_t a : {0, 1, 2})
    EXPECT_EQ(localShape(mesh, flatColumns(), shape, {0, a, 0}),
              (SmallVector<int64_t>{1, 5}));
  EXPECT_EQ(flatRange(mesh, flatColumns(), shape, {0, 1, 0}), (Range{5, 10}));
  EXPECT_EQ(flatRange(mesh, flatColumns(), shape, {0, 2, 1}), (Range{10, 14}));
}

TEST(FlatCut, PartsConsistOfWholeGranules) {
  Mesh mesh = makeMesh({3, 2});
  SmallVector<int64_t> shape = {4, 4};
  // Rows of two elements: 4 rows in parts of 2, 2 and 0 rows.
  EXPECT_EQ(flatPartSize(mesh, flatColumns(2), shape), 4);
  EXPECT_EQ(flatRange(mesh, flatColumns(2), shape, {0, 1, 0}), (Range{4, 8}));
  EXPECT_EQ(flatRange(mesh, flatColumns(2), shape, {0, 2, 0}), (Range{8, 8}));
}

TEST(FlatCut, LargestBlockDeterminesTheSizeOfAllParts) {
  Mesh mesh = makeMesh({2, 2});
  SmallVector<int64_t> shape = {3, 3};
  // Blocks of 3 * 2 and 3 * 1 elements; parts of 3.
  EXPECT_EQ(flatPartSize(mesh, flatColumns(), shape), 3);
  EXPECT_EQ(flatRange(mesh, flatColumns(), shape, {0, 1, 0}), (Range{3, 6}));
  EXPECT_EQ(flatRange(mesh, flatColumns(), shape, {0, 0, 1}), (Range{0, 3}));
  EXPECT_EQ(flatRange(mesh, flatColumns(), shape, {0, 1, 1}), (Range{3, 3}));
}

TEST(FlatCut, LayersOfAStackAreCutByThemselves) {
  Mesh mesh = makeMesh({4});
  Layout layer(1);
  layer.flat = {{1}};
  Layout stack = layer.withLeading();
  EXPECT_EQ(stack.flat.leading, 1u);
  EXPECT_EQ(localShape(mesh, stack, {3, 10}, {0, 3}),
            (SmallVector<int64_t>{3, 3}));
  EXPECT_EQ(stack.withoutLeading(), layer);
}

TEST(FlatCut, AxesHaveOneRole) {
  Mesh mesh = makeMesh({3, 2});
  Layout twice(1);
  twice.dims[0] = {1};
  twice.flat = {{1}};
  EXPECT_EQ(twice.check(mesh), "axis 'a' is used twice");
  Layout scalar(0);
  scalar.flat = {{1}};
  EXPECT_TRUE(scalar.check(mesh));
  Layout micro(1);
  micro.flat = {{microAxis}};
  EXPECT_TRUE(micro.check(mesh));
}

TEST(FlatCut, StepsChangeNoDimensionUnderACut) {
  Mesh mesh = makeMesh({3, 2});
  SmallVector<int64_t> shape = {6, 4};
  Layout flat(2);
  flat.flat = {{1}};
  std::string reason;
  Step slice{StepKind::Slice, {2}, {}, {}, 0};
  EXPECT_TRUE(failed(applyStep(mesh, shape, flat, slice, reason)));
  EXPECT_EQ(reason, "the operand has a flat cut over {a}; gather it first");
  // Six parts of 4 elements nest in three parts of 8.
  Step more{StepKind::Slice, {2}, {}, {}, 2};
  EXPECT_TRUE(succeeded(applyStep(mesh, shape, flat, more, reason)));
  // Six parts of 3 do not nest in three parts of 5: 15 elements, 18 and 15.
  EXPECT_TRUE(failed(applyStep(mesh, {3, 5}, flat, more, reason)));
  EXPECT_EQ(reason, "the padded parts over {a} and over {a, b} do not nest");
}

} // namespace
