//===- EngineState.h - the state of a run -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a run, shared by the event loop, the search for recurrence and
// the diagnosis of deadlocks. The streams of all classes are numbered: stream s
// of class c has the number c * numStreams + s.
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

/// Kinds of events, in their order at equal times: ends precede the starts that
/// they enable. `SectionStep` is an end in a replayed section, `FlowBegin` the
/// end of the latency of a collective.
enum class EventKind : uint8_t {
  TaskEnd,
  SectionStep,
  CollectiveEnd,
  FlowBegin,
  Launch,
};
constexpr unsigned eventKindShift = 61;

/// An event. Events at the same time are ordered by kind, then by creation:
/// `order` holds kind and sequence number, so that one comparison suffices.
struct Event {
  Time time;
  uint64_t order;
  uint32_t subject; ///< a stream, a class or a collective
  uint32_t version; ///< the event is stale if its subject has a newer one

  EventKind kind() const {
    return static_cast<EventKind>(order >> eventKindShift);
  }
  /// Orders later events as smaller, because the top of a heap is its largest
  /// element.
  friend bool operator<(const Event &a, const Event &b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
};

/// The task at the head of one stream of one class.
struct Head {
  enum class Status : uint8_t { Waiting, Arrived, Running, Exhausted };

  const uint32_t *next = nullptr; ///< next task in the section
  const uint32_t *end = nullptr;
  uint32_t item = 0;
  uint32_t task = 0;
  uint32_t slot = 0; ///< index of its frame
  Status status = Status::Exhausted;
  bool once = false;
  uint32_t version = 0; ///< of its TaskEnd event, which may move
  Time launched = 0;
};

/// Value of Frames::ready for a task that is not ready.
constexpr Time notReady = -1;

/// The frames of one template. For every micro-batch in progress, a frame holds
/// the number of open dependencies of each task and the number of remaining
/// users of each buffer.
struct Frames {
  size_t stride = 0;
  std::vector<uint32_t> open; ///< counters; `stride` per slot
  /// Per slot and task, the time at which its last dependency ended. It is
  /// `notReady` before that, for tasks without dependencies, and after the end
  /// of the task. Kept with listeners only.
  std::vector<Time> ready;
  std::vector<uint32_t> remaining; ///< tasks that have not ended, per slot
  std::vector<uint32_t> freeSlots;
  std::vector<int32_t> slotOf; ///< slot per micro-batch, or -1
};

/// The state of a device class.
struct ClassState {
  FlatClass flat;
  Host host;
  Frames frames[2]; ///< micro, once
  Head heads[numStreams];

  /// Progress of the running kernel, if its speed can change.
  Progress kernel;
  /// Speed of a kernel during communication: of a memory-bound kernel, then of
  /// one that the matrix units bound.
  uint64_t disturbedSpeed[2] = {fullSpeed, fullSpeed};
  /// Streams on which a communication runs that slows kernels, as bits.
  uint32_t communicating = 0;
  bool computing = false;
  /// True if its kernels slow communication.
  bool slowsCommunication = false;
  bool dirty = false; ///< true if the speed of its kernel may have changed
  ActiveReplay active;
  /// Number of tasks that were otherwise able to start and waited for their
  /// launch.
  uint64_t launchWaits = 0;

  /// Returns the present speed of a kernel of the class.
  uint64_t kernelSpeed(const FlatTask &task) const {
    return communicating ? disturbedSpeed[task.matrix] : fullSpeed;
  }
};

/// A collective and its running instance, if any. A member is in at most one
/// instance at a time, so no two instances run at the same time.
struct CollectiveState {
  Progress progress; ///< progress of its flow
  /// Ceiling of its rate in bytes/s: while no member computes, and while one
  /// does.
  uint64_t ceilings[2] = {0, 0};
  /// Number of members that compute and whose kernels slow the collective.
  uint32_t computingMembers = 0;
  uint32_t version = 0;
  bool interferes = false; ///< true if it and kernels slow each other
  bool moving = false;     ///< true if its flow is active
  bool dirty = false;      ///< true if its ceiling may have changed
};

/// The state of a whole run.
struct EngineState {
  /// Creates the state at the begin of a run. With `canReplay`, sections may be
  /// reported to listeners as a whole.
  EngineState(const Workload &workload, const EngineOptions &options,
              bool listening, bool canReplay);

  const Workload &workload;
  bool listening; ///< true if there are listeners
  std::vector<ClassState> classes;
  std::vector<CollectiveState> collectives;
  FlowNetwork network;
  /// Streams of the parties of each collective, in the order of classes.
  IndexLists parties;
  /// Number of the first meeting of each collective. A *meeting* is one
  /// instance of a collective with several members; the meetings of a
  /// collective have consecutive numbers.
  std::vector<size_t> firstMeeting;
  std::vector<uint32_t> arrivals; ///< members that arrived, per meeting
  std::vector<Event> queue;       ///< a heap
  Time now = 0;
  RunResult result;
  SectionReplays replays;
  RateLog *rateLog = nullptr;

  /// Creates the frame of a micro-batch, or of the once-tasks; returns its
  /// slot.
  uint32_t openFrame(ClassState &state, const FlatItem &item);

  /// Returns the duration of a collective that nothing slows.
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
  /// Returns true if the event no longer holds, because its subject has a newer
  /// version.
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
  /// Returns the meeting in which the head of a stream takes part. A collective
  /// of the last or first micro-batch has one meeting, even if that micro-batch
  /// differs between members.
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

/// Runs a workload of one class as `run` does, and reports every change of
/// speed to `log`.
llvm::Expected<RunResult> runLogged(const Workload &workload,
                                    const EngineOptions &options,
                                    llvm::ArrayRef<Listener *> listeners,
                                    RateLog &log);

/// Returns an error that describes why no task can proceed although streams
/// hold tasks: the waiting cycle, and the tasks that wait for the cycle.
llvm::Error describeDeadlock(const EngineState &state);

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_ENGINESTATE_H
