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

void MemoryTracker::onAllocate(const TaskInstance &task, uint32_t index,
                               Time now) {
  State &state = classes[task.classIndex];
  state.add(task.buffer(*workload, index), 1);
  state.peak.hostBytes = std::max(state.peak.hostBytes, state.hostBytes);
  if (state.bytes <= state.peak.bytes)
    return;
  state.peak.bytes = state.bytes;
  state.peak.byOwner = state.byOwner;
  state.peak.tensorSplit = state.tensorSplit;
  state.peak.time = now;
  state.peak.label = workload->labels[task.in(*workload).label];
}

void MemoryTracker::onFree(const TaskInstance &task, uint32_t index, Time) {
  classes[task.classIndex].add(task.buffer(*workload, index), -1);
}
