//===- TaskCounter.h - progress of a simulation -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_TASKCOUNTER_H
#define PROTEUS_SIM_TASKCOUNTER_H

#include "Proteus/Sim/Engine.h"
#include "Proteus/Support/ProgressSink.h"

namespace proteus::sim {

/// A listener that reports the number of simulated tasks to a sink.
class TaskCounter : public Listener {
public:
  explicit TaskCounter(ProgressSink &sink) : sink(sink) {}
  bool canSkip() const override { return true; }
  void onBegin(const Workload &workload, llvm::ArrayRef<Time>) override {
    uint64_t all = 0;
    for (const DeviceClass &device : workload.classes)
      all += device.micro.tasks.size() * workload.info.microBatches +
             device.once.tasks.size();
    sink.begin("simulating", all);
  }
  void onTaskEnd(const TaskInstance &, Time) override {
    constexpr uint64_t often = 1 << 16;
    if (++done % often == 0)
      sink.advance(done);
  }

private:
  ProgressSink &sink;
  uint64_t done = 0;
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_TASKCOUNTER_H
