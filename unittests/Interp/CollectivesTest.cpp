//===- CollectivesTest.cpp - collectives on small values --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Interp/Collectives.h"

#include "gtest/gtest.h"

using namespace proteus;
using namespace proteus::interp;
using dist::ReductionKind;

namespace {

/// Axes of the mesh [dp = 2, tp = 3]; `micro` is axis 0.
constexpr dist::Axis dp = 1, tp = 2;

dist::Mesh mesh() {
  dist::Mesh mesh;
  mesh.names = {"dp", "tp"};
  mesh.sizes = {2, 3};
  return mesh;
}

Tensor row(std::vector<double> values) {
  return Tensor({static_cast<int64_t>(values.size())}, values);
}

/// Returns the value 10 d + t for rank (d, t).
RankTensors numbered() {
  RankTensors tensors;
  for (int d = 0; d < 2; ++d)
    for (int t = 0; t < 3; ++t)
      tensors.push_back(row({10.0 * d + t}));
  return tensors;
}

std::vector<double> values(const Tensor &tensor) {
  std::vector<double> list;
  for (int64_t i = 0; i < tensor.size(); ++i)
    list.push_back(tensor[i]);
  return list;
}

using List = std::vector<double>;

} // namespace

TEST(Collectives, GroupsFollowTheOrderOfTheAxes) {
  RankGrid grid(mesh(), {});
  EXPECT_EQ(grid.size(), 6u);
  using Group = llvm::SmallVector<unsigned>;
  EXPECT_EQ(grid.getGroup(4, {tp}), Group({3, 4, 5}));
  EXPECT_EQ(grid.getGroup(4, {dp}), Group({1, 4}));
  EXPECT_EQ(grid.getGroup(4, {dp, tp}), Group({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(grid.getGroup(4, {tp, dp}), Group({0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(grid.getPosition(4, {tp, dp}), 3u);
}

TEST(Collectives, FixedCoordinatesSelectAStage) {
  RankGrid grid(mesh(), {{dp, 1}});
  EXPECT_EQ(grid.size(), 3u);
  EXPECT_EQ(grid.getCoordinates(2), llvm::ArrayRef<int64_t>({0, 1, 2}));
}

TEST(Collectives, AllReduce) {
  RankGrid grid(mesh(), {});
  RankTensors sums = allReduce(grid, numbered(), {tp}, ReductionKind::Sum);
  EXPECT_EQ(values(sums[1]), List({3}));
  EXPECT_EQ(values(sums[4]), List({33}));
  RankTensors maxima = allReduce(grid, numbered(), {dp}, ReductionKind::Max);
  EXPECT_EQ(values(maxima[1]), List({11}));
}

TEST(Collectives, AllGather) {
  RankGrid grid(mesh(), {});
  EXPECT_EQ(values(allGather(grid, numbered(), 0, {tp})[3]),
            List({10, 11, 12}));
  EXPECT_EQ(values(allGather(grid, numbered(), 0, {tp, dp})[5]),
            List({0, 10, 1, 11, 2, 12}));
}

TEST(Collectives, SlicesGiveTheRemainderToTheFirst) {
  RankGrid grid(mesh(), {});
  RankTensors input(6, row({0, 1, 2, 3}));
  RankTensors parts = sliceParts(grid, input, 0, {tp});
  EXPECT_EQ(values(parts[0]), List({0, 1}));
  EXPECT_EQ(values(parts[1]), List({2}));
  EXPECT_EQ(values(parts[5]), List({3}));
}

TEST(Collectives, ReduceScatterIsAReductionAndASlice) {
  RankGrid grid(mesh(), {});
  RankTensors input;
  for (int rank = 0; rank < 6; ++rank)
    input.push_back(
        row({1.0 * rank, 10.0 * rank, 100.0 * rank, 1000.0 * rank}));
  RankTensors parts = sliceParts(
      grid, allReduce(grid, input, {tp}, ReductionKind::Sum), 0, {tp});
  EXPECT_EQ(values(parts[0]), List({3, 30}));
  EXPECT_EQ(values(parts[1]), List({300}));
  EXPECT_EQ(values(parts[5]), List({12000}));
}

TEST(Collectives, FlatPartsAreGatheredWithoutPadding) {
  RankGrid grid(mesh(), {});
  // Two layers of 2 x 2 elements in parts of 2, over three ranks of tp.
  RankTensors input(6, Tensor({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  RankTensors parts = sliceFlat(grid, input, {tp}, 1, 2);
  EXPECT_EQ(parts[1].getShape(), llvm::ArrayRef<int64_t>({2, 1, 2}));
  EXPECT_EQ(values(parts[0]), List({1, 2, 5, 6}));
  EXPECT_EQ(values(parts[1]), List({3, 4, 7, 8}));
  EXPECT_EQ(values(parts[2]), List({0, 0, 0, 0}));
  std::vector<Shape> shapes(6, Shape({2, 2, 2}));
  RankTensors whole = gatherFlat(grid, parts, {tp}, 1, shapes);
  EXPECT_EQ(whole[2].getShape(), input[2].getShape());
  EXPECT_EQ(values(whole[5]), values(input[5]));
}

TEST(Collectives, AllToAllMovesTheShardingToAnotherDimension) {
  RankGrid grid(mesh(), {});
  // Rows are sharded over tp: rank t holds row t of three.
  RankTensors input;
  for (int rank = 0; rank < 6; ++rank) {
    double base = 10.0 * (rank % 3);
    input.push_back(Tensor({1, 4}, {base, base + 1, base + 2, base + 3}));
  }
  RankTensors output = allToAll(grid, input, 0, {tp}, 1, {tp});
  EXPECT_EQ(output[0].getShape(), llvm::ArrayRef<int64_t>({3, 2}));
  EXPECT_EQ(values(output[0]), List({0, 1, 10, 11, 20, 21}));
  EXPECT_EQ(values(output[4]), List({2, 12, 22}));
  // And back.
  RankTensors back = allToAll(grid, output, 1, {tp}, 0, {tp});
  for (int rank = 0; rank < 6; ++rank)
    EXPECT_EQ(values(back[rank]), values(input[rank]));
}

TEST(Collectives, APermuteFindsTheRankThatWasTheSame) {
  RankGrid grid(mesh(), {});
  dist::Layout from(1), to(1);
  from.dims[0] = {dp, tp};
  to.dims[0] = {tp, dp};
  // Rank (d, t) held shard 3d + t and receives shard 2t + d.
  RankTensors moved = permute(grid, numbered(), {dp, tp}, from, to);
  EXPECT_EQ(values(moved[0]), List({0}));
  EXPECT_EQ(values(moved[1]), List({2}));
  EXPECT_EQ(values(moved[2]), List({11}));
  EXPECT_EQ(values(moved[3]), List({1}));
}

TEST(Collectives, ABroadcastHasARoot) {
  RankGrid grid(mesh(), {});
  RankTensors copies = broadcast(grid, numbered(), {tp}, {2});
  EXPECT_EQ(values(copies[0]), List({2}));
  EXPECT_EQ(values(copies[4]), List({12}));
}

TEST(Collectives, ZigzagPartsAreAnEarlyAndALateChunk) {
  RankGrid grid(mesh(), {});
  RankTensors input(6, row({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  dist::AxisList zigzag = {tp};
  zigzag.zigzag = true;
  RankTensors parts = sliceParts(grid, input, 0, zigzag);
  EXPECT_EQ(values(parts[0]), List({0, 1, 10, 11}));
  EXPECT_EQ(values(parts[2]), List({4, 5, 6, 7}));
  RankTensors back = allGather(grid, parts, 0, zigzag);
  for (int rank = 0; rank < 6; ++rank)
    EXPECT_EQ(values(back[rank]), values(input[rank]));
}

TEST(Collectives, AShiftPassesPartsOnToTheNextRank) {
  RankGrid grid(mesh(), {});
  RankTensors shifted = shiftParts(grid, numbered(), {tp});
  EXPECT_EQ(values(shifted[0]), List({2}));
  EXPECT_EQ(values(shifted[1]), List({0}));
  EXPECT_EQ(values(shifted[5]), List({11}));
}
