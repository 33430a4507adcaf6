//===- Allocator.h - a caching allocator of device memory -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models PyTorch's caching allocator for CUDA devices by its published rules.
// ReservedMemory.cpp uses the model to compute how much device memory a
// framework reserves. The allocator takes *segments* of memory from the device
// and cuts them into *blocks*. Sizes are rounded up. Small and large blocks
// come from separate pools. A request takes the smallest free block that fits,
// and splits it if the remainder is large enough. Neighbouring free blocks are
// merged. Free segments are returned to the device only if the next segment
// would otherwise exceed the memory of the device. All work is assumed to run
// on one stream.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_ALLOCATOR_H
#define PROTEUS_SIM_ALLOCATOR_H

#include <cstdint>
#include <limits>
#include <vector>

namespace proteus::sim {

/// A caching allocator. It is deterministic: equal sequences of calls give
/// equal results.
class CachingAllocator {
public:
  /// Unit to which the sizes of requests are rounded up. All constants of this
  /// class are in bytes.
  static constexpr int64_t granularity = 512;
  /// Largest request that gets a block from the small pool.
  static constexpr int64_t smallLimit = 1 << 20;
  /// Size of the segments from which blocks of the small pool are cut.
  static constexpr int64_t smallSegment = 2 << 20;
  /// Sizes of segments of the large pool. A request of less than `largeLimit`
  /// gets a segment of `largeSegment`. Any other request gets a segment of its
  /// own size, rounded up to a multiple of `largeGranularity`.
  static constexpr int64_t largeLimit = 10 << 20;
  static constexpr int64_t largeSegment = 20 << 20;
  static constexpr int64_t largeGranularity = 2 << 20;

  /// Number that identifies a block in use. A request of 0 bytes gets `none`.
  using Handle = uint32_t;
  static constexpr Handle none = ~0u;

  /// Creates an allocator for a device with `limit` bytes. Before the allocator
  /// exceeds the limit, it returns its free segments to the device. If that is
  /// not enough, it exceeds the limit, so that the caller can compute how much
  /// memory is missing.
  explicit CachingAllocator(int64_t limit = std::numeric_limits<int64_t>::max())
      : limit(limit) {}

  /// Allocates a block of at least `bytes` bytes. Returns `none` if `bytes` is
  /// 0.
  Handle allocate(int64_t bytes);
  void free(Handle handle);

  /// Returns the total size of the blocks in use. A block may be larger than
  /// the request, if the remainder was too small to be split off.
  int64_t allocated() const { return inUse; }
  /// Returns the total size of the segments taken from the device.
  int64_t reserved() const { return inSegments; }
  /// Returns true if the reserved bytes exceed the limit.
  bool exceeds() const { return inSegments > limit; }
  /// Returns how often the allocator tried to return free segments to the
  /// device, because a new segment would have exceeded the limit.
  uint64_t releases() const { return numReleases; }

  int64_t addressOf(Handle handle) const { return blocks[handle].address; }
  int64_t sizeOf(Handle handle) const { return blocks[handle].size; }

  /// Sets the tag of a block in use: a number other than 0 by which
  /// `appendState` identifies the contents of the block. `appendState` assumes
  /// that a block in use without a tag is never freed.
  void setTag(Handle handle, int64_t tag) { blocks[handle].tag = tag; }
  /// Appends to `state` all numbers that determine the effects of later calls
  /// of the allocator. If two calls of this function append the same numbers,
  /// equal sequences of calls after them have equal effects. The numbers are,
  /// for each segment, the sizes and tags of its blocks in the order of
  /// addresses. Addresses are omitted, because only their order matters.
  /// Segments full of blocks that are never freed are omitted, because they do
  /// not change.
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
  /// The sort key of a free block: its size, then its address. A request takes
  /// the first block that is large enough.
  struct Key {
    int64_t size;
    int64_t address;
    Handle block;
    bool operator<(const Key &other) const {
      return size != other.size ? size < other.size : address < other.address;
    }
  };
  /// A sorted set of keys, divided into arrays of at most `longest` keys. An
  /// insertion moves the keys of only one array, so it is fast even if there
  /// are many keys.
  class Pool {
  public:
    void insert(const Key &key);
    void erase(const Key &key);
    /// Removes the first key that is not less than `least` and stores it in
    /// `found`. Returns false if there is no such key.
    bool take(const Key &least, Key &found);
    template <typename Predicate> void eraseIf(Predicate predicate);

  private:
    static constexpr unsigned longest = 256;
    using Chunk = std::vector<Key>; ///< sorted and never empty
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
  /// The first block of each segment, in the order of addresses. Does not
  /// contain segments that can no longer change, because `appendState` removes
  /// them.
  std::vector<Handle> segments;
  Pool pools[2]; ///< free blocks: [0] large, [1] small
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_ALLOCATOR_H
