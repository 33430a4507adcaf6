//===- MemoryTracker.cpp - memory in simulated time -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Listeners.h"

#include <limits>
#include <utility>

using namespace llvm;
using namespace proteus::sim;

void MemoryTracker::Amounts::add(const Block &block, int sign) {
  int64_t change = sign * block.bytes;
  if (block.onHost) {
    hostBytes += change;
    return;
  }
  bytes += change;
  byOwner[static_cast<unsigned>(block.owner)] += change;
  if (block.tensorSplit)
    tensorSplit[static_cast<unsigned>(block.owner)] += change;
}

void MemoryTracker::Amounts::add(const Amounts &other) {
  bytes += other.bytes;
  hostBytes += other.hostBytes;
  for (unsigned o = 0; o < numMemoryOwners; ++o) {
    byOwner[o] += other.byOwner[o];
    tensorSplit[o] += other.tensorSplit[o];
  }
}

void MemoryTracker::onBegin(const Workload &w, ArrayRef<Time>) {
  workload = &w;
  blocks.findOfBuffers(
      w, [](uint32_t, const Buffer &buffer) { return blockOf(buffer); });
  labels.findOfTasks(w, [](uint32_t, const Task &task) { return task.label; });
  classes.assign(w.classes.size(), {});
  for (size_t c = 0; c < classes.size(); ++c) {
    State &state = classes[c];
    for (const Buffer &buffer : w.classes[c].resident)
      state.held.add(blockOf(buffer), 1);
    state.peak.bytes = state.held.bytes;
    state.peak.byOwner = state.held.byOwner;
    state.peak.tensorSplit = state.held.tensorSplit;
    state.peak.hostBytes = state.held.hostBytes;
  }
}

void MemoryTracker::allocate(State &state, const Block &block, uint32_t label,
                             Time now) {
  state.held.add(block, 1);
  state.peak.hostBytes = std::max(state.peak.hostBytes, state.held.hostBytes);
  if (block.onHost)
    return;
  // Allocations at one point in time may be reported in any order. The label is
  // therefore taken from the largest allocation, not from the last one.
  if (state.instant != now)
    state.largest = -1;
  state.instant = now;
  if (block.bytes > state.largest ||
      (block.bytes == state.largest && label < state.largestLabel)) {
    state.largest = block.bytes;
    state.largestLabel = label;
  }
  if (state.held.bytes < state.peak.bytes ||
      (state.held.bytes == state.peak.bytes && state.peak.time != now))
    return;
  state.peak.bytes = state.held.bytes;
  state.peak.byOwner = state.held.byOwner;
  state.peak.tensorSplit = state.held.tensorSplit;
  state.peak.time = now;
  state.peak.label = workload->labels[state.largestLabel];
}

void MemoryTracker::onAllocate(const TaskInstance &task, uint32_t index,
                               Time now) {
  allocate(classes[task.classIndex],
           blocks.at(task.classIndex, task.once, index),
           labels.at(task.classIndex, task.once, task.task), now);
}

void MemoryTracker::onFree(const TaskInstance &task, uint32_t index, Time) {
  classes[task.classIndex].held.add(
      blocks.at(task.classIndex, task.once, index), -1);
}

const MemoryTracker::Profile &
MemoryTracker::profileOf(const SectionTrace &trace, uint32_t stretch) {
  if (profiles.size() <= trace.index)
    profiles.resize(trace.index + 1);
  std::vector<Profile> &ofTrace = profiles[trace.index];
  ofTrace.resize(trace.stretches.size());
  Profile &profile = ofTrace[stretch];
  if (std::exchange(profile.isKnown, true))
    return profile;
  for (const SectionEvent &event : trace.eventsOf(stretch)) {
    if (event.kind == SectionEvent::Kind::Allocate) {
      profile.change.add(blocks.at(trace.classIndex, false, event.subject), 1);
      profile.most = std::max(profile.most, profile.change.bytes);
      // If this allocation is at the end of the stretch, a later task may
      // allocate at the same time, and the peak must consider both allocations.
      // A large value of `most` makes `onStretch` process the events one by
      // one.
      if (event.offset == trace.stretches[stretch].end)
        profile.most = std::numeric_limits<int64_t>::max() / 2;
    } else if (event.kind == SectionEvent::Kind::Free) {
      profile.change.add(blocks.at(trace.classIndex, false, event.subject), -1);
    }
  }
  return profile;
}

/// If the memory stays below the peak, applies the change of the stretch as a
/// whole. Otherwise processes the events of the stretch one by one, to find the
/// time and the label of a new peak.
void MemoryTracker::onStretch(const SectionTrace &trace, uint32_t stretch,
                              Time start) {
  State &state = classes[trace.classIndex];
  const Profile &profile = profileOf(trace, stretch);
  if (state.held.bytes + profile.most < state.peak.bytes) {
    state.held.add(profile.change);
    return;
  }
  for (const SectionEvent &event : trace.eventsOf(stretch)) {
    if (event.kind == SectionEvent::Kind::Allocate)
      allocate(state, blocks.at(trace.classIndex, false, event.subject),
               labels.at(trace.classIndex, false, event.task),
               start + event.offset);
    else if (event.kind == SectionEvent::Kind::Free)
      state.held.add(blocks.at(trace.classIndex, false, event.subject), -1);
  }
}
