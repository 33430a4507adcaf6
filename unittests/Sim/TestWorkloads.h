//===- TestWorkloads.h - small workloads for tests --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_UNITTESTS_SIM_TESTWORKLOADS_H
#define PROTEUS_UNITTESTS_SIM_TESTWORKLOADS_H

#include "Proteus/Sim/Simulation.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <string>

namespace proteus::sim::test {

constexpr Time ms = 1000000000;

/// A workload under construction, with functions that add tasks by name.
struct Builder {
  Workload workload;

  Builder() {
    workload.info.cluster = "test";
    machine::Device &device = workload.cluster.devices.emplace_back();
    device.peakFlops = {{machine::DType::F32, 1e12}};
    device.memoryBytes = 1000;
  }

  uint32_t label(const std::string &name) {
    auto &labels = workload.labels;
    auto found = std::find(labels.begin(), labels.end(), name);
    if (found == labels.end())
      found = labels.insert(labels.end(), name);
    return found - labels.begin();
  }
  DeviceClass &addClass(const std::string &name) {
    workload.classes.emplace_back();
    workload.classes.back().name = name;
    workload.classes.back().stage = workload.classes.size() - 1;
    return workload.classes.back();
  }
  /// Adds a kernel and returns its index.
  uint32_t kernel(Template &tasks, const std::string &name, Time duration,
                  std::vector<uint32_t> dependsOn = {},
                  Phase phase = Phase::Forward) {
    Task task;
    task.label = label(name);
    task.opKind = label("kernel");
    task.duration = duration;
    task.dependsOn = std::move(dependsOn);
    task.phase = phase;
    tasks.tasks.push_back(std::move(task));
    return tasks.tasks.size() - 1;
  }
  /// Adds a party of a collective and returns its index.
  uint32_t party(Template &tasks, const std::string &name, Stream stream,
                 int32_t collective, std::vector<uint32_t> dependsOn = {},
                 Phase phase = Phase::Forward) {
    uint32_t index = kernel(tasks, name, 0, std::move(dependsOn), phase);
    tasks.tasks[index].stream = stream;
    tasks.tasks[index].collective = collective;
    return index;
  }
  /// Adds a collective with a fixed duration, which other tasks do not change.
  int32_t
  collective(std::vector<uint32_t> members, Time duration,
             cost::CollectiveKind kind = cost::CollectiveKind::AllReduce) {
    Collective collective;
    collective.kind = kind;
    collective.bytes = duration;
    collective.groupSize = 2;
    collective.flow.latency = duration;
    collective.axes = "dp";
    collective.members = std::move(members);
    workload.collectives.push_back(std::move(collective));
    return workload.collectives.size() - 1;
  }
  /// Adds a collective that moves a flow.
  int32_t flow(std::vector<uint32_t> members, Flow flow) {
    int32_t index = collective(std::move(members), 0);
    workload.collectives[index].bytes = flow.volume;
    workload.collectives[index].flow = std::move(flow);
    return index;
  }
  uint32_t link(int64_t capacity) {
    workload.links.push_back(
        {"link " + std::to_string(workload.links.size()), capacity});
    return workload.links.size() - 1;
  }
  /// Sets the time that the host of every class needs for a launch.
  void launchEvery(Time latency) {
    for (DeviceClass &device : workload.classes)
      device.launchLatency = latency;
  }
  /// Ends the current section of the template.
  static void endSection(Template &tasks) {
    if (tasks.sectionBegin.empty())
      tasks.sectionBegin.push_back(0);
    tasks.sectionBegin.push_back(tasks.tasks.size());
  }
};

enum class Schedule { GPipe, OneForwardOneBackward };

struct PipelineOptions {
  uint32_t stages = 4;
  uint32_t microBatches = 8;
  Time forward = 1 * ms;
  Time backward = 2 * ms;
  Time transfer = 0;
  Time update = 0;
  int64_t activationBytes = 1;
  Schedule schedule = Schedule::GPipe;
};

inline std::vector<WorkItem> orderOf(const PipelineOptions &options,
                                     uint32_t stage) {
  std::vector<WorkItem> order;
  uint32_t warmup =
      options.schedule == Schedule::GPipe
          ? options.microBatches
          : std::min(options.stages - stage - 1, options.microBatches);
  uint32_t forward = 0, backward = 0;
  while (forward < warmup)
    order.push_back({0, forward++, false});
  while (backward < options.microBatches) {
    if (forward < options.microBatches)
      order.push_back({0, forward++, false});
    order.push_back({1, backward++, false});
  }
  if (options.update > 0)
    order.push_back({0, 0, true});
  return order;
}

/// Returns a pipeline of equal stages. Each micro-batch has one forward and one
/// backward kernel with transfers between stages, and a buffer that lives from
/// the one to the other.
inline Builder pipeline(const PipelineOptions &options) {
  Builder b;
  b.workload.info.microBatches = options.microBatches;
  b.workload.info.devices = options.stages;
  for (uint32_t s = 0; s < options.stages; ++s)
    b.addClass("stage " + std::to_string(s));
  // Transfers 2s (activation) and 2s + 1 (gradient) join stages s and s + 1.
  for (uint32_t s = 0; s + 1 < options.stages; ++s)
    for (int direction = 0; direction < 2; ++direction)
      b.collective({s, s + 1}, options.transfer,
                   cost::CollectiveKind::SendRecv);
  for (uint32_t s = 0; s < options.stages; ++s) {
    DeviceClass &device = b.workload.classes[s];
    Template &micro = device.micro;
    bool isFirst = s == 0, isLast = s + 1 == options.stages;
    micro.buffers = {{"activation", options.activationBytes}};

    std::vector<uint32_t> inputs;
    if (!isFirst)
      inputs.push_back(b.party(micro, "receive activation",
                               Stream::PipelineReceive, 2 * (s - 1)));
    uint32_t forward = b.kernel(micro, "forward", options.forward, inputs);
    micro.tasks[forward].allocates = {0};
    if (!isLast)
      b.party(micro, "send activation", Stream::PipelineSend, 2 * s, {forward});
    Builder::endSection(micro);

    inputs = {forward};
    if (!isLast)
      inputs.push_back(b.party(micro, "receive gradient",
                               Stream::PipelineReceive, 2 * s + 1, {},
                               Phase::Backward));
    uint32_t backward =
        b.kernel(micro, "backward", options.backward, inputs, Phase::Backward);
    micro.tasks[backward].reads = {0};
    if (!isFirst)
      b.party(micro, "send gradient", Stream::PipelineSend, 2 * (s - 1) + 1,
              {backward}, Phase::Backward);
    Builder::endSection(micro);

    if (options.update > 0) {
      b.kernel(device.once, "update", options.update, {}, Phase::Update);
      Builder::endSection(device.once);
      device.onceDependsOn = {{0, backward}};
    }
    device.order = orderOf(options, s);
  }
  return b;
}

/// Simulates a workload, or fails the test.
inline SimulationResult simulateOrFail(const Workload &workload,
                                       llvm::ArrayRef<Listener *> extra = {},
                                       const EngineOptions &options = {}) {
  llvm::Expected<SimulationResult> result = simulate(workload, options, extra);
  if (result)
    return std::move(*result);
  ADD_FAILURE() << llvm::toString(result.takeError());
  SimulationResult none;
  none.classes.resize(workload.classes.size());
  return none;
}

inline std::string simulationError(const Workload &workload) {
  llvm::Expected<RunResult> result = run(workload);
  return result ? "" : llvm::toString(result.takeError());
}

} // namespace proteus::sim::test

#endif // PROTEUS_UNITTESTS_SIM_TESTWORKLOADS_H
