//===- LayoutAlgebraTest.cpp - meshes, parts and layouts ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"
#include "Proteus/Dialect/Dist/Schedule.h"

#include "gtest/gtest.h"

using namespace proteus::dist;
using llvm::SmallVector;

namespace {

Mesh makeMesh(int64_t micro = 1) {
  Mesh mesh;
  mesh.names = {"dp", "pp", "tp"};
  mesh.sizes = {2, 3, 4};
  mesh.micro = micro;
  return mesh;
}

TEST(MeshTest, TheLastAxisHoldsNeighbours) {
  Mesh mesh = makeMesh();
  EXPECT_EQ(mesh.getNumDevices(), 24);
  EXPECT_EQ(mesh.getDevice({0, 0, 1}), 1);
  EXPECT_EQ(mesh.getDevice({1, 2, 3}), 23);
  for (int64_t position = 0; position < 24; ++position)
    EXPECT_EQ(mesh.getDevice(mesh.getCoordinates(position)), position);
}

TEST(MeshTest, DeviceIdsAreExplicitWhereTheyMatter) {
  Mesh mesh;
  mesh.names = {"tp"};
  mesh.sizes = {3};
  mesh.devices = {4, 0, 2};
  mesh.normalise();
  EXPECT_EQ(mesh.getDevice({0}), 4);
  EXPECT_EQ(mesh.getDevice({2}), 2);
  mesh.devices = {0, 1, 2};
  mesh.normalise();
  EXPECT_TRUE(mesh.devices.empty());
}

TEST(MeshTest, TheTimeAxisAnswersToItsName) {
  Mesh mesh = makeMesh(/*micro=*/5);
  EXPECT_EQ(mesh.find("micro"), microAxis);
  EXPECT_EQ(mesh.getSize(microAxis), 5);
  EXPECT_EQ(mesh.find("tp"), Axis(3));
  EXPECT_EQ(mesh.find("cp"), std::nullopt);
}

TEST(PartsTest, PartsTileTheDimensionAndTheFirstAreLargest) {
  for (int64_t size = 1; size <= 20; ++size) {
    for (int64_t count = 1; count <= size; ++count) {
      int64_t next = 0;
      for (int64_t index = 0; index < count; ++index) {
        EXPECT_EQ(partOffset(size, count, index), next);
        EXPECT_LE(partSize(size, count, index), partSize(size, count, 0));
        EXPECT_GE(partSize(size, count, index) + 1, partSize(size, count, 0));
        next += partSize(size, count, index);
      }
      EXPECT_EQ(next, size);
    }
  }
}

TEST(PartsTest, RegroupingIsAllowedExactlyWhereBoundariesCoincide) {
  for (int64_t size = 1; size <= 40; ++size)
    for (int64_t outer = 1; outer <= 5; ++outer)
      for (int64_t inner = 1; outer * inner <= size; ++inner) {
        bool coincide = true;
        for (int64_t index = 0; index < outer; ++index)
          coincide &= partOffset(size, outer, index) ==
                      partOffset(size, outer * inner, index * inner);
        EXPECT_EQ(partsRegroup(size, outer, inner), coincide)
            << size << " " << outer << " " << inner;
      }
}

TEST(LayoutTest, SeveralAxesNumberThePartsMajorFirst) {
  Mesh mesh = makeMesh(/*micro=*/2);
  Layout layout(2);
  layout.dims[0] = {microAxis, 1}; // 2 x 2 parts of 10: 3, 3, 2, 2
  layout.dims[1] = {3};            // 4 parts of 8
  SmallVector<int64_t> shape = {10, 8};
  using Shape = SmallVector<int64_t>;
  EXPECT_EQ(localShape(mesh, layout, shape, {0, 1, 0, 3}), (Shape{3, 2}));
  EXPECT_EQ(localOffset(mesh, layout, shape, {0, 1, 0, 3}), (Shape{3, 6}));
  EXPECT_EQ(localShape(mesh, layout, shape, {1, 0, 2, 0}), (Shape{2, 2}));
  EXPECT_EQ(localOffset(mesh, layout, shape, {1, 0, 2, 0}), (Shape{6, 0}));
  EXPECT_EQ(largestLocalShape(mesh, layout, shape), (Shape{3, 2}));
}

TEST(LayoutTest, AnAxisHasOneUse) {
  Mesh mesh = makeMesh();
  Layout layout(1);
  layout.dims[0] = {1};
  EXPECT_FALSE(layout.check(mesh));
  layout.getPartial(ReductionKind::Sum) = {1};
  EXPECT_EQ(layout.check(mesh), "axis 'dp' is used twice");
  layout.getPartial(ReductionKind::Sum) = {4};
  EXPECT_EQ(layout.check(mesh),
            "axis number 4 is outside a mesh of 3 device axes");
}

TEST(WorkTest, TextGoesBothWays) {
  for (Work work :
       {Work{SectionKind::Forward, 0, 12}, Work{SectionKind::Backward, 1, 0},
        Work{SectionKind::InputGradient, 0, 3},
        Work{SectionKind::WeightGradient, 2, 7}, Work{SectionKind::Update},
        Work{SectionKind::Update, 3}})
    EXPECT_EQ(parseWork(formatWork(work)), work) << formatWork(work);
  EXPECT_EQ(formatWork({SectionKind::Backward, 1, 0}), "B0.1");
  for (const char *text : {"", "X1", "F-1", "F1.", "F1.x", "1F"})
    EXPECT_EQ(parseWork(text), std::nullopt) << text;
}

TEST(LayoutAlgebraTest, ZigzagPartsHoldAnEarlyAndALateChunk) {
  using Pieces = Ranges;
  EXPECT_EQ(partRanges(16, 4, 0, true), (Pieces{{0, 2}, {14, 16}}));
  EXPECT_EQ(partRanges(16, 4, 1, true), (Pieces{{2, 4}, {12, 14}}));
  // The adjacent chunks of the last part are one range.
  EXPECT_EQ(partRanges(16, 4, 3, true), (Pieces{{6, 10}}));
  EXPECT_EQ(partRanges(7, 3, 1, false), (Pieces{{3, 5}}));
}

TEST(LayoutAlgebraTest, ShiftedPartsHaveMovedOn) {
  Mesh mesh;
  mesh.names = {"a"};
  mesh.sizes = {3};
  Layout layout(1);
  layout.dims[0] = {1};
  layout.dims[0].shift = 1;
  // Seven elements are split into parts of 3, 2 and 2; index 0 holds the last.
  EXPECT_EQ(localRanges(mesh, layout, {7}, {0, 0})[0], (Ranges{{5, 7}}));
  EXPECT_EQ(localRanges(mesh, layout, {7}, {0, 1})[0], (Ranges{{0, 3}}));
  EXPECT_EQ(largestLocalShape(mesh, layout, {7})[0], 3);
}

TEST(LayoutAlgebraTest, AZigzagNeedsEqualChunks) {
  Mesh mesh;
  mesh.names = {"a"};
  mesh.sizes = {3};
  Layout layout(1);
  layout.dims[0] = {1};
  layout.dims[0].zigzag = true;
  EXPECT_FALSE(layout.checkShape(mesh, {12}));
  EXPECT_TRUE(layout.checkShape(mesh, {9}));
}

} // namespace
