//===- MemoryVerdictTest.cpp - memory verdict and its remedies ------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/MemoryVerdict.h"
#include "TestWorkloads.h"

using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

/// Blocks of this size are neither rounded nor split from larger segments.
constexpr int64_t unit = 10 << 20;

Buffer state(MemoryOwner owner, int64_t units, int64_t replicas) {
  Buffer buffer{"state", units * unit, owner};
  buffer.replicas = replicas;
  return buffer;
}

/// Returns two layers on each of four data-parallel ranks, with two
/// micro-batches of two samples in flight. Model states take 20 units; a
/// micro-batch takes 4 units of activations inside layers and 2 units between
/// them.
Builder twoLayers() {
  Builder b;
  JobInfo &info = b.workload.info;
  info.globalBatch = 16;
  info.microBatches = 2;
  info.axes = {{"dp", 4, AxisRole::Data}};
  b.workload.cluster.devices[0].memoryBytes = 30 * unit;
  b.workload.cluster.devices[0].reservedBytes = unit;
  DeviceClass &device = b.addClass("stage 0");
  device.resident = {state(MemoryOwner::Parameters, 4, 4),
                     state(MemoryOwner::Gradients, 4, 4),
                     state(MemoryOwner::OptimizerState, 8, 4),
                     state(MemoryOwner::MasterWeights, 4, 4)};
  Template &micro = device.micro;
  const char *names[] = {"layers[0].norm", "layers[0].fc", "layers[1].norm",
                         "layers[1].fc"};
  for (uint32_t i = 0; i < 4; ++i) {
    micro.buffers.push_back({names[i], (i % 2 ? 1 : 2) * unit});
    b.kernel(micro, names[i], ms);
    micro.tasks[i].allocates = {i};
    if (i > 0) {
      micro.tasks[i].dependsOn = {i - 1};
      micro.tasks[i].reads = {i - 1};
    }
  }
  micro.tasks[b.kernel(micro, "loss", ms, {3})].reads = {3};
  Builder::endSection(micro);
  for (uint32_t i = 4; i-- > 0;) {
    uint32_t task = b.kernel(micro, names[i], ms,
                             {static_cast<uint32_t>(micro.tasks.size() - 1)},
                             Phase::Backward);
    micro.tasks[task].reads = {i};
  }
  Builder::endSection(micro);
  device.order = {{0, 0, false}, {0, 1, false}, {1, 0, false}, {1, 1, false}};
  return b;
}

MemoryVerdict verdict(const Workload &workload) {
  return verdictOf(workload, simulateOrFail(workload));
}

/// Returns the savings in units, by name.
std::vector<std::pair<std::string, int64_t>> knobs(const Workload &workload) {
  std::vector<std::pair<std::string, int64_t>> result;
  for (const MemoryKnob &knob : verdict(workload).knobs) {
    EXPECT_EQ(knob.saving % unit, 0) << knob.name;
    result.push_back({knob.name, knob.saving / unit});
  }
  return result;
}

int64_t saving(const Workload &workload, const std::string &name) {
  for (const auto &[knob, units] : knobs(workload))
    if (knob == name)
      return units;
  return 0;
}

using Knobs = std::vector<std::pair<std::string, int64_t>>;

TEST(MemoryVerdict, CountsWhatIsReservedAndWhatIsTakenBefore) {
  Workload workload = twoLayers().workload;
  MemoryVerdict v = verdict(workload);
  EXPECT_EQ(v.needed, 33 * unit);
  EXPECT_EQ(v.excess(), 3 * unit);
  EXPECT_FALSE(v.fits());
  EXPECT_EQ(v.owners, (std::vector<std::pair<std::string, int64_t>>{
                          {"activations", 12 * unit},
                          {"optimizer_state", 8 * unit},
                          {"gradients", 4 * unit},
                          {"master_weights", 4 * unit},
                          {"parameters", 4 * unit},
                          {"framework", unit}}));

  workload.cluster.devices[0].memoryBytes = 33 * unit;
  EXPECT_TRUE(verdict(workload).fits());
  EXPECT_TRUE(verdict(workload).knobs.empty());
  workload.cluster.devices[0].memoryBytes -= 1;
  EXPECT_FALSE(verdict(workload).fits());
}

TEST(MemoryVerdict, TheWorstClassIsTheOneThatMissesMost) {
  Workload workload = twoLayers().workload;
  workload.classes.push_back(workload.classes[0]);
  EXPECT_EQ(verdict(workload).classIndex, 0u);
  workload.classes[1].resident.push_back({"more", 1});
  EXPECT_EQ(verdict(workload).classIndex, 1u);
}

TEST(MemoryVerdict, KnobsAreSortedByWhatTheySave) {
  EXPECT_EQ(knobs(twoLayers().workload), (Knobs{{"pipeline_parallel", 16},
                                                {"zero_3", 15},
                                                {"offload_optimizer", 12},
                                                {"zero_2", 12},
                                                {"tensor_parallel", 10},
                                                {"zero_1", 9},
                                                {"in_flight", 6},
                                                {"recompute", 6}}));
}

TEST(MemoryVerdict, ZeroAppliesToWhatIsReplicated) {
  Workload workload = twoLayers().workload;
  for (Buffer &buffer : workload.classes[0].resident)
    if (buffer.owner != MemoryOwner::Parameters)
      buffer.replicas = 1;
  EXPECT_EQ(saving(workload, "zero_1"), 0);
  EXPECT_EQ(saving(workload, "zero_2"), 0);
  EXPECT_EQ(saving(workload, "zero_3"), 3);
}

TEST(MemoryVerdict, WhatIsInHostMemoryCannotBeMovedThere) {
  Workload workload = twoLayers().workload;
  workload.cluster.devices[0].memoryBytes = 20 * unit;
  EXPECT_EQ(saving(workload, "offload_optimizer"), 12);
  workload.classes[0].resident[2].onHost = true;
  EXPECT_EQ(saving(workload, "offload_optimizer"), 4);
  EXPECT_EQ(saving(workload, "zero_1"), 3);
}

TEST(MemoryVerdict, RecomputationKeepsInputsOfLayersAndOneLayer) {
  Workload workload = twoLayers().workload;
  // A buffer that no backward kernel reads is not kept.
  workload.classes[0].micro.tasks[8].reads = {};
  workload.cluster.devices[0].memoryBytes = 10 * unit;
  EXPECT_EQ(saving(workload, "recompute"), 2 * 2 - 2);
  // Without its reader in the second layer, the output of the first layer
  // counts as inside it.
  workload = twoLayers().workload;
  workload.classes[0].micro.tasks[2].reads = {};
  EXPECT_EQ(saving(workload, "recompute"), 2 * 5 - 3);
}

TEST(MemoryVerdict, TensorParallelismHalvesWhatIsSplit) {
  Workload workload = twoLayers().workload;
  workload.info.axes.push_back({"tp", 2, AxisRole::Tensor});
  EXPECT_EQ(saving(workload, "tensor_parallel"), 0);
  workload.classes[0].resident[2].tensorSplit = true;
  workload.classes[0].micro.buffers[0].tensorSplit = true;
  EXPECT_EQ(saving(workload, "tensor_parallel"), 4 + 2);
}

TEST(MemoryVerdict, StagesHoldMoreMicroBatchesAsTheirNumberGrows) {
  Workload workload = twoLayers().workload;
  // With as many micro-batches as the first stage needs, activations do not
  // change.
  workload.info.microBatches = 8;
  workload.classes[0].order.clear();
  for (uint32_t first = 0; first < 8; first += 2)
    for (uint32_t section : {0u, 1u})
      for (uint32_t m : {first, first + 1})
        workload.classes[0].order.push_back({section, m, false});
  EXPECT_EQ(saving(workload, "pipeline_parallel"), 10);
}

TEST(MemoryVerdict, MicroBatchesAreHalvedWhereTheyAreNotAllInFlight) {
  Workload workload = twoLayers().workload;
  EXPECT_EQ(saving(workload, "micro_batch"), 0);
  workload.classes[0].order = {
      {0, 0, false}, {1, 0, false}, {0, 1, false}, {1, 1, false}};
  workload.cluster.devices[0].memoryBytes = 20 * unit;
  EXPECT_EQ(saving(workload, "in_flight"), 0);
  EXPECT_EQ(saving(workload, "micro_batch"), 3);
  // A micro-batch of one sample can't be halved.
  workload.info.globalBatch = 8;
  EXPECT_EQ(saving(workload, "micro_batch"), 0);
}

TEST(MemoryBudget, CountsEachCommunicatorOnce) {
  Builder b;
  b.addClass("stage 0");
  b.addClass("stage 1");
  machine::NodeGraph &node = b.workload.cluster.kinds.emplace_back().graph;
  for (uint32_t i = 0; i < 4; ++i) {
    machine::Vertex device;
    device.index = i;
    node.addVertex(device);
  }
  b.workload.cluster.nodes = {{0, 1}};
  b.workload.cluster.devices[0].memoryBytes = 1000000;
  b.workload.cluster.devices[0].reservedBytes = 1000;
  b.workload.memory = {1, 1000, 100, 10};
  auto library = [&](uint32_t c) {
    return budgetsOf(b.workload)[c].communicationLibrary;
  };
  EXPECT_EQ(library(0), 0);
  auto add = [&](std::vector<uint32_t> members, cost::CollectiveKind kind,
                 int64_t ranks, const char *axes) {
    Collective &collective =
        b.workload.collectives[b.collective(std::move(members), 8, kind)];
    collective.groupSize = ranks;
    collective.axes = axes;
  };
  add({0}, cost::CollectiveKind::AllReduce, 8, "tp");
  EXPECT_EQ(library(0), 1000);
  add({0}, cost::CollectiveKind::AllGather, 8, "tp");
  EXPECT_EQ(library(0), 1000);
  add({0}, cost::CollectiveKind::AllReduce, 8, "dp");
  EXPECT_EQ(library(0), 2000);
  add({0}, cost::CollectiveKind::AllReduce, 1, "cp");
  EXPECT_EQ(library(0), 2000);
  EXPECT_EQ(library(1), 0);
  add({0, 1}, cost::CollectiveKind::SendRecv, 2, "stage 0 -> 1");
  add({0, 1}, cost::CollectiveKind::SendRecv, 2, "stage 1 -> 0");
  EXPECT_EQ(library(0), 2020);
  EXPECT_EQ(library(1), 20);
  // Three peers in the node and four in other nodes.
  add({1}, cost::CollectiveKind::AllToAll, 8, "tp");
  EXPECT_EQ(library(1), 20 + 3 * 100 + 4 * 10);

  MemoryBudget budget = budgetsOf(b.workload)[0];
  EXPECT_EQ(budget.capacity, 1000000);
  EXPECT_EQ(budget.frameworkReserve, 1000);
  EXPECT_EQ(budget.forTensors(), 1000000 - 1000 - 2020);
}

TEST(ReservedMemory, ReservesWhatIsHeldAndWhatIsCached) {
  Workload workload = twoLayers().workload;
  SimulationResult result = simulateOrFail(workload);
  const AllocatorPeak &peak = result.classes[0].allocator;
  EXPECT_EQ(peak.reserved, 32 * unit);
  EXPECT_EQ(peak.allocated, 32 * unit);
  EXPECT_EQ(peak.fragmentation, 0);
  EXPECT_EQ(peak.label, "layers[1].fc");
  // 29 units are left for tensors, too few for the second micro-batch.
  EXPECT_TRUE(peak.exceeded);
  EXPECT_EQ(peak.exceededLabel, "layers[1].norm");
  EXPECT_EQ(peak.inFlight, 2u);
}

TEST(ReservedMemory, PiecesAreBlocksOfTheirOwn) {
  Workload workload = twoLayers().workload;
  Buffer &parameters = workload.classes[0].resident[0];
  // Four layers of slightly more than 9 units: each gets a multiple of 2 MiB.
  parameters.bytes = 4 * (9 * unit + 512);
  parameters.pieces = 4;
  SimulationResult result = simulateOrFail(workload);
  int64_t waste = 4 * ((2 << 20) - 512);
  EXPECT_EQ(result.classes[0].allocator.reserved,
            28 * unit + 4 * (9 * unit + (2 << 20)));
  EXPECT_EQ(result.classes[0].allocator.fragmentation, waste);
}

} // namespace
