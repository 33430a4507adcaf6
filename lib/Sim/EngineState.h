//===- EngineState.h - where a run stands -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a run, shared by the event loop and by the diagnosis of
// deadlocks. A *stream* is numbered class * numStreams + stream.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_ENGINESTATE_H
#define PROTEUS_LIB_SIM_ENGINESTATE_H

#include "FlatWorkload.h"

#include "llvm/Support/Error.h"

#include <vector>

namespace proteus::sim {

/// The task at the head of one stream of one class.
struct Head {
  enum class Status : uint8_t { Waiting, Arrived, Running, Exhausted };

  const uint32_t *next = nullptr; ///< behind the head, in the same section
  const uint32_t *end = nullptr;
  uint32_t item = 0;
  uint32_t task = 0;
  uint32_t slot = 0; ///< of its frame
  Status status = Status::Exhausted;
  bool once = false;
  Time launched = 0;
};

/// The frames of one template: for every micro-batch under way, how many
/// dependencies its tasks and how many users its buffers still have.
struct Frames {
  size_t stride = 0;
  std::vector<uint32_t> open;      ///< stride per slot
  std::vector<Time> ready;         ///< per slot and task; with listeners only
  std::vector<uint32_t> remaining; ///< tasks per slot
  std::vector<uint32_t> freeSlots;
  std::vector<int32_t> slotOf; ///< per micro-batch, or -1
};

struct ClassState {
  FlatClass flat;
  Frames frames[2]; ///< micro, once
  Head heads[numStreams];
};

struct EngineState {
  explicit EngineState(const Workload &workload) : workload(workload) {}

  const Workload &workload;
  std::vector<ClassState> classes;
  /// Streams of the parties of each collective, by class.
  IndexLists parties;
  /// Number of the first meeting of each collective; the meetings of one follow
  /// each other.
  std::vector<size_t> firstMeeting;
  Time now = 0;

  uint32_t numAllStreams() const { return classes.size() * numStreams; }
  ClassState &stateOf(uint32_t stream) { return classes[stream / numStreams]; }
  const ClassState &stateOf(uint32_t stream) const {
    return classes[stream / numStreams];
  }
  Head &headOf(uint32_t stream) {
    return stateOf(stream).heads[stream % numStreams];
  }
  const Head &headOf(uint32_t stream) const {
    return stateOf(stream).heads[stream % numStreams];
  }
  /// The meeting that the party at the head of a stream goes to. A collective
  /// of the last micro-batch meets once, whichever micro-batch that is for each
  /// member.
  size_t meetingOf(uint32_t stream) const {
    const Head &head = headOf(stream);
    const FlatClass &flat = stateOf(stream).flat;
    const FlatTask &task = flat.templates[head.once].tasks[head.task];
    bool single = head.once || task.lastOnly;
    return firstMeeting[task.collective] +
           (single ? 0 : flat.order[head.item].microBatch);
  }
};

/// Describes why nothing can proceed although streams hold tasks: the waiting
/// cycle, and those who wait for it.
llvm::Error describeDeadlock(const EngineState &state);

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_ENGINESTATE_H
