//===- CriticalPath.h - the critical path of a step -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_CRITICALPATH_H
#define PROTEUS_SIM_CRITICALPATH_H

#include "Proteus/Sim/Engine.h"

#include <string>
#include <vector>

namespace proteus::sim {

/// A part of the critical path: one task, or the host time before the launch of
/// a task.
struct PathStep {
  Time begin = 0, end = 0;
  uint32_t classIndex = 0;
  /// The task; null for host time.
  const Task *task = nullptr;
};

/// The time that all tasks of one kind, or the host, take on the critical path.
struct PathShare {
  std::string kind; ///< "nn.linear", "all_reduce over tp", "host launch"
  Time time = 0;
};

/// A listener that finds the critical path of a step: the chain of tasks that
/// determines the time of the step. The chain ends with the last task of the
/// step. Each task of the chain started when the previous task of the chain
/// ended, or when it was launched by a host that had waited for the previous
/// task. A faster task outside the chain therefore does not shorten the step,
/// unless the task slows tasks of the chain by link sharing or interference.
/// The listener needs every event, so the engine skips and replays nothing.
class CriticalPath : public Listener {
public:
  void onBegin(const Workload &workload, llvm::ArrayRef<Time>) override;
  void onTaskStart(const TaskInstance &task, Time now) override;
  void onTaskEnd(const TaskInstance &task, Time now) override;
  void onFinish(Time iterationTime) override;

  /// Returns the path from the beginning of the step to its end, without gaps.
  llvm::ArrayRef<PathStep> steps() const { return path; }
  /// Returns the time on the path by kind of task, largest first. A `stepGap`
  /// other than 0 is added as a kind of its own, "between steps".
  std::vector<PathShare> shares(Time stepGap = 0) const;

private:
  static constexpr uint32_t none = ~0u;
  /// One execution of a task.
  struct Run {
    Time begin = -1, end = -1;
    Time launched = 0;
    uint32_t before = none; ///< the run before this one on the same stream
  };
  /// The task by which a member class takes part in a collective.
  struct Party {
    bool once = false;
    uint32_t task = none;
  };

  uint32_t runOf(uint32_t classIndex, bool once, uint32_t microBatch,
                 uint32_t task) const {
    const Template &tasks = templateOf(classIndex, once);
    return first[2 * classIndex + once] + microBatch * tasks.tasks.size() +
           task;
  }
  const Template &templateOf(uint32_t classIndex, bool once) const {
    const DeviceClass &device = workload->classes[classIndex];
    return once ? device.once : device.micro;
  }
  TaskInstance instanceOf(uint32_t run) const;
  llvm::SmallVector<uint32_t> runsOfMembers(const TaskInstance &instance,
                                            Time at) const;
  uint32_t causeOf(uint32_t run) const;
  uint32_t ownCauseOf(uint32_t run, Time at) const;
  uint32_t launcherOf(uint32_t run) const;
  uint32_t awaitedBy(uint32_t classIndex, Time at) const;

  const Workload *workload = nullptr;
  /// Index in `runs` of the first run of each template. Entry 2 * c is for the
  /// micro-template of class c, entry 2 * c + 1 for its once-template.
  std::vector<uint32_t> first;
  std::vector<Run> runs;
  std::vector<uint32_t> lastOfStream;
  /// For each class, the runs of tasks that received messages, in the order of
  /// their ends. Filled only for classes with DeviceClass::hostWaits.
  std::vector<std::vector<uint32_t>> received;
  /// The party of each member of each collective, in the order of
  /// Collective::members.
  std::vector<std::vector<Party>> parties;
  /// For each class and each task of its once-template, the tasks of the
  /// micro-template on which that once-task depends.
  std::vector<std::vector<std::vector<uint32_t>>> onceDepends;
  std::vector<PathStep> path;
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_CRITICALPATH_H
