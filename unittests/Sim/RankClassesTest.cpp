//===- RankClassesTest.cpp - partition refinement -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/RankClasses.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <random>

using namespace proteus;
using namespace proteus::sim;

namespace {

/// Groups of `size` ranks with distance `stride`, all of one shape.
GroupFamily axis(uint32_t ranks, uint32_t size, uint32_t stride) {
  GroupFamily family;
  std::map<uint32_t, uint32_t> number;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    uint32_t key = rank - rank / stride % size * stride;
    family.groupOf.push_back(number.emplace(key, number.size()).first->second);
  }
  family.shapes.assign(number.size(), {size, 1, size});
  return family;
}

TEST(RankClasses, ASymmetricMeshIsOneClass) {
  std::vector<uint32_t> colours(512, 0);
  RankPartition partition = partitionRanks(
      colours, {axis(512, 8, 1), axis(512, 4, 8), axis(512, 16, 32)});
  EXPECT_EQ(partition.numClasses(), 1u);
  EXPECT_EQ(partition.ranks[0], 512);
}

TEST(RankClasses, StagesAreClassesNumberedByTheirSmallestRank) {
  // 4 stages of 8 ranks; stage numbers run downwards.
  std::vector<uint32_t> colours;
  for (uint32_t rank = 0; rank < 32; ++rank)
    colours.push_back(3 - rank / 8);
  RankPartition partition =
      partitionRanks(colours, {axis(32, 8, 1), axis(32, 4, 8)});
  EXPECT_EQ(partition.representative, (std::vector<uint32_t>{0, 8, 16, 24}));
  EXPECT_EQ(partition.ranks, (std::vector<int64_t>{8, 8, 8, 8}));
  EXPECT_EQ(partition.classOf[31], 3u);
}

TEST(RankClasses, ADifferentPeerSplitsAlongTheGroup) {
  // Rank 0 differs; its tensor-parallel peers 1..3 then differ from all other
  // ranks, and so do the data-parallel peers of both.
  std::vector<uint32_t> colours(16, 0);
  colours[0] = 1;
  RankPartition partition =
      partitionRanks(colours, {axis(16, 4, 1), axis(16, 4, 4)});
  EXPECT_EQ(partition.numClasses(), 4u);
  EXPECT_EQ(partition.ranks, (std::vector<int64_t>{1, 3, 3, 9}));
}

TEST(RankClasses, TheShapeOfAGroupCounts) {
  std::vector<uint32_t> colours(8, 0);
  GroupFamily family = axis(8, 4, 1);
  family.shapes[1].nodes = 2;
  RankPartition partition = partitionRanks(colours, {family});
  EXPECT_EQ(partition.representative, (std::vector<uint32_t>{0, 4}));
}

TEST(RankClasses, RanksWithoutAGroupAreApart) {
  GroupFamily family;
  family.groupOf = {0, 0, GroupFamily::noGroup, GroupFamily::noGroup};
  family.shapes = {{2, 1, 2}};
  RankPartition partition = partitionRanks({0, 0, 0, 0}, {family});
  EXPECT_EQ(partition.classOf, (std::vector<uint32_t>{0, 0, 1, 1}));
}

TEST(RankClasses, ALongChainIsResolvedToItsEnd) {
  // Pairs 0-1, 1-2, 2-3, ...: distances to the ends tell all ranks apart from
  // all but their mirror image.
  constexpr uint32_t ranks = 2001;
  GroupFamily even, odd;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    even.groupOf.push_back(rank / 2);
    odd.groupOf.push_back((rank + 1) / 2);
  }
  even.shapes.assign(ranks / 2 + 1, {2, 1, 2});
  odd.shapes.assign(ranks / 2 + 1, {2, 1, 2});
  RankPartition partition =
      partitionRanks(std::vector<uint32_t>(ranks, 0), {even, odd});
  EXPECT_EQ(partition.numClasses(), ranks);
}

/// Refinement by whole rounds: slow, and short enough to believe.
std::vector<uint32_t> naive(std::vector<uint32_t> colours,
                            const std::vector<GroupFamily> &families) {
  using Signature = std::vector<int64_t>;
  for (size_t before = 0;;) {
    std::vector<Signature> signatures;
    for (uint32_t rank = 0; rank < colours.size(); ++rank) {
      Signature signature = {colours[rank]};
      for (const GroupFamily &family : families) {
        uint32_t group = family.groupOf[rank];
        signature.push_back(-1);
        if (group == GroupFamily::noGroup)
          continue;
        const cost::GroupShape &shape = family.shapes[group];
        signature.insert(signature.end(),
                         {shape.ranks, shape.nodes, shape.ranksPerNode});
        size_t begin = signature.size();
        for (uint32_t peer = 0; peer < colours.size(); ++peer)
          if (family.groupOf[peer] == group)
            signature.push_back(colours[peer]);
        std::sort(signature.begin() + begin, signature.end());
      }
      signatures.push_back(signature);
    }
    std::map<Signature, uint32_t> number;
    for (uint32_t rank = 0; rank < colours.size(); ++rank)
      colours[rank] =
          number.emplace(signatures[rank], number.size()).first->second;
    if (number.size() == before)
      return colours;
    before = number.size();
  }
}

TEST(RankClasses, AgreesWithTheNaiveRefinement) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    uint32_t ranks = 1 + random() % 40;
    std::vector<uint32_t> colours(ranks);
    for (uint32_t &colour : colours)
      colour = random() % 10 == 0;
    std::vector<GroupFamily> families(random() % 4);
    for (GroupFamily &family : families) {
      uint32_t groups = 1 + random() % 8;
      for (uint32_t g = 0; g < groups; ++g)
        family.shapes.push_back({4, 1 + int64_t(random() % 8 == 0), 4});
      for (uint32_t rank = 0; rank < ranks; ++rank)
        family.groupOf.push_back(random() % 9 == 0 ? GroupFamily::noGroup
                                                   : random() % groups);
    }
    EXPECT_EQ(partitionRanks(colours, families).classOf,
              naive(colours, families))
        << "trial " << trial;
  }
}

} // namespace
