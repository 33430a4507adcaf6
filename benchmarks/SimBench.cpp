//===- SimBench.cpp - speed of the engine ---------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Folding.h"
#include "Proteus/Sim/Simulation.h"

#include <benchmark/benchmark.h>

#include <numeric>

#include <algorithm>

using namespace proteus;
using namespace proteus::sim;

namespace {

/// Builder of a 1F1B pipeline whose stages run `tasksPerStage` tasks per
/// micro-batch. The tasks repeat a pattern: three kernels, then a
/// tensor-parallel all-reduce of their result.
class PipelineMaker {
public:
  PipelineMaker(uint32_t stages, uint32_t microBatches, uint32_t tasksPerStage)
      : stages(stages), microBatches(microBatches),
        tasksPerSection(tasksPerStage / 2) {}

  Workload make() {
    workload.info.microBatches = microBatches;
    workload.info.devices = stages;
    workload.labels = {"kernel"};
    workload.cluster.devices.emplace_back().memoryBytes = int64_t(80) << 30;
    // Transfers 2s (activation) and 2s + 1 (gradient) join stages s and s + 1.
    for (uint32_t s = 0; s + 1 < stages; ++s)
      for (int direction = 0; direction < 2; ++direction)
        collective(cost::CollectiveKind::SendRecv, {s, s + 1});
    for (uint32_t s = 0; s < stages; ++s) {
      DeviceClass device;
      device.name = "stage " + std::to_string(s);
      device.launchLatency = 100000;
      device.micro.sectionBegin = {0};
      addSection(device.micro, s, /*isForward=*/true);
      addSection(device.micro, s, /*isForward=*/false);
      device.order = orderOf(s);
      workload.classes.push_back(std::move(device));
    }
    return std::move(workload);
  }

private:
  int32_t collective(cost::CollectiveKind kind, std::vector<uint32_t> members) {
    Collective collective;
    collective.kind = kind;
    collective.bytes = 1 << 20;
    collective.groupSize = 2;
    // 5 us and 25 GB/s, or 4 us and 300 GB/s.
    bool isTransfer = kind == cost::CollectiveKind::SendRecv;
    collective.flow = {isTransfer ? 5000000 : 4000000,
                       1 << 20,
                       isTransfer ? 25000000000 : 300000000000,
                       0,
                       {}};
    collective.axes = "tp";
    collective.members = std::move(members);
    workload.collectives.push_back(std::move(collective));
    return static_cast<int32_t>(workload.collectives.size() - 1);
  }

  /// Adds a task that depends on the preceding one.
  void add(Template &micro, Stream stream, int32_t member, bool allocates) {
    Task task;
    task.stream = stream;
    task.collective = member;
    task.duration = 10000000 + 1000 * (micro.tasks.size() % 7);
    if (!micro.tasks.empty())
      task.dependsOn.push_back(micro.tasks.size() - 1);
    if (allocates) {
      task.allocates.push_back(micro.buffers.size());
      micro.buffers.push_back({"a", 1 << 20});
    }
    micro.tasks.push_back(std::move(task));
  }

  void addSection(Template &micro, uint32_t s, bool isForward) {
    if (isForward ? s > 0 : s + 1 < stages)
      add(micro, Stream::PipelineReceive, isForward ? 2 * (s - 1) : 2 * s + 1,
          true);
    for (uint32_t t = 0; t < tasksPerSection; ++t) {
      if (t % 4 == 3)
        add(micro, Stream::TensorParallel,
            collective(cost::CollectiveKind::AllReduce, {s}), false);
      else
        add(micro, Stream::Compute, -1, true);
      // Backward tasks read buffers that forward tasks allocated.
      if (!isForward && t < micro.buffers.size())
        micro.tasks.back().reads.push_back(t);
    }
    if (isForward ? s + 1 < stages : s > 0)
      add(micro, Stream::PipelineSend, isForward ? 2 * s : 2 * (s - 1) + 1,
          false);
    micro.sectionBegin.push_back(micro.tasks.size());
  }

  std::vector<WorkItem> orderOf(uint32_t s) const {
    std::vector<WorkItem> order;
    uint32_t forward = 0, backward = 0;
    while (forward < std::min(stages - s - 1, microBatches))
      order.push_back({0, forward++, false});
    while (backward < microBatches) {
      if (forward < microBatches)
        order.push_back({0, forward++, false});
      order.push_back({1, backward++, false});
    }
    return order;
  }

  uint32_t stages, microBatches, tasksPerSection;
  Workload workload;
};

} // namespace

/// Simulates a workload once per iteration, with all listeners of a report if
/// `listeners` is true.
static void measure(benchmark::State &state, const Workload &workload,
                    const EngineOptions &options, bool listeners) {
  uint64_t tasks = 0, events = 0;
  for (auto _ : state) {
    llvm::Expected<RunResult> result = RunResult();
    if (listeners) {
      auto simulated = simulate(workload, options);
      if (simulated)
        result = simulated->run;
      else
        result = simulated.takeError();
    } else {
      result = run(workload, options);
    }
    if (!result) {
      state.SkipWithError(toString(result.takeError()).c_str());
      break;
    }
    tasks += result->tasks;
    events += result->events;
  }
  using benchmark::Counter;
  state.counters["tasks/s"] = Counter(double(tasks), Counter::kIsRate);
  state.counters["events/s"] = Counter(double(events), Counter::kIsRate);
}

/// Measures the bare engine (0) and the engine with all listeners of a report
/// (1), without and with replay of sections and recurrence: 8 stages, 96
/// micro-batches, 900 tasks.
static void engineRate(benchmark::State &state) {
  Workload workload = PipelineMaker(8, 96, 900).make();
  EngineOptions options;
  options.skipRecurrence = options.replaySections = state.range(1) != 0;
  measure(state, workload, options, state.range(0) != 0);
}
BENCHMARK(engineRate)
    ->ArgNames({"listeners", "fold"})
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

/// Measures the engine by number of micro-batches, all of them simulated:
/// should grow linearly.
static void engineByMicroBatches(benchmark::State &state) {
  Workload workload = PipelineMaker(8, state.range(0), 900).make();
  measure(state, workload, {true, true, false, false}, /*listeners=*/true);
}
BENCHMARK(engineByMicroBatches)
    ->Arg(32)
    ->Arg(128)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);

/// Measures the bare engine by number of stages, all events simulated: should
/// grow linearly, except for the depth of the event queue.
static void engineByStages(benchmark::State &state) {
  Workload workload = PipelineMaker(state.range(0), 96, 300).make();
  measure(state, workload, {true, true, false, false}, /*listeners=*/false);
}
BENCHMARK(engineByStages)
    ->Arg(4)
    ->Arg(16)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);

/// Returns a workload in which every rank is a class, with tensor parallelism
/// inside nodes of 8 and data parallelism between them. Layers run a kernel and
/// an all-reduce over the ports of the node. Meanwhile the gradients of each
/// layer are reduced over the same ports and over four cards per node, each
/// shared by two groups. Kernels differ from rank to rank, so that few events
/// coincide.
static Workload unfolded(uint32_t nodes, uint32_t layers,
                         uint32_t microBatches) {
  constexpr uint32_t perNode = 8, cards = 4;
  Workload workload;
  workload.labels = {"task"};
  workload.cluster.devices.emplace_back().memoryBytes = int64_t(80) << 30;
  workload.info.microBatches = microBatches;
  for (uint32_t rank = 0; rank < nodes * perNode; ++rank)
    workload.links.push_back({"port", 300000000000});
  for (uint32_t card = 0; card < nodes * cards; ++card)
    workload.links.push_back({"card", 25000000000});
  auto addCollective = [&](std::vector<uint32_t> members, int64_t volume,
                           int64_t ceiling, std::vector<uint32_t> links) {
    Collective collective;
    collective.groupSize = members.size();
    collective.members = std::move(members);
    collective.flow = {3000000, volume, ceiling, 8, {}};
    for (uint32_t link : links)
      collective.flow.loads.push_back({link, loadUnit});
    workload.collectives.push_back(std::move(collective));
  };
  // Per layer: one collective in each node, then one in each group across
  // nodes.
  for (uint32_t layer = 0; layer < layers; ++layer) {
    for (uint32_t node = 0; node < nodes; ++node) {
      std::vector<uint32_t> members;
      for (uint32_t i = 0; i < perNode; ++i)
        members.push_back(node * perNode + i);
      addCollective(members, 8000000, 290000000000, members);
    }
    for (uint32_t i = 0; i < perNode; ++i) {
      std::vector<uint32_t> members, links;
      for (uint32_t node = 0; node < nodes; ++node) {
        members.push_back(node * perNode + i);
        links.push_back(node * perNode + i);
        links.push_back(nodes * perNode + node * cards + i / 2);
      }
      addCollective(members, 1000000, 24000000000, links);
    }
  }
  uint32_t perLayer = nodes + perNode;
  for (uint32_t rank = 0; rank < nodes * perNode; ++rank) {
    DeviceClass device;
    device.launchLatency = 1000;
    device.interference = {1.1, 1.3, 1.2};
    auto add = [&](Stream stream, int32_t collective, Time duration,
                   std::vector<uint32_t> dependsOn) {
      Task task;
      task.stream = stream;
      task.collective = collective;
      task.duration = duration;
      task.dependsOn = std::move(dependsOn);
      device.micro.tasks.push_back(std::move(task));
      return static_cast<uint32_t>(device.micro.tasks.size() - 1);
    };
    std::vector<uint32_t> before;
    for (uint32_t layer = 0; layer < layers; ++layer) {
      uint32_t kernel = add(Stream::Compute, -1,
                            30000000 + 7001 * (rank * layer % 97), before);
      kernel = add(Stream::Compute, -1, 20000000, {kernel});
      uint32_t reduce = add(Stream::TensorParallel,
                            layer * perLayer + rank / perNode, 0, {kernel});
      add(Stream::DataParallel, layer * perLayer + nodes + rank % perNode, 0,
          {kernel});
      before = {reduce};
    }
    device.micro.sectionBegin = {
        0, static_cast<uint32_t>(device.micro.tasks.size())};
    for (uint32_t m = 0; m < microBatches; ++m)
      device.order.push_back({0, m, false});
    workload.classes.push_back(std::move(device));
  }
  return workload;
}

/// Measures 64 ranks with 400 tasks each in each of 8 micro-batches, with and
/// without shared links and interference.
static void unfoldedRate(benchmark::State &state) {
  Workload workload = unfolded(/*nodes=*/8, /*layers=*/100,
                               /*microBatches=*/8);
  EngineOptions options;
  options.skipRecurrence = options.replaySections = false;
  options.share = state.range(0) != 0;
  options.overlap = state.range(1) != 0;
  measure(state, workload, options, /*listeners=*/false);
}
BENCHMARK(unfoldedRate)
    ->ArgNames({"share", "overlap"})
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

/// Measures four successive all-reduces of 1 GiB over the ports of 1024 ranks,
/// each of them a class.
static void unfoldedAllReduces(benchmark::State &state) {
  constexpr uint32_t ranks = 1024;
  Workload workload;
  workload.labels = {"reduce"};
  workload.cluster.devices.emplace_back().memoryBytes = int64_t(80) << 30;
  for (uint32_t link = 0; link < 2 * ranks; ++link)
    workload.links.push_back({"port", 50000000000});
  Collective collective;
  collective.groupSize = ranks;
  collective.flow = {20000000, int64_t(2) << 30, 48000000000, 8, {}};
  for (uint32_t rank = 0; rank < ranks; ++rank)
    collective.members.push_back(rank);
  for (uint32_t link = 0; link < 2 * ranks; ++link)
    collective.flow.loads.push_back({link, loadUnit});
  workload.collectives.assign(4, collective);
  DeviceClass device;
  for (int32_t i = 0; i < 4; ++i) {
    Task task;
    task.stream = Stream::DataParallel;
    task.collective = i;
    if (i > 0)
      task.dependsOn = {static_cast<uint32_t>(i - 1)};
    device.micro.tasks.push_back(std::move(task));
  }
  device.micro.sectionBegin = {0, 4};
  device.order = {{0, 0, false}};
  workload.classes.assign(ranks, device);
  measure(state, workload, {}, /*listeners=*/false);
}
BENCHMARK(unfoldedAllReduces)->Unit(benchmark::kMillisecond);

/// Measures the planning of every kind of collective over n devices under leaf
/// switches.
static void planCollectives(benchmark::State &state) {
  std::vector<int64_t> devices(state.range(0));
  std::iota(devices.begin(), devices.end(), 0);
  auto cluster = machine::parseClusterPreset(
      "dgx-h100:" + std::to_string(devices.size() / 8));
  if (!cluster)
    return state.SkipWithError(toString(cluster.takeError()).c_str());
  for (auto _ : state) {
    auto group = net::Communicator::create(*cluster, devices);
    if (!group)
      return state.SkipWithError(toString(group.takeError()).c_str());
    for (auto kind = cost::CollectiveKind::AllReduce;;
         kind = cost::CollectiveKind(int(kind) + 1)) {
      benchmark::DoNotOptimize((*group)->plan(kind, 1 << 30));
      if (kind == cost::CollectiveKind::Shift)
        break;
    }
  }
}
BENCHMARK(planCollectives)
    ->Arg(1 << 10)
    ->Arg(1 << 14)
    ->Arg(1 << 17)
    ->Unit(benchmark::kMillisecond);

/// Measures folding of 16 pipeline stages of 8 x n/128 ranks on nodes of 8
/// under leaf switches: all-reduces over tp and dp, messages between stages.
static void foldRanks(benchmark::State &state) {
  int64_t ranks = state.range(0);
  auto cluster =
      machine::parseClusterPreset("dgx-h100:" + std::to_string(ranks / 8));
  if (!cluster)
    return state.SkipWithError(toString(cluster.takeError()).c_str());
  FoldingRequest request{*cluster, {}, {}, {}, {}, {}};
  request.mesh.sizes = {ranks / 128, 16, 8};
  request.coloured = {false, true, false};
  request.colourOf = [](llvm::ArrayRef<int64_t> coordinates) {
    return std::vector<int64_t>{coordinates[1]};
  };
  for (unsigned axis : {0u, 2u})
    request.families.push_back(
        {{axis}, {}, {{cost::CollectiveKind::AllReduce, 1 << 28}}});
  for (int64_t stage = 0; stage < 15; ++stage)
    request.families.push_back(
        {{1}, {stage, stage + 1}, {{cost::CollectiveKind::SendRecv, 1 << 25}}});
  request.createCommunicator = [&](llvm::ArrayRef<int64_t> devices) {
    return net::Communicator::create(*cluster, devices);
  };
  for (auto _ : state) {
    auto folding = sim::foldRanks(request);
    if (!folding)
      return state.SkipWithError(toString(folding.takeError()).c_str());
    benchmark::DoNotOptimize(*folding);
  }
}
BENCHMARK(foldRanks)->Arg(1 << 10)->Arg(1 << 14)->Arg(1 << 17)->Unit(
    benchmark::kMillisecond);
