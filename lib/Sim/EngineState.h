//===- EngineState.h - the state of a run -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a run of the engine. The event loop, the search for recurrence
// and the diagnosis of deadlocks share it. All streams of all classes are
// numbered consecutively: stream s of class c has the number c * numStreams +
// s.
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

/// Kinds of events. Events at the same time are processed in the order of this
/// list: ends precede the starts that they enable. A `SectionStep` is the end
/// of a task in a replayed section, or the end of the replay. A `FlowBegin` is
/// the end of the latency of a collective.
enum class EventKind : uint8_t {
  TaskEnd,
  SectionStep,
  CollectiveEnd,
  FlowBegin,
  Launch,
};
constexpr unsigned eventKindShift = 61;

/// An event. Events at the same time are ordered by kind, then by creation.
/// `order` holds the kind in its high bits and a sequence number in its low
/// bits, so that one comparison orders events by both.
struct Event {
  Time time;
  uint64_t order;
  uint32_t subject; ///< a stream, class or collective, depending on the kind
  /// Version of the subject for which the event was created. The event is out
  /// of date if the subject has another version by now.
  uint32_t version;

  EventKind kind() const {
    return static_cast<EventKind>(order >> eventKindShift);
  }
  /// Orders later events as smaller. A heap of std::push_heap has its largest
  /// element at the top, so the earliest event is at the top.
  friend bool operator<(const Event &a, const Event &b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
};

/// The task at the head of one stream of one class: the task that runs, or that
/// starts next.
struct Head {
  enum class Status : uint8_t { Waiting, Arrived, Running, Exhausted };

  const uint32_t *next = nullptr; ///< next task of the stream in the section
  const uint32_t *end = nullptr;
  uint32_t item = 0;
  uint32_t task = 0;
  uint32_t slot = 0; ///< index of the frame of the task
  Status status = Status::Exhausted;
  bool once = false;
  /// Version of the latest TaskEnd event of the stream. Increases when a kernel
  /// or a copy starts, and whenever the end of a kernel moves.
  uint32_t version = 0;
  Time launched = 0;
};

/// Value of an entry of Frames::ready that holds no time.
constexpr Time notReady = -1;

/// The frames of one template. The micro-template has one frame per micro-batch
/// in progress, the once-template has one frame. A frame holds the number of
/// open dependencies of each task and the number of remaining users of each
/// buffer. Frames are stored in reusable *slots*.
struct Frames {
  size_t stride = 0;
  std::vector<uint32_t> open; ///< counters of all frames; `stride` per slot
  /// For each slot and task, the time at which the last dependency of the task
  /// ended. The entry is `notReady` before that time, after the end of the
  /// task, and if the task has no dependency or none that runs. Stored only if
  /// there are listeners.
  std::vector<Time> ready;
  /// Number of tasks that have not ended, per slot.
  std::vector<uint32_t> remaining;
  std::vector<uint32_t> freeSlots;
  /// Slot of the frame of each micro-batch, or -1 if it has no frame.
  std::vector<int32_t> slotOf;
};

/// The state of a device class.
struct ClassState {
  FlatClass flat;
  Host host;
  Frames frames[2]; ///< [0] of the micro-, [1] of the once-template
  Head heads[numStreams];

  /// Progress of the running kernel, if its speed can change.
  Progress kernel;
  /// Speed of a kernel while communication slows it: [1] for kernels on the
  /// matrix units, [0] for other kernels.
  uint64_t disturbedSpeed[2] = {fullSpeed, fullSpeed};
  /// Streams, as bits, on which a communication runs that slows kernels.
  uint32_t communicating = 0;
  bool computing = false;
  /// True if the kernels of the class slow communication.
  bool slowsCommunication = false;
  bool dirty = false; ///< true if the speed of the kernel may have changed
  ActiveReplay active;
  /// Number of tasks so far that were ready to start before the host had
  /// launched them.
  uint64_t launchWaits = 0;

  /// Returns the present speed of a kernel of the class.
  uint64_t kernelSpeed(const FlatTask &task) const {
    return communicating ? disturbedSpeed[task.matrix] : fullSpeed;
  }
};

/// The state of a collective and of its running instance, if any. At most one
/// instance of a collective runs at a time, because each member takes part in
/// one instance after another.
struct CollectiveState {
  Progress progress; ///< progress of its flow
  /// Ceilings of the rate in bytes/s: [0] while no member runs a kernel that
  /// slows the collective, [1] while at least one member does.
  uint64_t ceilings[2] = {0, 0};
  /// Number of members that run a kernel which slows the collective.
  uint32_t computingMembers = 0;
  uint32_t version = 0;
  /// True if the collective and kernels slow each other.
  bool interferes = false;
  bool moving = false; ///< true if its flow is active
  bool dirty = false;  ///< true if its ceiling may have changed
};

/// The state of a whole run.
struct EngineState {
  /// Creates the state at the beginning of a run. Sections are replayed only if
  /// `canReplay` is true.
  EngineState(const Workload &workload, const EngineOptions &options,
              bool listening, bool canReplay);

  const Workload &workload;
  bool listening; ///< true if there are listeners
  std::vector<ClassState> classes;
  std::vector<CollectiveState> collectives;
  FlowNetwork network;
  /// For each collective, the streams on which its member classes take part:
  /// one stream per member, in the order of classes.
  IndexLists parties;
  /// Number of the first meeting of each collective. A *meeting* is one
  /// instance of a collective with several members, which wait for each other.
  /// The meetings of a collective have consecutive numbers.
  std::vector<size_t> firstMeeting;
  /// Number of members that have arrived, per meeting.
  std::vector<uint32_t> arrivals;
  std::vector<Event> queue; ///< a heap
  Time now = 0;
  RunResult result;
  SectionReplays replays;
  RateLog *rateLog = nullptr;

  /// Creates a frame for the micro-batch of `item`, or for the once-tasks if
  /// `item` is in the once-template. Returns the slot of the frame.
  uint32_t openFrame(ClassState &state, const FlatItem &item);

  /// Returns the duration of a collective if nothing slows it.
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
  /// Returns true if the event is out of date: its subject has another version
  /// by now.
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
  /// Returns the number of the meeting in which the head of a stream takes
  /// part. A collective that runs only with the first or last micro-batch has
  /// one meeting, even if this is a different micro-batch in each member.
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

/// Checks and executes a workload of one class, like `run`. Also reports the
/// progress of kernels and flows to `log` whenever their speed changes.
llvm::Expected<RunResult> runLogged(const Workload &workload,
                                    const EngineOptions &options,
                                    llvm::ArrayRef<Listener *> listeners,
                                    RateLog &log);

/// Returns an error that describes a deadlock. It lists the tasks that wait for
/// each other in a cycle, and other tasks that wait for tasks in the cycle.
llvm::Error describeDeadlock(const EngineState &state);

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_ENGINESTATE_H
