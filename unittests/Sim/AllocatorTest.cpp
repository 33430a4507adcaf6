//===- AllocatorTest.cpp - rules of the caching allocator -----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Allocator.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

using namespace proteus::sim;

namespace {

constexpr int64_t KiB = 1024;
constexpr int64_t MiB = 1024 * KiB;

TEST(CachingAllocator, RoundsSizesUp) {
  CachingAllocator a;
  a.allocate(1);
  EXPECT_EQ(a.allocated(), 512);
  a.allocate(512);
  EXPECT_EQ(a.allocated(), 1024);
  a.allocate(513);
  EXPECT_EQ(a.allocated(), 2048);
  EXPECT_EQ(a.reserved(), 2 * MiB);
}

TEST(CachingAllocator, NothingTakesNoBlock) {
  CachingAllocator a;
  CachingAllocator::Handle handle = a.allocate(0);
  EXPECT_EQ(handle, CachingAllocator::none);
  a.free(handle);
  EXPECT_EQ(a.reserved(), 0);
}

TEST(CachingAllocator, SmallBlocksShareSegmentsOfTwoMiB) {
  CachingAllocator a;
  for (int i = 0; i < 4; ++i)
    a.allocate(512 * KiB);
  EXPECT_EQ(a.reserved(), 2 * MiB);
  a.allocate(512);
  EXPECT_EQ(a.reserved(), 4 * MiB);
  // The largest small block.
  a.allocate(MiB);
  EXPECT_EQ(a.reserved(), 4 * MiB);
}

TEST(CachingAllocator, SmallBlocksDoNotUseTheLargePool) {
  CachingAllocator a;
  a.free(a.allocate(20 * MiB));
  a.allocate(MiB);
  EXPECT_EQ(a.reserved(), 22 * MiB);
  a.allocate(MiB + 1);
  EXPECT_EQ(a.reserved(), 22 * MiB);
}

TEST(CachingAllocator, LargeBlocksBelowTenMiBShareSegmentsOfTwenty) {
  CachingAllocator a;
  CachingAllocator::Handle first = a.allocate(MiB + 1);
  EXPECT_EQ(a.allocated(), MiB + 512);
  EXPECT_EQ(a.reserved(), 20 * MiB);
  CachingAllocator::Handle second = a.allocate(9 * MiB);
  EXPECT_EQ(a.addressOf(second), a.addressOf(first) + MiB + 512);
  EXPECT_EQ(a.reserved(), 20 * MiB);
  // 10 MiB - 512 are left, which is too small. The new segment has a multiple
  // of 2 MiB.
  a.allocate(10 * MiB);
  EXPECT_EQ(a.reserved(), 30 * MiB);
  a.allocate(20 * MiB + 1);
  EXPECT_EQ(a.reserved(), 52 * MiB);
}

TEST(CachingAllocator, LargeBlocksAreSplitOnlyIfMoreThanOneMiBIsLeft) {
  CachingAllocator a;
  CachingAllocator::Handle whole = a.allocate(11 * MiB);
  EXPECT_EQ(a.sizeOf(whole), 12 * MiB);
  CachingAllocator::Handle cut = a.allocate(12 * MiB + 512);
  EXPECT_EQ(a.sizeOf(cut), 12 * MiB + 512);
  EXPECT_EQ(a.allocated(), 24 * MiB + 512);
  EXPECT_EQ(a.reserved(), 26 * MiB);
}

TEST(CachingAllocator, SmallBlocksAreSplitDownToTheGranularity) {
  CachingAllocator a;
  a.allocate(MiB);
  a.allocate(MiB - 512);
  EXPECT_EQ(a.allocated(), 2 * MiB - 512);
  a.allocate(1);
  EXPECT_EQ(a.allocated(), 2 * MiB);
  EXPECT_EQ(a.reserved(), 2 * MiB);
}

TEST(CachingAllocator, TakesTheSmallestBlockThatFits) {
  CachingAllocator a;
  CachingAllocator::Handle large = a.allocate(30 * MiB);
  CachingAllocator::Handle fitting = a.allocate(24 * MiB);
  CachingAllocator::Handle tooSmall = a.allocate(16 * MiB);
  int64_t address = a.addressOf(fitting);
  a.free(large);
  a.free(fitting);
  a.free(tooSmall);
  EXPECT_EQ(a.addressOf(a.allocate(22 * MiB)), address);
  EXPECT_EQ(a.reserved(), 70 * MiB);
}

TEST(CachingAllocator, OfEqualBlocksTakesTheOneInFront) {
  CachingAllocator a;
  CachingAllocator::Handle first = a.allocate(16 * MiB);
  CachingAllocator::Handle second = a.allocate(16 * MiB);
  int64_t address = a.addressOf(first);
  a.free(second);
  a.free(first);
  EXPECT_EQ(a.addressOf(a.allocate(16 * MiB)), address);
}

TEST(CachingAllocator, JoinsFreeNeighbours) {
  CachingAllocator a;
  CachingAllocator::Handle blocks[3];
  for (CachingAllocator::Handle &block : blocks)
    block = a.allocate(6 * MiB);
  EXPECT_EQ(a.reserved(), 20 * MiB);
  a.free(blocks[0]);
  a.free(blocks[2]);
  // 6 and 8 MiB are free, but not adjacent.
  a.free(a.allocate(9 * MiB));
  EXPECT_EQ(a.reserved(), 40 * MiB);
  a.free(blocks[1]);
  a.allocate(20 * MiB);
  a.allocate(20 * MiB);
  EXPECT_EQ(a.reserved(), 40 * MiB);
  EXPECT_EQ(a.allocated(), 40 * MiB);
}

TEST(CachingAllocator, ReleasesWhatIsCachedBeforeItExceedsTheLimit) {
  CachingAllocator a(40 * MiB);
  a.free(a.allocate(30 * MiB));
  EXPECT_EQ(a.reserved(), 30 * MiB);
  a.allocate(32 * MiB);
  EXPECT_EQ(a.reserved(), 32 * MiB);
  EXPECT_EQ(a.releases(), 1u);
  EXPECT_FALSE(a.exceeds());
}

TEST(CachingAllocator, KeepsSegmentsThatArePartlyInUse) {
  CachingAllocator a(40 * MiB);
  CachingAllocator::Handle first = a.allocate(6 * MiB);
  a.allocate(6 * MiB);
  a.free(first);
  a.allocate(32 * MiB);
  EXPECT_EQ(a.reserved(), 52 * MiB);
  EXPECT_EQ(a.releases(), 1u);
  EXPECT_TRUE(a.exceeds());
}

TEST(CachingAllocator, TheStateRecursWithThePattern) {
  CachingAllocator a;
  a.allocate(16 * MiB);
  a.allocate(3 * MiB);
  auto stateAfterPeriod = [&](int64_t tag) {
    CachingAllocator::Handle x = a.allocate(2 * MiB);
    CachingAllocator::Handle y = a.allocate(5 * MiB);
    a.setTag(y, tag);
    a.free(x);
    std::vector<int64_t> state;
    a.appendState(state);
    a.free(y);
    return state;
  };
  // One segment has a block of 3 MiB, a gap of 2, a block of 5 and the rest.
  // The other segment is full.
  std::vector<int64_t> first = stateAfterPeriod(7);
  EXPECT_EQ(first, (std::vector<int64_t>{0, 3 * MiB, 0, -2 * MiB, 0, 5 * MiB, 7,
                                         -10 * MiB, 0}));
  EXPECT_EQ(stateAfterPeriod(7), first);
  EXPECT_NE(stateAfterPeriod(8), first);
  CachingAllocator::Handle inTheGap = a.allocate(2 * MiB);
  EXPECT_NE(stateAfterPeriod(7), first);
  a.free(inTheGap);
  EXPECT_EQ(stateAfterPeriod(7), first);
}

/// An allocator with the same rules and without indices: segments are lists of
/// blocks, and every search visits all of them.
class NaiveAllocator {
public:
  explicit NaiveAllocator(int64_t limit) : limit(limit) {}

  /// Returns the address and the size of the block.
  std::pair<int64_t, int64_t> allocate(int64_t bytes) {
    bytes = (bytes + 511) / 512 * 512;
    bool isSmall = bytes <= MiB;
    Block *best = nullptr;
    Segment *home = nullptr;
    auto search = [&] {
      for (Segment &segment : segments)
        for (Block &block : segment.blocks)
          if (segment.isSmall == isSmall && block.isFree &&
              block.size >= bytes && (!best || block.size < best->size)) {
            best = &block;
            home = &segment;
          }
    };
    search();
    if (!best) {
      int64_t size = isSmall ? 2 * MiB
                     : bytes < 10 * MiB
                         ? 20 * MiB
                         : (bytes + 2 * MiB - 1) / (2 * MiB) * (2 * MiB);
      if (reserved() + size > limit)
        segments.erase(std::remove_if(segments.begin(), segments.end(),
                                      [](const Segment &segment) {
                                        return segment.blocks.size() == 1 &&
                                               segment.blocks[0].isFree;
                                      }),
                       segments.end());
      segments.push_back({isSmall, {{end, size, true}}});
      end += size;
      search();
    }
    best->isFree = false;
    Block result = *best;
    int64_t rest = best->size - bytes;
    if (isSmall ? rest >= 512 : rest > MiB) {
      result.size = best->size = bytes;
      home->blocks.insert(home->blocks.begin() + (best - home->blocks.data()) +
                              1,
                          {result.address + bytes, rest, true});
    }
    return {result.address, result.size};
  }

  void free(int64_t address) {
    for (Segment &segment : segments)
      for (Block &block : segment.blocks)
        if (block.address == address)
          block.isFree = true;
    for (Segment &segment : segments)
      for (size_t i = 1; i < segment.blocks.size();) {
        Block &previous = segment.blocks[i - 1];
        if (!previous.isFree || !segment.blocks[i].isFree) {
          ++i;
          continue;
        }
        previous.size += segment.blocks[i].size;
        segment.blocks.erase(segment.blocks.begin() + i);
      }
  }

  int64_t reserved() const {
    int64_t sum = 0;
    for (const Segment &segment : segments)
      for (const Block &block : segment.blocks)
        sum += block.size;
    return sum;
  }

private:
  struct Block {
    int64_t address, size;
    bool isFree;
  };
  struct Segment {
    bool isSmall;
    std::vector<Block> blocks;
  };
  int64_t limit;
  int64_t end = 0;
  std::vector<Segment> segments;
};

struct Live {
  CachingAllocator::Handle handle;
  int64_t address, size;
};

TEST(Allocator, ReleasedSegmentsLeaveTheState) {
  CachingAllocator fresh(40 * MiB), used(40 * MiB);
  used.free(used.allocate(20 * MiB));
  std::vector<int64_t> states[2];
  for (auto [allocator, state] :
       {std::pair(&fresh, &states[0]), {&used, &states[1]}}) {
    allocator->free(allocator->allocate(30 * MiB));
    EXPECT_EQ(allocator->reserved(), 30 * MiB);
    allocator->appendState(*state);
  }
  EXPECT_FALSE(states[0].empty());
  EXPECT_EQ(states[0], states[1]);
}

class AllocatorProperty : public testing::TestWithParam<unsigned> {};

TEST_P(AllocatorProperty, AgreesWithASearchOfAllBlocks) {
  std::mt19937 random(GetParam());
  auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  int64_t limit = (30 + pick(150)) * 2 * MiB;
  CachingAllocator allocator(limit);
  NaiveAllocator naive(limit);
  std::vector<Live> live;
  for (int step = 0; step < 1500; ++step) {
    if (live.empty() || pick(100) < 52) {
      static constexpr int64_t scales[] = {2 * KiB, 512 * KiB, 4 * MiB,
                                           40 * MiB};
      int64_t bytes = 1 + pick(scales[pick(4)]);
      // Sizes repeat in real programs.
      if (!live.empty() && pick(2))
        bytes = live[pick(live.size())].size;
      CachingAllocator::Handle handle = allocator.allocate(bytes);
      auto [address, size] = naive.allocate(bytes);
      ASSERT_EQ(allocator.addressOf(handle), address) << "step " << step;
      ASSERT_EQ(allocator.sizeOf(handle), size) << "step " << step;
      ASSERT_GE(size, bytes);
      for (const Live &other : live)
        ASSERT_TRUE(address + size <= other.address ||
                    other.address + other.size <= address)
            << "step " << step;
      live.push_back({handle, address, size});
    } else {
      size_t i = pick(live.size());
      allocator.free(live[i].handle);
      naive.free(live[i].address);
      live[i] = live.back();
      live.pop_back();
    }
    int64_t sum = 0;
    for (const Live &block : live)
      sum += block.size;
    ASSERT_EQ(allocator.allocated(), sum);
    ASSERT_EQ(allocator.reserved(), naive.reserved()) << "step " << step;
    ASSERT_LE(sum, allocator.reserved());
  }
  // Free blocks are merged, so that only whole segments remain.
  for (const Live &block : live)
    allocator.free(block.handle);
  allocator.allocate(limit);
  EXPECT_EQ(allocator.reserved(), limit);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AllocatorProperty, testing::Range(0u, 40u));

} // namespace
