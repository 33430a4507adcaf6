//===- Engine.h - the discrete-event engine ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes a Workload in integer picoseconds. The engine computes times only;
// listeners derive all other figures. The pass `simulate` runs it through
// Simulation.h.
//
// Every class has one host and in-order streams. The host launches the tasks of
// its order one after another. It runs ahead of the device without limit or, if
// it waits for messages (DeviceClass::hostWaits), up to the next message that
// it must receive. A task starts when it is launched, is at the head of its
// stream and its dependencies have ended. A party of a collective has then
// *arrived*; the collective starts when all member classes have arrived and
// ends for all of them at once. A stream is occupied while its head waits.
//
// Collectives are flows over links. Flows that run at the same time share every
// link max-min fairly; rates are recomputed whenever a flow starts or ends. All
// state is integer (picoseconds, bytes/s, bytes x picoseconds / second), so
// sums do not depend on their order and rounding errors do not accumulate.
//
// Kernels and communication of one class slow each other. A communication of
// any kind takes part if it has thread blocks (Flow::channels), from its start
// to its end; while it waits for members it slows nothing. Copies by a copy
// engine and messages that the network card fetches have no thread blocks. The
// latency of a communication is not stretched, only its ceiling is lowered, by
// the largest factor of its members, while any member class that slows
// communication computes.
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
  uint32_t task = 0;       ///< index into the micro- or once-template
  uint32_t microBatch = 0; ///< 0 for a once-task
  bool once = false;
  Time ready = 0;    ///< end of its last dependency; 0 without any
  Time launched = 0; ///< end of its launch by the host

  /// Returns the task that was executed.
  const Task &in(const Workload &workload) const {
    const DeviceClass &device = workload.classes[classIndex];
    return (once ? device.once : device.micro).tasks[task];
  }
  /// Returns a buffer of the template of the task.
  const Buffer &buffer(const Workload &workload, uint32_t index) const {
    const DeviceClass &device = workload.classes[classIndex];
    return (once ? device.once : device.micro).buffers[index];
  }
};

/// An event in a recorded section of a class.
struct SectionEvent {
  enum class Kind : uint8_t {
    TaskStart,    ///< subject: a task of the micro-template
    TaskEnd,      ///< likewise
    Allocate,     ///< subject: a buffer; `task` allocates it
    Free,         ///< subject: a buffer; `task` is its last user
    LinkFull,     ///< subject: a link that begins to limit flows
    LinkReleased, ///< subject: a link that limits flows no longer
  };
  Kind kind;
  Time offset; ///< since the start of the section
  uint32_t subject;
  uint32_t task = 0;
};

/// The recorded events of a section of a class, simulated without influence
/// from outside the section: those of its kernels and of the collectives among
/// the ranks of the class. Messages from and to other classes are not recorded.
struct SectionTrace {
  /// A part of the section whose events do not depend on earlier events. It
  /// begins with the start of a kernel while nothing else of the class runs,
  /// and ends where the next stretch begins or the section ends.
  struct Stretch {
    uint32_t firstEvent;
    uint32_t lastEvent; ///< exclusive
    Time begin, end;
  };
  uint32_t index = 0; ///< number of the trace in the run
  uint32_t classIndex = 0;
  uint32_t section = 0;
  std::vector<SectionEvent> events; ///< in order of time
  std::vector<Stretch> stretches;

  /// Returns the events of a stretch.
  llvm::ArrayRef<SectionEvent> eventsOf(uint32_t stretch) const {
    return llvm::ArrayRef(events).slice(stretches[stretch].firstEvent,
                                        stretches[stretch].lastEvent -
                                            stretches[stretch].firstEvent);
  }
};

/// Visitor of the state that a listener stores. The engine compares the visited
/// values to detect a recurrence, and changes them to account for periods that
/// it skips.
class StateVisitor {
public:
  virtual ~StateVisitor();
  /// Visits a value that influences the later behaviour of the listener. In a
  /// recurrence it is equal one period later.
  virtual void same(int64_t value) = 0;
  /// Visits a point in time. One period of a recurrence later, its value is
  /// either the same or larger by the period.
  virtual void time(Time &time) = 0;
  /// Visits a counter, which grows by the same amount in every period.
  virtual void count(int64_t &value) = 0;
};

/// Receiver of every change of state, in order of time. At one point in time,
/// all ends and frees are reported before the starts and allocations that they
/// enable.
class Listener {
public:
  virtual ~Listener();
  /// Returns true if `visitState` visits the whole state of the listener and
  /// the listener accepts stretches of sections as a whole. Otherwise the
  /// engine skips and replays nothing, so that the listener receives every
  /// event in order of time.
  virtual bool canSkip() const { return false; }
  /// Visits the whole state of the listener. Two visits that pass equal values
  /// to `same` must make the same sequence of calls.
  virtual void visitState(StateVisitor &visitor) {}
  /// Reports the begin of the run. `collectiveTimes[c]` is the duration of
  /// Workload::collectives[c] with no other flow on the links and no kernel
  /// that slows it.
  virtual void onBegin(const Workload &workload,
                       llvm::ArrayRef<Time> collectiveTimes) {}
  virtual void onTaskStart(const TaskInstance &task, Time now) {}
  virtual void onTaskEnd(const TaskInstance &task, Time now) {}
  /// Reports that `task` allocates a buffer of its template; follows
  /// onTaskStart of the task.
  virtual void onAllocate(const TaskInstance &task, uint32_t buffer, Time now) {
  }
  /// Reports that a buffer is freed because `task`, its last user, has ended;
  /// follows onTaskEnd of the task.
  virtual void onFree(const TaskInstance &task, uint32_t buffer, Time now) {}
  /// Reports that a link begins or ceases to hold some flow below its ceiling.
  /// Happens only with EngineOptions::share, and after all other reports of the
  /// same point in time.
  virtual void onLinkChange(uint32_t link, bool holdsBack, Time now) {}
  /// Reports that all events of a stretch have happened, in a section that
  /// started at `start`. These events are not reported one by one. No other
  /// event of the class happened meanwhile. Later events of other classes may
  /// have been reported before.
  virtual void onStretch(const SectionTrace &trace, uint32_t stretch,
                         Time start) {}
  /// Reports the number of runs of a stretch in the whole run; precedes
  /// `onFinish`.
  virtual void onStretchRuns(const SectionTrace &trace, uint32_t stretch,
                             int64_t runs) {}
  virtual void onFinish(Time iterationTime) {}
};

/// Figures that the engine itself computes.
struct RunResult {
  /// End of the last task of any class; `simulate` adds Workload::stepGap.
  Time iterationTime = 0;
  uint64_t tasks = 0;  ///< executed task instances
  uint64_t events = 0; ///< events that were taken from the queue
  /// Number of task instances in periods that were skipped; part of `tasks`.
  uint64_t skippedTasks = 0;
  /// Number of task instances that were replayed; part of `tasks`.
  uint64_t replayedTasks = 0;
};

/// Effects that the engine models and shortcuts that it takes. Each can be
/// switched off to measure its influence.
struct EngineOptions {
  /// True if flows share links. If false, every flow runs at its ceiling.
  bool share = true;
  /// True if kernels and communication slow each other.
  bool overlap = true;
  /// True if the engine skips the steady state of a pipeline where its own
  /// state recurs exactly.
  bool skipRecurrence = true;
  /// True if the engine records a section once and replays it for later
  /// micro-batches while nothing from outside affects it.
  bool replaySections = true;
  /// True if the memory that an allocator reserves is simulated. If false, it
  /// is taken to be the memory of live tensors.
  bool followAllocator = true;
};

/// Fails if the engine could not execute the workload to its end, or if its
/// meaning is unclear. The message names the class and the task.
llvm::Error check(const Workload &workload);

/// Checks and executes a workload. Fails if no task can proceed (deadlock); the
/// message then names the waiting cycle. Equal inputs give equal calls of
/// listeners.
llvm::Expected<RunResult> run(const Workload &workload,
                              const EngineOptions &options = {},
                              llvm::ArrayRef<Listener *> listeners = {});

} // namespace proteus::sim

#endif // PROTEUS_SIM_ENGINE_H
