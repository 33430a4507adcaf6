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

/// A 1F1B pipeline whose stages run `tasksPerStage` tasks per micro-batch:
/// three kernels, then a tensor-parallel all-reduce they feed, over and over.
Workload makePipeline(uint32_t stages, uint32_t microBatches,
                      uint32_t tasksPerStage) {
  Workload workload;
  workload.info.microBatches = microBatches;
  workload.info.devices = stages;
  workload.cluster.device.launchLatency = 1e-7;
  workload.labels = {"kernel"};
  auto collective = [&](cost::CollectiveKind kind, int64_t bytes,
                        std::vector<uint32_t> members) {
    workload.collectives.push_back(
        {{kind, bytes, {2, 1, 2}}, "tp", 1, std::move(members)});
    return static_cast<int32_t>(workload.collectives.size() - 1);
  };
  for (uint32_t s = 0; s + 1 < stages; ++s)
    for (int direction = 0; direction < 2; ++direction)
      collective(cost::CollectiveKind::SendRecv, 1 << 20, {s, s + 1});

  for (uint32_t s = 0; s < stages; ++s) {
    DeviceClass device;
    device.name = "stage " + std::to_string(s);
    Template &micro = device.micro;
    micro.sectionBegin = {0};
    auto add = [&](Stream stream, int32_t member, bool allocates) {
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
    };
    for (uint32_t section = 0; section < 2; ++section) {
      bool isForward = section == 0;
      bool receives = isForward ? s > 0 : s + 1 < stages;
      bool sends = isForward ? s + 1 < stages : s > 0;
      uint32_t from = isForward ? 2 * (s - 1) : 2 * s + 1;
      uint32_t to = isForward ? 2 * s : 2 * (s - 1) + 1;
      if (receives)
        add(Stream::PipelineReceive, from, true);
      for (uint32_t t = 0; t < tasksPerStage / 2; ++t) {
        if (t % 4 == 3)
          add(Stream::TensorParallel,
              collective(cost::CollectiveKind::AllReduce, 1 << 20, {s}), false);
        else
          add(Stream::Compute, -1, true);
        // Backward kernels read what forward kernels left.
        if (!isForward && t < micro.buffers.size())
          micro.tasks.back().reads.push_back(t);
      }
      if (sends)
        add(Stream::PipelineSend, to, false);
      micro.sectionBegin.push_back(micro.tasks.size());
    }
    uint32_t warmup = std::min(stages - s - 1, microBatches);
    uint32_t forward = 0, backward = 0;
    while (forward < warmup)
      device.order.push_back({0, forward++, false});
    while (backward < microBatches) {
      if (forward < microBatches)
        device.order.push_back({0, forward++, false});
      device.order.push_back({1, backward++, false});
    }
    workload.classes.push_back(std::move(device));
  }
  return workload;
}

cost::Cluster makeCluster() {
  cost::Cluster cluster;
  cluster.intraNode = {300e9, 2e-6};
  cluster.interNode = {25e9, 5e-6};
  return cluster;
}

/// Task completions per second of the bare engine (0) and with all listeners
/// of a report (1): 8 stages, 96 micro-batches, 900 tasks.
void engineRate(benchmark::State &state) {
  Workload workload = makePipeline(8, 96, 900);
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
void foldRanks(benchmark::State &state) {
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

} // namespace
