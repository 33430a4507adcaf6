//===- AllocatorTracker.cpp - what the allocator reserves -----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Listeners.h"
#include "Proteus/Sim/MemoryVerdict.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace llvm;
using namespace proteus::sim;

void AllocatorTracker::onBegin(const Workload &w, ArrayRef<Time>) {
  workload = &w;
  classes.clear();
  std::vector<MemoryBudget> budgets = budgetsOf(w);
  std::vector<int64_t> sizes;
  for (uint32_t c = 0; c < w.classes.size(); ++c) {
    const DeviceClass &device = w.classes[c];
    State &state = classes.emplace_back();
    state.allocator = CachingAllocator(budgets[c].forTensors());
    state.once.blocks.resize(device.once.buffers.size(),
                             CachingAllocator::none);
    sizes.clear();
    for (const Buffer &buffer : device.resident)
      if (!buffer.onHost)
        sizes.insert(sizes.end(), buffer.pieces, buffer.bytes / buffer.pieces);
    llvm::sort(sizes, std::greater<int64_t>());
    for (int64_t bytes : sizes)
      state.allocator.allocate(bytes);
    update(state, "", 0);
  }
}

AllocatorTracker::Frame &AllocatorTracker::frameOf(State &state,
                                                   const TaskInstance &task) {
  if (task.once)
    return state.once;
  if (state.frameOf.size() <= task.microBatch)
    state.frameOf.resize(task.microBatch + 1, 0);
  uint32_t &number = state.frameOf[task.microBatch];
  auto isOurs = [&](const Frame &frame) {
    return frame.microBatch == task.microBatch;
  };
  if (number < state.frames.size() && isOurs(state.frames[number]))
    return state.frames[number];
  // Frames get other micro-batches where the engine skips some.
  auto found = llvm::find_if(state.frames, isOurs);
  number = found - state.frames.begin();
  if (found != state.frames.end())
    return *found;
  if (state.unusedFrames.empty()) {
    state.frames.emplace_back().blocks.resize(
        workload->classes[task.classIndex].micro.buffers.size(),
        CachingAllocator::none);
  } else {
    number = state.unusedFrames.back();
    state.unusedFrames.pop_back();
  }
  state.frames[number].microBatch = task.microBatch;
  return state.frames[number];
}

/// Micro-batches are compared by their order: in the next period others take
/// their places.
void AllocatorTracker::visitState(StateVisitor &visitor) {
  std::vector<Frame *> inFlight;
  for (State &state : classes) {
    inFlight.clear();
    for (Frame &frame : state.frames)
      if (frame.microBatch >= 0)
        inFlight.push_back(&frame);
    llvm::sort(inFlight, [](const Frame *a, const Frame *b) {
      return a->microBatch < b->microBatch;
    });
    visitor.same(inFlight.size());
    for (Frame *frame : inFlight)
      visitor.count(frame->microBatch);
    inFlight.push_back(&state.once);
    int64_t tag = 0;
    for (Frame *frame : inFlight)
      for (Handle block : frame->blocks) {
        ++tag;
        if (block != CachingAllocator::none)
          state.allocator.setTag(block, tag);
      }
    image.clear();
    state.allocator.appendState(image);
    for (int64_t value : image)
      visitor.same(value);
    visitor.same(state.peak.releases);
  }
}

void AllocatorTracker::update(State &state, StringRef label, Time now) {
  const CachingAllocator &allocator = state.allocator;
  AllocatorPeak &peak = state.peak;
  if (allocator.allocated() > peak.allocated) {
    peak.allocated = allocator.allocated();
    peak.inFlight = state.frames.size() - state.unusedFrames.size();
  }
  peak.releases = allocator.releases();
  if (allocator.exceeds() && !peak.exceeded) {
    peak.exceeded = true;
    peak.exceededTime = now;
    peak.exceededLabel = label.str();
  }
  if (allocator.reserved() < peak.reserved)
    return;
  int64_t fragmentation = allocator.reserved() - allocator.allocated();
  if (allocator.reserved() > peak.reserved) {
    peak.reserved = allocator.reserved();
    peak.fragmentation = fragmentation;
    peak.time = now;
    peak.label = label.str();
  }
  // As long as nothing more is reserved, the fullest moment counts.
  peak.fragmentation = std::min(peak.fragmentation, fragmentation);
}

void AllocatorTracker::onAllocate(const TaskInstance &task, uint32_t index,
                                  Time now) {
  const Buffer &buffer = task.buffer(*workload, index);
  if (buffer.onHost)
    return;
  State &state = classes[task.classIndex];
  Frame &frame = frameOf(state, task);
  assert(frame.blocks[index] == CachingAllocator::none && "allocated twice");
  frame.blocks[index] = state.allocator.allocate(buffer.bytes);
  ++frame.live;
  update(state, workload->labels[task.in(*workload).label], now);
}

void AllocatorTracker::onFree(const TaskInstance &task, uint32_t index, Time) {
  if (task.buffer(*workload, index).onHost)
    return;
  State &state = classes[task.classIndex];
  Frame &frame = frameOf(state, task);
  state.allocator.free(frame.blocks[index]);
  frame.blocks[index] = CachingAllocator::none;
  if (--frame.live > 0 || task.once)
    return;
  frame.microBatch = -1;
  state.unusedFrames.push_back(&frame - state.frames.data());
}
