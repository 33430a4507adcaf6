//===- ChromeTrace.h - a time line for Perfetto -----------------*- C++ -*-===//
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

/// Writes the run in the Trace Event Format as it happens: one process per
/// class, one thread per stream, a counter of the memory. Times are
/// microseconds with all six decimals, so no picosecond is lost. Open the file
/// in ui.perfetto.dev.
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
  struct State {
    std::array<Time, numStreams> started = {};
    /// A counter is written once per point in time, with its final value.
    Time counterTime = 0;
  };
  void beginEvent();
  void nameThread(uint32_t process, unsigned thread, llvm::StringRef kind,
                  llvm::StringRef name);
  void writeCounter(uint32_t classIndex);
  void changeMemory(uint32_t classIndex, Time now);

  llvm::raw_ostream &os;
  const Workload *workload = nullptr;
  std::vector<std::string> quotedLabels;
  MemoryTracker memory;
  std::vector<State> classes;
  bool first = true;
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_CHROMETRACE_H
