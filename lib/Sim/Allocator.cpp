//===- Allocator.cpp - a caching allocator of device memory ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Allocator.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace proteus::sim;

CachingAllocator::Handle CachingAllocator::newBlock(const Block &block) {
  if (unusedBlocks.empty()) {
    blocks.push_back(block);
    return blocks.size() - 1;
  }
  Handle handle = unusedBlocks.back();
  unusedBlocks.pop_back();
  blocks[handle] = block;
  return handle;
}

//===----------------------------------------------------------------------===//
// Pools of free blocks
//===----------------------------------------------------------------------===//

/// Returns the first array with a key that is not less than `key`, or the end
/// of `chunks` if all keys are less.
std::vector<CachingAllocator::Pool::Chunk>::iterator
CachingAllocator::Pool::chunkOf(const Key &key) {
  return std::lower_bound(
      chunks.begin(), chunks.end(), key,
      [](const Chunk &chunk, const Key &key) { return chunk.back() < key; });
}

void CachingAllocator::Pool::insert(const Key &key) {
  auto chunk = chunkOf(key);
  if (chunk == chunks.end()) {
    if (chunks.empty())
      chunks.emplace_back();
    chunk = std::prev(chunks.end());
  }
  chunk->insert(std::lower_bound(chunk->begin(), chunk->end(), key), key);
  if (chunk->size() <= longest)
    return;
  Chunk second(chunk->begin() + longest / 2, chunk->end());
  chunk->resize(longest / 2);
  chunks.insert(std::next(chunk), std::move(second));
}

void CachingAllocator::Pool::erase(const Key &key) {
  Key found;
  [[maybe_unused]] bool isThere = take(key, found);
  assert(isThere && found.block == key.block && "not in the pool");
}

bool CachingAllocator::Pool::take(const Key &least, Key &found) {
  auto chunk = chunkOf(least);
  if (chunk == chunks.end())
    return false;
  auto key = std::lower_bound(chunk->begin(), chunk->end(), least);
  found = *key;
  chunk->erase(key);
  if (chunk->empty())
    chunks.erase(chunk);
  return true;
}

template <typename Predicate>
void CachingAllocator::Pool::eraseIf(Predicate predicate) {
  for (Chunk &chunk : chunks)
    llvm::erase_if(chunk, predicate);
  llvm::erase_if(chunks, [](const Chunk &chunk) { return chunk.empty(); });
}

void CachingAllocator::insert(Handle handle) {
  Block &block = blocks[handle];
  block.isFree = true;
  poolOf(block).insert({block.size, block.address, handle});
}

void CachingAllocator::remove(Handle handle) {
  Block &block = blocks[handle];
  poolOf(block).erase({block.size, block.address, handle});
  block.isFree = false;
}

//===----------------------------------------------------------------------===//
// Allocating, splitting and merging blocks
//===----------------------------------------------------------------------===//

/// Shortens a block to `bytes` bytes. The rest becomes a free block.
void CachingAllocator::split(Handle handle, int64_t bytes) {
  Block rest;
  rest.address = blocks[handle].address + bytes;
  rest.size = blocks[handle].size - bytes;
  rest.isSmall = blocks[handle].isSmall;
  rest.previous = handle;
  rest.next = blocks[handle].next;
  Handle cut = newBlock(rest);
  if (rest.next != none)
    blocks[rest.next].previous = cut;
  blocks[handle].next = cut;
  blocks[handle].size = bytes;
  insert(cut);
}

/// Merges the block `second` into its neighbour `first`. Neither block may be
/// in a pool.
void CachingAllocator::merge(Handle first, Handle second) {
  blocks[first].size += blocks[second].size;
  Handle next = blocks[first].next = blocks[second].next;
  if (next != none)
    blocks[next].previous = first;
  unusedBlocks.push_back(second);
}

/// Returns all segments without a block in use to the device, and increments
/// `numReleases`.
void CachingAllocator::releaseCached() {
  ++numReleases;
  llvm::DenseSet<Handle> released;
  for (Pool &pool : pools)
    pool.eraseIf([&](const Key &key) {
      const Block &block = blocks[key.block];
      if (block.previous != none || block.next != none)
        return false;
      inSegments -= block.size;
      unusedBlocks.push_back(key.block);
      released.insert(key.block);
      return true;
    });
  // Searches `segments` only if something was released. If a job does not fit,
  // this function is called for every new segment and mostly releases nothing.
  if (!released.empty())
    llvm::erase_if(segments,
                   [&](Handle first) { return released.contains(first); });
}

CachingAllocator::Handle CachingAllocator::newSegment(int64_t bytes,
                                                      bool isSmall) {
  Block block;
  block.isSmall = isSmall;
  block.size = isSmall              ? smallSegment
               : bytes < largeLimit ? largeSegment
                                    : llvm::alignTo(bytes, largeGranularity);
  if (block.size > limit - inSegments)
    releaseCached();
  block.address = nextAddress;
  nextAddress += block.size;
  inSegments += block.size;
  segments.push_back(newBlock(block));
  return segments.back();
}

CachingAllocator::Handle CachingAllocator::allocate(int64_t bytes) {
  assert(bytes >= 0 && "negative size");
  if (bytes == 0)
    return none;
  bytes = llvm::alignTo(bytes, granularity);
  bool isSmall = bytes <= smallLimit;
  Handle handle;
  if (Key fit; pools[isSmall].take({bytes, 0, 0}, fit)) {
    handle = fit.block;
    blocks[handle].isFree = false;
  } else {
    handle = newSegment(bytes, isSmall);
  }
  int64_t rest = blocks[handle].size - bytes;
  if (isSmall ? rest >= granularity : rest > smallLimit)
    split(handle, bytes);
  blocks[handle].tag = 0;
  inUse += blocks[handle].size;
  return handle;
}

void CachingAllocator::free(Handle handle) {
  if (handle == none)
    return;
  assert(!blocks[handle].isFree && "freed twice");
  inUse -= blocks[handle].size;
  Handle next = blocks[handle].next;
  if (next != none && blocks[next].isFree) {
    remove(next);
    merge(handle, next);
  }
  Handle previous = blocks[handle].previous;
  if (previous != none && blocks[previous].isFree) {
    remove(previous);
    merge(previous, handle);
    handle = previous;
  }
  insert(handle);
}

void CachingAllocator::appendState(std::vector<int64_t> &state) {
  // Only the order of addresses matters, not their values. The order need not
  // be stored, because `segments` is in the order of addresses and new segments
  // are added at the end.
  llvm::erase_if(segments, [&](Handle first) {
    size_t begin = state.size();
    bool changes = false;
    state.push_back(0);
    for (Handle handle = first; handle != none; handle = blocks[handle].next) {
      const Block &block = blocks[handle];
      // The sign distinguishes free blocks from blocks in use.
      state.push_back(block.isFree ? -block.size : block.size);
      state.push_back(block.isFree ? 0 : block.tag);
      changes |= block.isFree || block.tag != 0;
    }
    if (!changes)
      state.resize(begin);
    return !changes;
  });
}
