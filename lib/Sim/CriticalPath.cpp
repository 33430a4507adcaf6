//===- CriticalPath.cpp - the critical path of a step ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/CriticalPath.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

void CriticalPath::onBegin(const Workload &w, ArrayRef<Time>) {
  workload = &w;
  parties.assign(w.collectives.size(), {});
  for (auto [c, collective] : llvm::enumerate(w.collectives))
    parties[c].resize(collective.members.size());
  size_t count = 0;
  for (uint32_t c = 0; c < w.classes.size(); ++c) {
    const DeviceClass &device = w.classes[c];
    for (bool once : {false, true}) {
      first.push_back(count);
      const std::vector<Task> &tasks = templateOf(c, once).tasks;
      count += tasks.size() * (once ? 1 : w.info.microBatches);
      for (auto [t, task] : llvm::enumerate(tasks)) {
        if (task.collective < 0)
          continue;
        ArrayRef<uint32_t> members = w.collectives[task.collective].members;
        size_t place = llvm::find(members, c) - members.begin();
        parties[task.collective][place] = {once, static_cast<uint32_t>(t)};
      }
    }
    auto &depends = onceDepends.emplace_back(device.once.tasks.size());
    for (auto [onceTask, microTask] : device.onceDependsOn)
      depends[onceTask].push_back(microTask);
  }
  runs.assign(count, {});
  lastOfStream.assign(w.classes.size() * numStreams, none);
  received.assign(w.classes.size(), {});
}

void CriticalPath::onTaskStart(const TaskInstance &instance, Time now) {
  uint32_t run = runOf(instance.classIndex, instance.once, instance.microBatch,
                       instance.task);
  unsigned stream = static_cast<unsigned>(instance.in(*workload).stream);
  uint32_t &last = lastOfStream[instance.classIndex * numStreams + stream];
  runs[run] = {now, -1, instance.launched, last};
  last = run;
}

void CriticalPath::onTaskEnd(const TaskInstance &instance, Time now) {
  uint32_t run = runOf(instance.classIndex, instance.once, instance.microBatch,
                       instance.task);
  runs[run].end = now;
  Stream stream = instance.in(*workload).stream;
  if (workload->classes[instance.classIndex].hostWaits && !instance.once &&
      (stream == Stream::PipelineReceive ||
       stream == Stream::PipelineReceiveGradient))
    received[instance.classIndex].push_back(run);
}

TaskInstance CriticalPath::instanceOf(uint32_t run) const {
  size_t list = llvm::upper_bound(first, run) - first.begin() - 1;
  TaskInstance instance;
  instance.classIndex = list / 2;
  instance.once = list % 2;
  uint32_t within = run - first[list];
  size_t tasks = templateOf(instance.classIndex, instance.once).tasks.size();
  instance.microBatch = within / tasks;
  instance.task = within % tasks;
  return instance;
}

/// Returns a run of the same class for which `run` waited and which ended at
/// the time `at`: a dependency of `run`, or the run before it on the same
/// stream. Returns `none` if there is no such run.
uint32_t CriticalPath::ownCauseOf(uint32_t run, Time at) const {
  TaskInstance instance = instanceOf(run);
  auto endsThen = [&](uint32_t other) {
    return runs[other].begin >= 0 && runs[other].end == at;
  };
  for (uint32_t task : instance.in(*workload).dependsOn) {
    uint32_t other =
        runOf(instance.classIndex, instance.once, instance.microBatch, task);
    if (endsThen(other))
      return other;
  }
  if (instance.once)
    for (uint32_t task : onceDepends[instance.classIndex][instance.task])
      for (uint32_t m = 0; m < workload->info.microBatches; ++m) {
        uint32_t other = runOf(instance.classIndex, false, m, task);
        if (endsThen(other))
          return other;
      }
  uint32_t before = runs[run].before;
  return before != none && endsThen(before) ? before : none;
}

/// Returns the runs of the collective of `instance` that start at the time
/// `at`, one or more for each member class.
SmallVector<uint32_t> CriticalPath::runsOfMembers(const TaskInstance &instance,
                                                  Time at) const {
  SmallVector<uint32_t> result;
  int32_t collective = instance.in(*workload).collective;
  ArrayRef<uint32_t> members = workload->collectives[collective].members;
  for (auto [member, party] : llvm::zip(members, parties[collective])) {
    // If the collective runs only with the first or last micro-batch, the
    // members may run it with different micro-batches. Tries all micro-batches.
    const Task &task = templateOf(member, party.once).tasks[party.task];
    bool anyFrame = !party.once && task.when != When::Always;
    uint32_t begin = anyFrame ? 0 : instance.microBatch;
    uint32_t end = anyFrame ? workload->info.microBatches : begin + 1;
    for (uint32_t m = begin; m < end; ++m) {
      uint32_t other = runOf(member, party.once, m, party.task);
      if (runs[other].begin == at)
        result.push_back(other);
    }
  }
  return result;
}

/// Returns the run for which `run` waited last. If `run` is part of a
/// collective, this may be a run of another class. Returns `none` if `run`
/// waited for a launch.
uint32_t CriticalPath::causeOf(uint32_t run) const {
  Time at = runs[run].begin;
  uint32_t own = ownCauseOf(run, at);
  TaskInstance instance = instanceOf(run);
  int32_t collective = instance.in(*workload).collective;
  if (own != none || collective < 0)
    return own;
  // No run of this class delayed the collective. Finds a run of another member
  // class that did. If there is none, a launch delayed the collective.
  for (uint32_t other : runsOfMembers(instance, at))
    if (uint32_t cause = ownCauseOf(other, at); cause != none)
      return cause;
  return none;
}

/// Returns the class with the host that delayed `run`. This is the class of
/// `run` or, if `run` is part of a collective, the member class with the last
/// launch.
uint32_t CriticalPath::launcherOf(uint32_t run) const {
  TaskInstance instance = instanceOf(run);
  int32_t collective = instance.in(*workload).collective;
  if (collective < 0 || runs[run].launched == runs[run].begin)
    return instance.classIndex;
  for (uint32_t other : runsOfMembers(instance, runs[run].begin))
    if (runs[other].launched == runs[other].begin)
      return instanceOf(other).classIndex;
  return instance.classIndex;
}

/// Returns the run of the last message that the host of a class had received by
/// the time `at`. Returns `none` if there is no such message.
uint32_t CriticalPath::awaitedBy(uint32_t classIndex, Time at) const {
  for (uint32_t run : llvm::reverse(received[classIndex]))
    if (runs[run].end <= at)
      return run;
  return none;
}

void CriticalPath::onFinish(Time iterationTime) {
  if (iterationTime == 0)
    return;
  // Finds a run that ends at the end of the step. There is one, because the
  // step ends with the end of a task.
  uint32_t run = 0;
  while (runs[run].end != iterationTime)
    ++run;
  // Visits each run at most once. Tasks without duration start and end at the
  // same time, so they may seem to wait for each other in a cycle.
  std::vector<bool> seen(runs.size());
  while (run != none && !seen[run]) {
    seen[run] = true;
    TaskInstance instance = instanceOf(run);
    path.push_back({runs[run].begin, runs[run].end, instance.classIndex,
                    &instance.in(*workload)});
    Time begin = runs[run].begin;
    if (begin == 0)
      break;
    uint32_t cause = causeOf(run);
    if (cause == none) {
      // `run` waited for no other run at its start, so its launch by the host
      // determined the start.
      uint32_t classIndex = launcherOf(run);
      cause = awaitedBy(classIndex, begin);
      Time from = cause == none ? 0 : runs[cause].end;
      if (from < begin)
        path.push_back({from, begin, classIndex, nullptr});
    }
    run = cause;
  }
  // The walk ends in a cycle if tasks without duration seem to wait for each
  // other. The tasks before the cycle are then unknown, and the time before it
  // counts as host time.
  if (Time begin = path.back().begin)
    path.push_back({0, begin, path.back().classIndex, nullptr});
  std::reverse(path.begin(), path.end());
}

std::vector<PathShare> CriticalPath::shares(Time stepGap) const {
  MapVector<StringRef, Time> byOperation;
  std::map<std::string, Time> byCollective;
  std::vector<PathShare> result;
  Time host = 0;
  for (const PathStep &step : path) {
    Time time = step.end - step.begin;
    if (!step.task)
      host += time;
    else if (step.task->collective < 0)
      byOperation[workload->labels[step.task->opKind]] += time;
    else
      byCollective[workload->collectives[step.task->collective]
                       .kindAndAxes()] += time;
  }
  for (auto &[kind, time] : byOperation)
    result.push_back({kind.str(), time});
  for (auto &[kind, time] : byCollective)
    result.push_back({kind, time});
  if (host)
    result.push_back({"host launch", host});
  if (stepGap)
    result.push_back({"between steps", stepGap});
  llvm::sort(result, [](const PathShare &a, const PathShare &b) {
    return std::tie(b.time, a.kind) < std::tie(a.time, b.kind);
  });
  return result;
}
