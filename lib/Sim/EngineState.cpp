//===- EngineState.cpp - initial state of runs and frames -----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EngineState.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace proteus::sim;

/// Added to the number of users of a buffer if the task that allocates the
/// buffer does not run. Such a buffer is never allocated, so it must not be
/// freed: its number of users must never reach zero.
constexpr uint32_t neverAllocated = 1u << 30;

/// Returns the speed of a kernel or flow that takes `factor` times as long as
/// at full speed. The result is `fullSpeed` for factor 1.
static uint64_t speedOf(double factor) {
  return std::max<int64_t>(std::llround(fullSpeed / factor), 1);
}

EngineState::EngineState(const Workload &workload, const EngineOptions &options,
                         bool listening, bool canReplay)
    : workload(workload), listening(listening),
      classes(workload.classes.size()),
      collectives(workload.collectives.size()),
      network(workload, options.share) {
  for (size_t c = 0; c < classes.size(); ++c) {
    const DeviceClass &device = workload.classes[c];
    ClassState &state = classes[c];
    state.flat = flatten(device);
    state.host = Host(state.flat);
    for (bool once : {false, true}) {
      Frames &frames = state.frames[once];
      frames.stride = state.flat.templates[once].initial.size();
      frames.slotOf.assign(once ? 1 : workload.info.microBatches, -1);
    }
    if (options.overlap) {
      state.disturbedSpeed[0] = speedOf(device.interference.memoryKernel);
      state.disturbedSpeed[1] = speedOf(device.interference.matrixKernel);
      state.slowsCommunication = device.interference.communication > 1;
    }
  }
  prepareMeetings();
  prepareFlows(options);
  replays = SectionReplays(*this, options, canReplay);
}

void EngineState::prepareMeetings() {
  std::vector<SmallVector<uint32_t, 2>> streams(collectives.size());
  std::vector<bool> single(collectives.size());
  for (uint32_t c = 0; c < classes.size(); ++c)
    for (bool once : {false, true})
      for (const FlatTask &task : classes[c].flat.templates[once].tasks)
        if (task.collective >= 0) {
          streams[task.collective].push_back(
              c * numStreams + static_cast<unsigned>(task.stream));
          single[task.collective] = once || task.when != When::Always;
        }
  size_t meetings = 0;
  for (size_t c = 0; c < streams.size(); ++c) {
    parties.beginList();
    for (uint32_t stream : streams[c])
      parties.add(stream);
    firstMeeting.push_back(meetings);
    // A collective with one member starts when this member arrives, so it needs
    // no meeting.
    if (streams[c].size() > 1)
      meetings += single[c] ? 1 : workload.info.microBatches;
  }
  parties.finish();
  arrivals.assign(meetings, 0);
}

void EngineState::prepareFlows(const EngineOptions &options) {
  for (uint32_t c = 0; c < collectives.size(); ++c) {
    CollectiveState &collective = collectives[c];
    const Flow &flow = workload.collectives[c].flow;
    double factor = 1;
    for (uint32_t member : workload.collectives[c].members)
      factor =
          std::max(factor, workload.classes[member].interference.communication);
    collective.interferes = options.overlap && flow.channels > 0;
    collective.ceilings[0] = flow.ceiling;
    collective.ceilings[1] = std::max<uint64_t>(
        static_cast<uint64_t>(Wide(flow.ceiling) * speedOf(factor) / fullSpeed),
        1);
  }
}

Time EngineState::timeAlone(uint32_t collective) const {
  const Flow &flow = workload.collectives[collective].flow;
  if (flow.volume == 0)
    return flow.latency;
  Progress progress = {Wide(flow.volume) * workPerByte,
                       network.rateAlone(collective, flow.ceiling),
                       std::min(flow.latency, timeLimit)};
  return progress.end();
}

/// Prepares a new frame: counts those tasks of a section as ended that do not
/// run in `variant`. `variant` is the variant in which the micro-batch of the
/// frame runs the section.
void EngineState::skipTasks(ClassState &state, uint32_t slot, uint32_t section,
                            unsigned variant) {
  const FlatTemplate &flat = state.flat.templates[0];
  Frames &frames = state.frames[0];
  uint32_t *open = frames.open.data() + slot * frames.stride;
  uint32_t *users = open + flat.numTasks();
  for (uint32_t task : flat.notAlways[section]) {
    if (runsIn(flat.tasks[task].when, variant))
      continue;
    --frames.remaining[slot];
    for (uint32_t successor : flat.successors[task])
      --open[successor];
    for (uint32_t buffer : flat.allocates[task])
      users[buffer] += neverAllocated;
    for (uint32_t buffer : flat.uses[task])
      --users[buffer];
  }
}

uint32_t EngineState::openFrame(ClassState &state, const FlatItem &item) {
  Frames &frames = state.frames[item.once];
  const FlatTemplate &flat = state.flat.templates[item.once];
  uint32_t slot = frames.remaining.size();
  if (!frames.freeSlots.empty()) {
    slot = frames.freeSlots.back();
    frames.freeSlots.pop_back();
  } else {
    frames.remaining.push_back(0);
    frames.open.resize(frames.open.size() + frames.stride);
    if (listening)
      frames.ready.resize(frames.ready.size() + flat.numTasks());
  }
  frames.slotOf[item.microBatch] = slot;
  frames.remaining[slot] = flat.numTasks();
  llvm::copy(flat.initial, frames.open.begin() + slot * frames.stride);
  if (listening)
    std::fill_n(frames.ready.begin() + slot * flat.numTasks(), flat.numTasks(),
                notReady);
  if (!item.once)
    for (uint32_t s = 0; s < flat.numSections(); ++s)
      skipTasks(state, slot, s, state.flat.variantOf(s, item.microBatch));
  return slot;
}
