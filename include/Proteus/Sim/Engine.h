//===- Engine.h - the discrete-event engine ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes a Workload: computes when each task starts and ends, in integer
// picoseconds. Listeners derive all other figures from these events. The pass
// `simulate` runs the engine through Simulation.h.
//
// Every device class has one host and several streams. The host launches the
// tasks of the class one after another, in the order of DeviceClass::order.
// Usually it runs ahead of the device without limit. If DeviceClass::hostWaits
// is set, it launches the receives of a micro-batch's section first, and the
// rest of the section after these messages have arrived. A stream runs its
// tasks in order. A task starts when it has been launched, is at the head of
// its stream, and all its dependencies have ended. If a task of a collective
// meets these conditions, it has only *arrived*: the collective starts when all
// member classes have arrived, and ends for all of them at once. While the head
// of a stream waits, no other task of the stream can start.
//
// Collectives are flows over links. Flows that run at the same time share every
// link max-min fairly. Rates are recomputed whenever a flow starts or ends or
// its ceiling changes. Times (in picoseconds), rates (in bytes/s) and remaining
// work (in 10^-12 bytes) are integers, so sums do not depend on their order and
// rounding errors do not accumulate.
//
// Kernels and communication of one class slow each other while they overlap.
// This applies to every communication that occupies thread blocks
// (Flow::channels), from its start to its end, but not while it waits for
// members. Copies by a copy engine and messages that the network card fetches
// occupy no thread blocks. Kernels do not change the latency of a
// communication. They divide the ceiling of its rate by a factor: the largest
// value of DeviceClass::interference.communication among its members. The
// ceiling is lowered while at least one member class with a value above 1 runs
// a kernel.
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
  /// Time at which the last dependency of the task ended; 0 if there is none.
  Time ready = 0;
  Time launched = 0; ///< time at which the host has launched the task

  /// Returns the task that was executed.
  const Task &in(const Workload &workload) const {
    const DeviceClass &device = workload.classes[classIndex];
    return (once ? device.once : device.micro).tasks[task];
  }
  /// Returns the buffer with this index in the template of the task.
  const Buffer &buffer(const Workload &workload, uint32_t index) const {
    const DeviceClass &device = workload.classes[classIndex];
    return (once ? device.once : device.micro).buffers[index];
  }
};

/// An event in a recorded section of a class.
struct SectionEvent {
  enum class Kind : uint8_t {
    TaskStart,    ///< subject: a task of the micro-template
    TaskEnd,      ///< subject: a task of the micro-template
    Allocate,     ///< subject: a buffer; `task` allocates it
    Free,         ///< subject: a buffer; `task` is its last user
    LinkFull,     ///< subject: a link that begins to limit flows
    LinkReleased, ///< subject: a link that no longer limits flows
  };
  Kind kind;
  Time offset; ///< time since the start of the section
  uint32_t subject;
  uint32_t task = 0;
};

/// The events of one section of a class, recorded in a simulation of the
/// section alone. The trace contains the kernels of the section and the
/// collectives in which only this class takes part. It contains no messages
/// between stages.
struct SectionTrace {
  /// A part of the section that can be replayed by itself, because its events
  /// do not depend on earlier events. It begins where a kernel starts while no
  /// other task of the class runs. It ends where the next stretch begins, or at
  /// the end of the section.
  struct Stretch {
    uint32_t firstEvent;
    uint32_t lastEvent; ///< index of the event after the last one
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

/// Reads and changes the state that listeners store. A run *recurs* if its
/// whole state equals an earlier state except for a shift in time and in the
/// numbers of micro-batches. The time between the two states is a *period*. The
/// engine then skips whole periods. It uses visitors to compare the states of
/// listeners, and to change these states as if the skipped periods had been
/// simulated.
class StateVisitor {
public:
  virtual ~StateVisitor();
  /// Visits a value on which the later behaviour of the listener depends. In a
  /// recurrence, the value must be the same one period later.
  virtual void same(int64_t value) = 0;
  /// Visits a point in time. In a recurrence, the point one period later must
  /// be either the same or later by exactly one period.
  virtual void time(Time &time) = 0;
  /// Visits a counter. In a recurrence, the counter grows by the same amount in
  /// every period.
  virtual void count(int64_t &value) = 0;
};

/// Receives the changes of the simulated state. A listener for which `canSkip`
/// returns false receives every change, in order of time. At one point in time,
/// all ends and frees are reported before the starts and allocations that they
/// enable.
class Listener {
public:
  virtual ~Listener();
  /// Returns true if the listener works without receiving every event. If true,
  /// `visitState` must visit the whole state of the listener, except parts that
  /// skipped periods cannot change. `onStretch` and `onStretchRuns` together
  /// must have the same effect as the single events of a stretch. If any
  /// listener returns false, the engine skips and replays nothing.
  virtual bool canSkip() const { return false; }
  /// Passes the state of the listener to `visitor`, so that the engine can
  /// compare the values of two visits one by one. Therefore, if two visits pass
  /// equal values to `same`, they must call the same functions of `visitor` in
  /// the same order.
  virtual void visitState(StateVisitor &visitor) {}
  /// Reports the beginning of the run. `collectiveTimes[c]` is the duration of
  /// Workload::collectives[c] if no other flow uses its links and no kernel
  /// slows it.
  virtual void onBegin(const Workload &workload,
                       llvm::ArrayRef<Time> collectiveTimes) {}
  virtual void onTaskStart(const TaskInstance &task, Time now) {}
  virtual void onTaskEnd(const TaskInstance &task, Time now) {}
  /// Reports that `task` allocates a buffer of its template. Called after
  /// `onTaskStart` of the task.
  virtual void onAllocate(const TaskInstance &task, uint32_t buffer, Time now) {
  }
  /// Reports that a buffer is freed because its last user, `task`, has ended.
  /// Called after `onTaskEnd` of the task.
  virtual void onFree(const TaskInstance &task, uint32_t buffer, Time now) {}
  /// Reports that a link begins (`holdsBack` is true) or ceases (`holdsBack` is
  /// false) to limit flows to rates below their ceilings. Called only with
  /// EngineOptions::share, after all other reports for the same point in time.
  virtual void onLinkChange(uint32_t link, bool holdsBack, Time now) {}
  /// Reports a whole stretch of a replayed section, instead of its events one
  /// by one. `start` is the time at which the section started or, if the replay
  /// began at a later stretch, would have started. The offsets in `trace` count
  /// from it. No other event of the class happened during the stretch. Events
  /// of other classes may have been reported already, even if they are later.
  virtual void onStretch(const SectionTrace &trace, uint32_t stretch,
                         Time start) {}
  /// Reports how often a stretch was replayed as a whole in the run, including
  /// skipped periods. Called before `onFinish`.
  virtual void onStretchRuns(const SectionTrace &trace, uint32_t stretch,
                             int64_t runs) {}
  virtual void onFinish(Time iterationTime) {}
};

/// Figures that the engine itself computes.
struct RunResult {
  /// End of the last task of any class; `simulate` adds Workload::stepGap.
  Time iterationTime = 0;
  uint64_t tasks = 0;  ///< number of task instances in the whole run
  uint64_t events = 0; ///< number of events taken from the queue
  /// Number of task instances in skipped periods; included in `tasks`.
  uint64_t skippedTasks = 0;
  /// Number of replayed task instances; included in `tasks`.
  uint64_t replayedTasks = 0;
};

/// Effects that the engine models and shortcuts that it takes. Each can be
/// switched off to measure its influence.
struct EngineOptions {
  /// True if flows share links. If false, every flow runs at its ceiling.
  bool share = true;
  /// True if kernels and communication slow each other.
  bool overlap = true;
  /// True if the engine skips whole periods in the steady state of a pipeline,
  /// when the state of the run recurs exactly.
  bool skipRecurrence = true;
  /// True if the engine records the events of a section once and replays them
  /// for later micro-batches, as long as nothing outside the section affects
  /// its events.
  bool replaySections = true;
  /// True if `simulate` (Simulation.h) also simulates the framework's
  /// allocator, to compute the reserved memory. If false, the peak of the live
  /// tensors is used as the reserved memory.
  bool followAllocator = true;
};

/// Fails if a workload is inconsistent or ambiguous, for example if an index is
/// out of range. If a class or a task is at fault, the message names it.
/// Deadlocks among several streams are not found here but by `run`.
llvm::Error check(const Workload &workload);

/// Checks and executes a workload. Fails if `check` fails, if the step takes
/// more than 53 days, or if no task can proceed (a deadlock). For a deadlock,
/// the message lists the tasks that wait for each other. The run is
/// deterministic: equal inputs lead to the same calls of listeners in the same
/// order.
llvm::Expected<RunResult> run(const Workload &workload,
                              const EngineOptions &options = {},
                              llvm::ArrayRef<Listener *> listeners = {});

} // namespace proteus::sim

#endif // PROTEUS_SIM_ENGINE_H
