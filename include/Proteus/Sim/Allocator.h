//===- Allocator.h - a caching allocator of device memory -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model of PyTorch's caching allocator for CUDA devices, by its published
// rules, which computes the memory that it would reserve (ReservedMemory.cpp).
// Sizes are rounded. Small and large blocks come from separate pools. The
// smallest free block that fits is taken and split. Free neighbours are joined.
// Memory goes back to the device only if the device could not serve a request
// otherwise. All work is assumed to run on one stream.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_ALLOCATOR_H
#define PROTEUS_SIM_ALLOCATOR_H

#include <cstdint>
#include <limits>
#include <vector>

namespace proteus::sim {

/// A caching allocator. Equal sequences of calls give equal results.
class CachingAllocator {
public:
  /// Unit to which sizes are rounded up, in bytes. All constants are in bytes.
  static constexpr int64_t granularity = 512;
  /// Size of the largest block of the small pool, and of the segments from
  /// which its blocks are cut.
  static constexpr int64_t smallLimit = 1 << 20;
  static constexpr int64_t smallSegment = 2 << 20;
  /// Blocks of the large pool below `largeLimit` are cut from segments of size
  /// `largeSegment`; others get segments in multiples of `largeGranularity`.
  static constexpr int64_t largeLimit = 10 << 20;
  static constexpr int64_t largeSegment = 20 << 20;
  static constexpr int64_t largeGranularity = 2 << 20;

  /// The number of a block in use; `none` for a request of 0 bytes.
  using Handle = uint32_t;
  static constexpr Handle none = ~0u;

  /// Creates an allocator that can reserve `limit` bytes without releasing
  /// cached segments. The allocator continues beyond the limit, so that the
  /// excess is known.
  explicit CachingAllocator(int64_t limit = std::numeric_limits<int64_t>::max())
      : limit(limit) {}

  /// Allocates a block of at least `bytes` bytes.
  Handle allocate(int64_t bytes);
  void free(Handle handle);

  /// Returns the bytes in blocks that are in use, including remainders that
  /// could not be split off.
  int64_t allocated() const { return inUse; }
  /// Returns the bytes in segments.
  int64_t reserved() const { return inSegments; }
  /// Returns true if more than the limit is reserved.
  bool exceeds() const { return inSegments > limit; }
  /// Returns how often the allocator had to release cached segments to the
  /// device.
  uint64_t releases() const { return numReleases; }

  int64_t addressOf(Handle handle) const { return blocks[handle].address; }
  int64_t sizeOf(Handle handle) const { return blocks[handle].size; }

  /// Sets the tag of a block in use: a number other than 0 that stands for its
  /// contents in `appendState`. Blocks without a tag stay in use for ever.
  void setTag(Handle handle, int64_t tag) { blocks[handle].tag = tag; }
  /// Appends all state that influences later calls: equal states and equal
  /// calls give equal results. The state holds, per segment, the sizes and tags
  /// of its blocks in the order of addresses. It omits the addresses themselves
  /// and segments that stay in use as a whole, because they have no influence.
  void appendState(std::vector<int64_t> &state);

private:
  struct Block {
    int64_t address = 0;
    int64_t size = 0;
    int64_t tag = 0;
    Handle previous = none, next = none; ///< neighbours in the segment
    bool isFree = false;
    bool isSmall = false;
  };
  /// The sort key of a free block; blocks are tried in ascending order.
  struct Key {
    int64_t size;
    int64_t address;
    Handle block;
    bool operator<(const Key &other) const {
      return size != other.size ? size < other.size : address < other.address;
    }
  };
  /// A set of sorted keys in short arrays. A few keys form a single array; with
  /// many keys, an insertion moves the keys of one array only.
  class Pool {
  public:
    void insert(const Key &key);
    void erase(const Key &key);
    /// Removes the first key that is not less than `least`; returns false if
    /// there is none.
    bool take(const Key &least, Key &found);
    template <typename Predicate> void eraseIf(Predicate predicate);

  private:
    static constexpr unsigned longest = 256;
    using Chunk = std::vector<Key>; ///< never empty
    std::vector<Chunk>::iterator chunkOf(const Key &key);
    std::vector<Chunk> chunks;
  };

  Pool &poolOf(const Block &block) { return pools[block.isSmall]; }
  Handle newBlock(const Block &block);
  Handle newSegment(int64_t bytes, bool isSmall);
  void split(Handle handle, int64_t bytes);
  void merge(Handle first, Handle second);
  void insert(Handle handle);
  void remove(Handle handle);
  void releaseCached();

  int64_t limit;
  int64_t inUse = 0;
  int64_t inSegments = 0;
  int64_t nextAddress = 0;
  uint64_t numReleases = 0;
  std::vector<Block> blocks;
  std::vector<Handle> unusedBlocks;
  /// The first block of every segment that may still change, by address.
  std::vector<Handle> segments;
  Pool pools[2]; ///< free blocks: large, then small
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_ALLOCATOR_H
