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

void MemoryTracker::onBegin(const Workload &w, ArrayRef<Time>) {
  workload = &w;
  classes.assign(w.classes.size(), {});
  for (size_t c = 0; c < classes.size(); ++c) {
    State &state = classes[c];
    for (const Buffer &buffer : w.classes[c].resident) {
      if (buffer.onHost) {
        state.hostBytes += buffer.bytes;
        continue;
      }
      state.bytes += buffer.bytes;
      state.byOwner[static_cast<unsigned>(buffer.owner)] += buffer.bytes;
    }
    state.peak.bytes = state.bytes;
    state.peak.byOwner = state.byOwner;
    state.peak.hostBytes = state.hostBytes;
  }
}

const Buffer &MemoryTracker::bufferOf(const TaskInstance &task,
                                      uint32_t buffer) const {
  const DeviceClass &device = workload->classes[task.classIndex];
  return (task.once ? device.once : device.micro).buffers[buffer];
}

void MemoryTracker::onAllocate(const TaskInstance &task, uint32_t index,
                               Time now) {
  const Buffer &buffer = bufferOf(task, index);
  State &state = classes[task.classIndex];
  if (buffer.onHost) {
    state.hostBytes += buffer.bytes;
    state.peak.hostBytes = std::max(state.peak.hostBytes, state.hostBytes);
    return;
  }
  state.bytes += buffer.bytes;
  state.byOwner[static_cast<unsigned>(buffer.owner)] += buffer.bytes;
  if (state.bytes <= state.peak.bytes)
    return;
  state.peak.bytes = state.bytes;
  state.peak.byOwner = state.byOwner;
  state.peak.time = now;
  state.peak.label = workload->labels[task.in(*workload).label];
}

void MemoryTracker::onFree(const TaskInstance &task, uint32_t index, Time) {
  const Buffer &buffer = bufferOf(task, index);
  State &state = classes[task.classIndex];
  if (buffer.onHost) {
    state.hostBytes -= buffer.bytes;
    return;
  }
  state.bytes -= buffer.bytes;
  state.byOwner[static_cast<unsigned>(buffer.owner)] -= buffer.bytes;
}
