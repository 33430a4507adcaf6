//===- Engine.h - the discrete-event engine ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes a Workload in integer picoseconds. The engine computes time and
// nothing else; what a person wants to know is computed by listeners.
//
// Every class has one host, which launches the tasks of its order one after
// another, ahead of the device without limit or, if it waits for messages
// (DeviceClass::hostWaits), not beyond the next one that is received, and
// in-order streams. A task starts when it is launched, is at the
// head of its stream and its dependencies are done. A party of a collective has
// then *arrived*; the collective starts when all member classes have arrived
// and ends for all of them at once. A stream is occupied while it waits.
//
// Collectives are flows over links. Flows that run at the same time share every
// link max-min fairly: rates are recomputed whenever one starts or ends. All
// state is integer (picoseconds, bytes/s, bytes x picoseconds / second), so
// that sums do not depend on their order and nothing drifts.
//
// Kernels and communication of one class slow each other. A communication does
// so if it has thread blocks (Flow::channels), whatever its kind, from its
// start to its end; waiting for others disturbs nobody. Copies by an engine of
// their own and messages that the network card fetches have none. The latency
// of a communication is not stretched, only its ceiling is lowered: by the
// largest factor of its members while any member class that slows communication
// computes.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_ENGINE_H
#define PROTEUS_SIM_ENGINE_H

#include "Proteus/Sim/Workload.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace proteus::sim {

/// One execution of a task.
struct TaskInstance {
  uint32_t classIndex = 0;
  uint32_t task = 0;       ///< index into the micro- or the once-template
  uint32_t microBatch = 0; ///< 0 for a once-task
  bool once = false;
  Time ready = 0;    ///< when its last dependency ended; 0 without any
  Time launched = 0; ///< when the host had launched it

  const Task &in(const Workload &workload) const {
    const DeviceClass &device = workload.classes[classIndex];
    return (once ? device.once : device.micro).tasks[task];
  }
  const Buffer &buffer(const Workload &workload, uint32_t index) const {
    const DeviceClass &device = workload.classes[classIndex];
    return (once ? device.once : device.micro).buffers[index];
  }
};

/// Something that happens in a section of a class.
struct SectionEvent {
  enum class Kind : uint8_t {
    TaskStart,    ///< subject: a task of the micro-template
    TaskEnd,      ///< likewise
    Allocate,     ///< subject: a buffer; `task` allocates it
    Free,         ///< subject: a buffer; `task` is its last user
    LinkFull,     ///< subject: a link that holds flows back from now on
    LinkReleased, ///< subject: a link that does so no longer
  };
  Kind kind;
  Time offset; ///< since the start of the section
  uint32_t subject;
  uint32_t task = 0;
};

/// What a section of a class does when nothing outside of it takes part: its
/// kernels, and collectives among the ranks of the class. What the section
/// exchanges with other classes is not in it.
struct SectionTrace {
  /// A part that is the same whatever was before it: it begins with the start
  /// of a kernel while nothing else of the class runs, and ends where the next
  /// one begins, or with the section.
  struct Stretch {
    uint32_t firstEvent;
    uint32_t lastEvent; ///< the first one behind it
    Time begin, end;
  };
  uint32_t index = 0; ///< among all traces of a run
  uint32_t classIndex = 0;
  uint32_t section = 0;
  std::vector<SectionEvent> events; ///< in the order in which they happen
  std::vector<Stretch> stretches;

  llvm::ArrayRef<SectionEvent> eventsOf(uint32_t stretch) const {
    return llvm::ArrayRef(events).slice(stretches[stretch].firstEvent,
                                        stretches[stretch].lastEvent -
                                            stretches[stretch].firstEvent);
  }
};

/// Goes over what a listener has stored, to see whether it recurs and to
/// account for periods of the run that the engine skips.
class StateVisitor {
public:
  virtual ~StateVisitor();
  /// Decides what the listener will do: must be equal a period later.
  virtual void same(int64_t value) = 0;
  /// A point in time: unchanged a period later, or later by the period.
  virtual void time(Time &time) = 0;
  /// Grows by the same amount in every period.
  virtual void count(int64_t &value) = 0;
};

/// Hears of every change of state, in order of time. At one point in time all
/// ends and frees are reported before the starts and allocations they enable.
class Listener {
public:
  virtual ~Listener();
  /// Whether `visitState` tells all that the listener has stored, and stretches
  /// of sections may be told as a whole. Else it needs every event in the order
  /// of time, and the engine skips and replays nothing.
  virtual bool canSkip() const { return false; }
  /// Must go over the same values in the same order if those given to `same`
  /// are equal.
  virtual void visitState(StateVisitor &visitor) {}
  /// `collectiveTimes[c]` is the duration of Workload::collectives[c] alone on
  /// the network, with no kernel beside it.
  virtual void onBegin(const Workload &workload,
                       llvm::ArrayRef<Time> collectiveTimes) {}
  virtual void onTaskStart(const TaskInstance &task, Time now) {}
  virtual void onTaskEnd(const TaskInstance &task, Time now) {}
  /// `task` allocates a buffer of its template; follows its onTaskStart.
  virtual void onAllocate(const TaskInstance &task, uint32_t buffer, Time now) {
  }
  /// `task` is the last user of a buffer; follows its onTaskEnd.
  virtual void onFree(const TaskInstance &task, uint32_t buffer, Time now) {}
  /// From now on a link does (not) hold some of its flows below their ceiling,
  /// with EngineOptions::share. The last to be reported at a point in time.
  virtual void onLinkChange(uint32_t link, bool holdsBack, Time now) {}
  /// All events of a stretch have happened, the section having started at
  /// `start`, and are not told one by one. Nothing else of the class happened
  /// meanwhile; other classes may have been told of later times.
  virtual void onStretch(const SectionTrace &trace, uint32_t stretch,
                         Time start) {}
  /// As often in the whole run. Comes before `onFinish`.
  virtual void onStretchRuns(const SectionTrace &trace, uint32_t stretch,
                             int64_t runs) {}
  virtual void onFinish(Time iterationTime) {}
};

/// What the engine itself knows after a run.
struct RunResult {
  /// End of the last task of any class, and what lies before the next step.
  Time iterationTime = 0;
  uint64_t tasks = 0;  ///< executed task instances
  uint64_t events = 0; ///< events taken from the queue
  /// Of `tasks`, those in periods that were skipped.
  uint64_t skippedTasks = 0;
  /// Of `tasks`, those that were replayed.
  uint64_t replayedTasks = 0;
};

/// What the engine models; each can be switched off to see what it is worth.
struct EngineOptions {
  /// Flows share links. Off: each runs at its ceiling.
  bool share = true;
  /// Kernels and communication slow each other.
  bool overlap = true;
  /// The steady state of a pipeline is skipped where the state of the engine
  /// recurs exactly.
  bool skipRecurrence = true;
  /// What a section does while nothing from outside disturbs it is done as for
  /// an earlier micro-batch.
  bool replaySections = true;
  /// What an allocator reserves for the tensors is found out, too; else it is
  /// taken to be what they need.
  bool followAllocator = true;
};

/// Refuses a workload that the engine could not execute to its end, or whose
/// meaning is unclear. The message names the class and the task.
llvm::Error check(const Workload &workload);

/// Checks and executes. Fails if no task can proceed (deadlock); the message
/// names the waiting cycle. The same input gives the same calls of listeners.
llvm::Expected<RunResult> run(const Workload &workload,
                              const EngineOptions &options = {},
                              llvm::ArrayRef<Listener *> listeners = {});

} // namespace proteus::sim

#endif // PROTEUS_SIM_ENGINE_H
