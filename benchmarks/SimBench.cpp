//===- SimBench.cpp - speed of the engine ---------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/RankClasses.h"
#include "Proteus/Sim/Simulation.h"

#include <benchmark/benchmark.h>

#include <algorithm>

using namespace proteus;
using namespace proteus::sim;

namespace {

/// Makes a 1F1B pipeline whose stages run `tasksPerStage` tasks per
/// micro-batch: three kernels, then a tensor-parallel all-reduce they feed,
/// over and over.
class PipelineMaker {
public:
  PipelineMaker(uint32_t stages, uint32_t microBatches, uint32_t tasksPerStage)
      : stages(stages), microBatches(microBatches),
        tasksPerSection(tasksPerStage / 2) {}

  Workload make() {
    workload.info.microBatches = microBatches;
    workload.info.devices = stages;
    workload.cluster.device.launchLatency = 1e-7;
    workload.labels = {"kernel"};
    // Transfers 2s (activation) and 2s + 1 (gradient) join stages s and s + 1.
    for (uint32_t s = 0; s + 1 < stages; ++s)
      for (int direction = 0; direction < 2; ++direction)
        collective(cost::CollectiveKind::SendRecv, {s, s + 1});
    for (uint32_t s = 0; s < stages; ++s) {
      DeviceClass device;
      device.name = "stage " + std::to_string(s);
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
    workload.collectives.push_back(
        {{kind, 1 << 20, {2, 1, 2}}, "tp", 1, std::move(members)});
    return static_cast<int32_t>(workload.collectives.size() - 1);
  }

  /// Adds a task that depends on the one before it.
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
      // Backward tasks read what forward tasks left.
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

static machine::Cluster makeCluster() {
  machine::Cluster cluster;
  cluster.intraNode = {300e9, 2e-6};
  cluster.interNode = {25e9, 5e-6};
  return cluster;
}

/// Task completions per second of the bare engine (0) and with all listeners
/// of a report (1): 8 stages, 96 micro-batches, 900 tasks.
static void engineRate(benchmark::State &state) {
  Workload workload = PipelineMaker(8, 96, 900).make();
  auto network = cost::createAlphaBetaModel(makeCluster());
  uint64_t tasks = 0;
  for (auto _ : state) {
    if (state.range(0) == 0) {
      auto result = run(workload, *network);
      if (!result) {
        state.SkipWithError(toString(result.takeError()).c_str());
        break;
      }
      tasks += result->tasks;
    } else {
      auto result = simulate(workload, *network);
      if (!result) {
        state.SkipWithError(toString(result.takeError()).c_str());
        break;
      }
      tasks += result->run.tasks;
    }
  }
  state.counters["tasks/s"] = benchmark::Counter(static_cast<double>(tasks),
                                                 benchmark::Counter::kIsRate);
}
BENCHMARK(engineRate)
    ->ArgName("listeners")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);

/// Folding a mesh of 8 x 16 x n/128 ranks with 16 pipeline stages.
static void foldRanks(benchmark::State &state) {
  uint32_t ranks = state.range(0);
  std::vector<uint32_t> colours(ranks);
  std::vector<GroupFamily> families(3);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    uint32_t tp = rank % 8, pp = rank / 8 % 16, dp = rank / 128;
    colours[rank] = pp;
    families[0].groupOf.push_back(dp * 16 + pp);
    families[1].groupOf.push_back(dp * 8 + tp);
    families[2].groupOf.push_back(pp * 8 + tp);
  }
  families[0].shapes.assign(ranks / 8, {8, 1, 8});
  families[1].shapes.assign(ranks / 16, {16, 16, 1});
  families[2].shapes.assign(128, {ranks / 128, ranks / 128, 1});
  for (auto _ : state)
    benchmark::DoNotOptimize(partitionRanks(colours, families));
}
BENCHMARK(foldRanks)->Arg(1 << 10)->Arg(1 << 14)->Arg(1 << 17)->Unit(
    benchmark::kMillisecond);
