//===- ChromeTrace.h - a timeline for Perfetto ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_CHROMETRACE_H
#define PROTEUS_SIM_CHROMETRACE_H

#include "Proteus/Sim/Listeners.h"

#include <array>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace proteus::sim {

/// A listener that writes the run in the Trace Event Format while the engine
/// executes it. A device class becomes a process, a stream becomes a thread,
/// and the memory of a class becomes a counter. Arrows lead from a task to the
/// tasks of other streams that depend on it, and from the sender of a message
/// to its receiver. Times are in microseconds with six decimals, so they are
/// exact to the picosecond. Open the file in ui.perfetto.dev.
class ChromeTrace : public Listener {
public:
  explicit ChromeTrace(llvm::raw_ostream &os) : os(os) {}

  void onBegin(const Workload &workload,
               llvm::ArrayRef<Time> collectiveTimes) override;
  void onTaskStart(const TaskInstance &task, Time now) override;
  void onTaskEnd(const TaskInstance &task, Time now) override;
  void onAllocate(const TaskInstance &task, uint32_t buffer, Time now) override;
  void onFree(const TaskInstance &task, uint32_t buffer, Time now) override;
  void onFinish(Time iterationTime) override;

private:
  /// One end of an arrow. A viewer attaches it to the task that runs on
  /// `stream` of the class at `time`.
  struct Place {
    uint32_t classIndex = 0;
    unsigned stream = 0;
    Time time = 0;
  };
  struct State {
    std::array<Time, numStreams> started = {};
    /// Start times of tasks. [0] is indexed by micro-batch, then by task of the
    /// micro-template; [1] by task of the once-template.
    std::vector<Time> starts[2];
    /// Start time of the latest instance of each task of the micro-template.
    std::vector<Time> lastStarts;
    /// For each task of the once-template, the tasks of the micro-template on
    /// which that once-task depends.
    std::vector<std::vector<uint32_t>> onceDepends;
    /// Time of the last change of memory. The value of the counter at this time
    /// is not written yet, because more changes may follow at the same time.
    Time counterTime = 0;
  };
  void beginEvent();
  void nameThread(uint32_t process, unsigned thread, llvm::StringRef kind,
                  llvm::StringRef name);
  void writeCounter(uint32_t classIndex);
  void changeMemory(uint32_t classIndex, Time now);
  void writeArrows(const TaskInstance &instance);
  void writeArrow(llvm::StringRef name, Place from, Place to);
  void writeArrowEnd(char phase, llvm::StringRef name, Place place);

  llvm::raw_ostream &os;
  const Workload *workload = nullptr;
  std::vector<std::string> quotedLabels;
  MemoryTracker memory;
  std::vector<State> classes;
  /// For each collective, the class and the stream of the task that sends. The
  /// class is -1 if no task of the collective runs on a stream for sending
  /// messages.
  std::vector<std::pair<int64_t, unsigned>> senders;
  uint64_t arrows = 0;
  bool first = true;
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_CHROMETRACE_H
