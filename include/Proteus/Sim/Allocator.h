//===- Allocator.h - a caching allocator of device memory -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What PyTorch's allocator for CUDA devices would reserve, by its published
// rules: sizes are rounded, small and large blocks come from pools of their
// own, the smallest free block that fits is taken and split, free neighbours
// are joined, and memory goes back to the device only when it would not
// suffice otherwise. One stream of work is assumed.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_ALLOCATOR_H
#define PROTEUS_SIM_ALLOCATOR_H

#include <cstdint>
#include <limits>
#include <vector>

namespace proteus::sim {

/// Deterministic.
class CachingAllocator {
public:
  /// The rules' constants, in bytes.
  static constexpr int64_t granularity = 512;
  /// Largest block of the small pool, and the segments it is cut from.
  static constexpr int64_t smallLimit = 1 << 20;
  static constexpr int64_t smallSegment = 2 << 20;
  /// Blocks of the large pool below the limit are cut from segments of one
  /// size; others get segments in multiples of `largeGranularity`.
  static constexpr int64_t largeLimit = 10 << 20;
  static constexpr int64_t largeSegment = 20 << 20;
  static constexpr int64_t largeGranularity = 2 << 20;

  /// A block in use. 0 bytes are no block.
  using Handle = uint32_t;
  static constexpr Handle none = ~0u;

  /// `limit`: bytes that can be reserved without releasing what is cached. The
  /// allocator goes on beyond it, so that the excess is known.
  explicit CachingAllocator(int64_t limit = std::numeric_limits<int64_t>::max())
      : limit(limit) {}

  Handle allocate(int64_t bytes);
  void free(Handle handle);

  /// Bytes in blocks that are in use; what could not be split off is in use.
  int64_t allocated() const { return inUse; }
  /// Bytes in segments.
  int64_t reserved() const { return inSegments; }
  /// Whether more than the limit is reserved.
  bool exceeds() const { return inSegments > limit; }
  /// How often cached segments were given back to the device.
  uint64_t releases() const { return numReleases; }

  int64_t addressOf(Handle handle) const { return blocks[handle].address; }
  int64_t sizeOf(Handle handle) const { return blocks[handle].size; }

  /// Gives a block in use a number other than 0 that stands for its contents in
  /// `appendState`. Blocks without one stay in use for ever.
  void setTag(Handle handle, int64_t tag) { blocks[handle].tag = tag; }
  /// Appends all that decides what later calls do: equal states and equal calls
  /// give equal results. Per segment the sizes and tags of its blocks, in the
  /// order of addresses; addresses themselves do not matter, nor do segments
  /// that stay in use as a whole.
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
  /// The order in which free blocks are tried.
  struct Key {
    int64_t size;
    int64_t address;
    Handle block;
    bool operator<(const Key &other) const {
      return size != other.size ? size < other.size : address < other.address;
    }
  };
  /// Sorted keys in short arrays: where there are few, one array; where there
  /// are many, no insertion moves more than one array.
  class Pool {
  public:
    void insert(const Key &key);
    void erase(const Key &key);
    /// Takes out the first key that is not less; false if there is none.
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
  /// The first block of every segment that may change, by address.
  std::vector<Handle> segments;
  Pool pools[2]; ///< free blocks: large, small
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_ALLOCATOR_H
