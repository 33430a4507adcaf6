//===- MemoryTracker.cpp - memory in simulated time -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Listeners.h"

using namespace llvm;
using namespace proteus::sim;

void MemoryTracker::State::add(const Buffer &buffer, int sign) {
  int64_t change = sign * buffer.bytes;
  if (buffer.onHost) {
    hostBytes += change;
    return;
  }
  bytes += change;
  byOwner[static_cast<unsigned>(buffer.owner)] += change;
  if (buffer.tensorSplit)
    tensorSplit[static_cast<unsigned>(buffer.owner)] += change;
}

void MemoryTracker::onBegin(const Workload &w, ArrayRef<Time>) {
  workload = &w;
  classes.assign(w.classes.size(), {});
  for (size_t c = 0; c < classes.size(); ++c) {
    State &state = classes[c];
    for (const Buffer &buffer : w.classes[c].resident)
      state.add(buffer, 1);
    state.peak.bytes = state.bytes;
    state.peak.byOwner = state.byOwner;
    state.peak.tensorSplit = state.tensorSplit;
    state.peak.hostBytes = state.hostBytes;
  }
}

void MemoryTracker::apply(State &state, const Change &change) {
  state.add(*change.buffer, change.sign);
  if (change.sign < 0)
    return;
  state.peak.hostBytes = std::max(state.peak.hostBytes, state.hostBytes);
  // At one point in time, allocations may come in any order.
  if (state.instant != change.time)
    state.largest = -1;
  state.instant = change.time;
  if (change.buffer->bytes > state.largest ||
      (change.buffer->bytes == state.largest &&
       change.label < state.largestLabel)) {
    state.largest = change.buffer->bytes;
    state.largestLabel = change.label;
  }
  if (state.bytes < state.peak.bytes ||
      (state.bytes == state.peak.bytes && state.peak.time != change.time))
    return;
  state.peak.bytes = state.bytes;
  state.peak.byOwner = state.byOwner;
  state.peak.tensorSplit = state.tensorSplit;
  state.peak.time = change.time;
  state.peak.label = workload->labels[state.largestLabel];
}

void MemoryTracker::change(State &state, const Change &change) {
  if (!state.section) {
    apply(state, change);
    return;
  }
  state.outside.push_back(change);
  if (change.sign > 0)
    state.allocatedOutside += change.buffer->bytes;
}

void MemoryTracker::onAllocate(const TaskInstance &task, uint32_t index,
                               Time now) {
  change(classes[task.classIndex],
         {now, &task.buffer(*workload, index), 1, task.in(*workload).label});
}

void MemoryTracker::onFree(const TaskInstance &task, uint32_t index, Time now) {
  change(classes[task.classIndex],
         {now, &task.buffer(*workload, index), -1, 0});
}

void MemoryTracker::onSectionStart(const SectionTrace &trace, Time now) {
  if (profiles.size() <= trace.index)
    profiles.resize(trace.index + 1);
  if (!profiles[trace.index]) {
    const Template &micro = workload->classes[trace.classIndex].micro;
    auto profile = std::make_unique<Profile>();
    int64_t bytes = 0;
    for (const SectionEvent &event : trace.events) {
      bool allocates = event.kind == SectionEvent::Kind::Allocate;
      if (!allocates && event.kind != SectionEvent::Kind::Free)
        continue;
      const Buffer &buffer = micro.buffers[event.subject];
      profile->changes.push_back({event.offset, &buffer, allocates ? 1 : -1,
                                  micro.tasks[event.task].label});
      bytes += allocates ? buffer.bytes : -buffer.bytes;
      profile->most = std::max(profile->most, bytes);
    }
    profiles[trace.index] = std::move(profile);
  }
  State &state = classes[trace.classIndex];
  state.section = profiles[trace.index].get();
  state.sectionStart = now;
}

void MemoryTracker::onSectionEnd(const SectionTrace &trace, Time) {
  State &state = classes[trace.classIndex];
  const Profile &section = *std::exchange(state.section, nullptr);
  bool canPeak =
      state.bytes + section.most + state.allocatedOutside >= state.peak.bytes;
  auto applyOne = [&](Change change, Time start) {
    change.time += start;
    if (canPeak)
      apply(state, change);
    else
      state.add(*change.buffer, change.sign);
  };
  // In the order of time; at one point in time what is freed comes first.
  auto next = state.outside.begin();
  for (const Change &change : section.changes) {
    Time time = state.sectionStart + change.time;
    for (; next != state.outside.end() &&
           (next->time < time ||
            (next->time == time && (next->sign < 0 || change.sign > 0)));
         ++next)
      applyOne(*next, 0);
    applyOne(change, state.sectionStart);
  }
  for (; next != state.outside.end(); ++next)
    applyOne(*next, 0);
  state.outside.clear();
  state.allocatedOutside = 0;
}

/// A period that recurs holds no more than the one before it.
void MemoryTracker::visitState(StateVisitor &visitor) {
  for (State &state : classes) {
    visitor.same(state.bytes);
    visitor.same(state.hostBytes);
    for (unsigned o = 0; o < numMemoryOwners; ++o) {
      visitor.same(state.byOwner[o]);
      visitor.same(state.tensorSplit[o]);
    }
    visitor.same(state.section != nullptr);
    visitor.time(state.sectionStart);
    visitor.same(state.outside.size());
    for (Change &change : state.outside) {
      visitor.time(change.time);
      visitor.same(reinterpret_cast<intptr_t>(change.buffer));
      visitor.same(change.sign);
    }
  }
}
