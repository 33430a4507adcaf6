//===- CriticalPath.h - what the step waited for ----------------*- C++ -*-===//
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

/// A piece of the critical path: one task, or the host's launches before the
/// first task.
struct PathStep {
  Time begin = 0, end = 0;
  uint32_t classIndex = 0;
  /// The task; nothing for the host.
  const Task *task = nullptr;
};

/// Time on the critical path by what it was spent in.
struct PathShare {
  std::string kind; ///< "nn.linear", "all_reduce over tp", "host launch"
  Time time = 0;
};

/// Follows the chain of tasks that ends with the last one, each of which
/// started the moment the one before had ended, or had been launched by a host
/// that waited for the one before. Whatever is not on it could be faster for
/// nothing. Needs every event.
class CriticalPath : public Listener {
public:
  void onBegin(const Workload &workload, llvm::ArrayRef<Time>) override;
  void onTaskStart(const TaskInstance &task, Time now) override;
  void onTaskEnd(const TaskInstance &task, Time now) override;
  void onFinish(Time iterationTime) override;

  /// From the beginning of the step to its end, without gaps.
  llvm::ArrayRef<PathStep> steps() const { return path; }
  /// Largest first, with `stepGap` behind the last task.
  std::vector<PathShare> shares(Time stepGap = 0) const;

private:
  static constexpr uint32_t none = ~0u;
  struct Run {
    Time begin = -1, end = -1;
    Time launched = 0;
    uint32_t before = none; ///< run that its stream ran before
  };
  /// Where the task of a class for a collective is.
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
  uint32_t causeOf(uint32_t run) const;
  uint32_t ownCauseOf(uint32_t run, Time at) const;
  uint32_t launcherOf(uint32_t run) const;
  uint32_t awaitedBy(uint32_t classIndex, Time at) const;

  const Workload *workload = nullptr;
  std::vector<uint32_t> first; ///< per class and template: its first run
  std::vector<Run> runs;
  std::vector<uint32_t> lastOfStream;
  /// Per class whose host waits, the messages it received, by their ends.
  std::vector<std::vector<uint32_t>> received;
  /// Per collective, its parties by member.
  std::vector<std::vector<Party>> parties;
  /// Per class and once-task, the micro-tasks it depends on.
  std::vector<std::vector<std::vector<uint32_t>>> onceDepends;
  std::vector<PathStep> path;
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_CRITICALPATH_H
