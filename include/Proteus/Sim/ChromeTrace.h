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

/// A listener that writes the run in the Trace Event Format as it happens: one
/// process per class, one thread per stream, and a counter of the memory.
/// Arrows lead from a task to the tasks of other streams that depend on it, and
/// from the sender of a message to its receiver. Times are in microseconds with
/// six decimals, so no picosecond is lost. Open the file in ui.perfetto.dev.
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
  /// The begin or end of an arrow: a task that runs on a stream at that time.
  struct Place {
    uint32_t classIndex = 0;
    unsigned stream = 0;
    Time time = 0;
  };
  struct State {
    std::array<Time, numStreams> started = {};
    /// Start times of tasks: per micro-batch and micro-task, and per once-task.
    std::vector<Time> starts[2];
    /// Start time of the last instance of each micro-task.
    std::vector<Time> lastStarts;
    /// Per once-task, the micro-tasks on which it depends.
    std::vector<std::vector<uint32_t>> onceDepends;
    /// Time of the pending counter value. A counter is written once per point
    /// in time, with its final value.
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
  /// Per collective, the class and stream that send it; class -1 if it is not a
  /// message between two classes.
  std::vector<std::pair<int64_t, unsigned>> senders;
  uint64_t arrows = 0;
  bool first = true;
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_CHROMETRACE_H
