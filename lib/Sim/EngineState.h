//===- EngineState.h - where a run stands -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a run, shared by the event loop, by the search for recurrence
// and by the diagnosis of deadlocks. A *stream* is numbered class * numStreams
// + stream.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_ENGINESTATE_H
#define PROTEUS_LIB_SIM_ENGINESTATE_H

#include "FlatWorkload.h"
#include "FlowNetwork.h"
#include "Host.h"
#include "Progress.h"
#include "SectionReplay.h"

#include "Proteus/Sim/Engine.h"

#include "llvm/Support/Error.h"

#include <vector>

namespace proteus::sim {

/// Ends come before what they allow to start; `SectionStep` is an end in a
/// section that is replayed, `FlowBegin` the end of the latency of a
/// collective.
enum class EventKind : uint8_t {
  TaskEnd,
  SectionStep,
  CollectiveEnd,
  FlowBegin,
  Launch,
};
constexpr unsigned eventKindShift = 61;

/// Events at the same time come by kind, then in the order of their creation:
/// `order` holds kind and sequence number in one comparison.
struct Event {
  Time time;
  uint64_t order;
  uint32_t subject; ///< a stream, a class or a collective
  uint32_t version; ///< of the subject; an older one is stale

  EventKind kind() const {
    return static_cast<EventKind>(order >> eventKindShift);
  }
  /// A heap has its largest element in front, so later is smaller.
  friend bool operator<(const Event &a, const Event &b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
};

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
  uint32_t version = 0; ///< of its end, which may be put off
  Time launched = 0;
};

/// In place of the time at which a task became ready.
constexpr Time notReady = -1;

/// The frames of one template: for every micro-batch under way, how many
/// dependencies its tasks and how many users its buffers still have.
struct Frames {
  size_t stride = 0;
  std::vector<uint32_t> open; ///< stride per slot
  /// Per slot and task, when the last dependency ended; `notReady` before,
  /// without any, and once the task has ended. With listeners only.
  std::vector<Time> ready;
  std::vector<uint32_t> remaining; ///< tasks per slot
  std::vector<uint32_t> freeSlots;
  std::vector<int32_t> slotOf; ///< per micro-batch, or -1
};

struct ClassState {
  FlatClass flat;
  Host host;
  Frames frames[2]; ///< micro, once
  Head heads[numStreams];

  /// The kernel that runs, if its speed can change.
  Progress kernel;
  /// Speed of a kernel beside a communication: of one that the memory bounds,
  /// of one that the matrix units bound.
  uint64_t disturbedSpeed[2] = {fullSpeed, fullSpeed};
  /// Streams on which a communication runs that disturbs kernels, as bits.
  uint32_t communicating = 0;
  bool computing = false;
  /// Whether its kernels slow communications.
  bool slowsCommunication = false;
  bool dirty = false; ///< the speed of its kernel may have changed
  ActiveReplay active;
  /// How often a task that could have started waited for its launch.
  uint64_t launchWaits = 0;

  uint64_t kernelSpeed(const FlatTask &task) const {
    return communicating ? disturbedSpeed[task.matrix] : fullSpeed;
  }
};

/// A collective and the instance of it that runs, if any. Members are in at
/// most one instance at a time, so no two run at the same time.
struct CollectiveState {
  Progress progress; ///< of its flow
  /// Its ceiling alone and while a member computes.
  uint64_t ceilings[2] = {0, 0};
  /// Members whose kernels slow it and that compute.
  uint32_t computingMembers = 0;
  uint32_t version = 0;
  bool interferes = false; ///< with kernels
  bool moving = false;     ///< its flow is active
  bool dirty = false;      ///< its ceiling may have changed
};

struct EngineState {
  /// With `canReplay`, sections may be told to listeners as a whole.
  EngineState(const Workload &workload, const EngineOptions &options,
              bool listening, bool canReplay);

  const Workload &workload;
  bool listening; ///< somebody wants to know when tasks became ready
  std::vector<ClassState> classes;
  std::vector<CollectiveState> collectives;
  FlowNetwork network;
  /// Streams of the parties of each collective, by class.
  IndexLists parties;
  /// Number of the first meeting of each collective; the meetings of one follow
  /// each other.
  std::vector<size_t> firstMeeting;
  std::vector<uint32_t> arrivals; ///< per meeting
  std::vector<Event> queue;       ///< a heap
  Time now = 0;
  RunResult result;
  SectionReplays replays;
  RateLog *rateLog = nullptr;

  /// Makes the frame of a micro-batch, or of the once-tasks; returns its slot.
  uint32_t openFrame(ClassState &state, const FlatItem &item);

  /// Duration of a collective that nothing disturbs.
  Time timeAlone(uint32_t collective) const;

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
  /// Whether what the event announced still holds.
  bool isStale(const Event &event) const {
    switch (event.kind()) {
    case EventKind::TaskEnd:
      return event.version != headOf(event.subject).version;
    case EventKind::CollectiveEnd:
      return event.version != collectives[event.subject].version;
    case EventKind::SectionStep:
      return event.version != classes[event.subject].active.version;
    case EventKind::FlowBegin:
    case EventKind::Launch:
      return false;
    }
    return false;
  }
  const FlatTask &taskOf(uint32_t stream) const {
    const Head &head = headOf(stream);
    return stateOf(stream).flat.templates[head.once].tasks[head.task];
  }
  /// The meeting that the party at the head of a stream goes to. A collective
  /// of the last or first micro-batch meets once, whichever micro-batch that is
  /// for each member.
  size_t meetingOf(uint32_t stream) const {
    const Head &head = headOf(stream);
    const FlatClass &flat = stateOf(stream).flat;
    const FlatTask &task = taskOf(stream);
    bool single = head.once || task.when != When::Always;
    return firstMeeting[task.collective] +
           (single ? 0 : flat.order[head.item].microBatch);
  }

private:
  void prepareMeetings();
  void prepareFlows(const EngineOptions &options);
  void skipTasks(ClassState &state, uint32_t slot, uint32_t section,
                 unsigned variant);
};

/// As `run`; `log` hears of every speed. For a workload of one class.
llvm::Expected<RunResult> runLogged(const Workload &workload,
                                    const EngineOptions &options,
                                    llvm::ArrayRef<Listener *> listeners,
                                    RateLog &log);

/// Describes why nothing can proceed although streams hold tasks: the waiting
/// cycle, and those who wait for it.
llvm::Error describeDeadlock(const EngineState &state);

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_ENGINESTATE_H
