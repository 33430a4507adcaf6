//===- FlowTest.cpp - closed forms of flows and of interference -----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestWorkloads.h"

using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

constexpr int64_t GB = 1000000000;
constexpr EngineOptions notShared = {false, true, true};
constexpr EngineOptions noOverlap = {true, false, true};

Time timeOf(const Workload &workload, const EngineOptions &options = {}) {
  return simulateOrFail(workload, {}, options).run.iterationTime;
}

/// A workload of classes with one section each, which runs once.
struct Ranks : Builder {
  explicit Ranks(uint32_t count) {
    for (uint32_t c = 0; c < count; ++c)
      addClass("rank " + std::to_string(c)).order = {{0, 0, false}};
  }
  Template &micro(uint32_t rank = 0) { return workload.classes[rank].micro; }
  Workload &finish() {
    for (DeviceClass &device : workload.classes)
      endSection(device.micro);
    return workload;
  }
  /// Adds a communication of one rank over links that it loads fully.
  uint32_t send(uint32_t rank, Stream stream, Flow flow,
                std::vector<uint32_t> dependsOn = {}) {
    return party(micro(rank), "send", stream, this->flow({rank}, flow),
                 std::move(dependsOn));
  }
};

//===----------------------------------------------------------------------===//
// Flows
//===----------------------------------------------------------------------===//

TEST(Flows, LatencyThenVolumeOverRate) {
  Ranks r(1);
  r.send(0, Stream::DataParallel, {3 * ms, 10 * GB, 20 * GB, 0, {}});
  EXPECT_EQ(timeOf(r.finish()), 503 * ms);
}

TEST(Flows, TheEndIsRoundedUpToAPicosecond) {
  Ranks r(1);
  r.send(0, Stream::DataParallel, {0, 1, 3 * GB, 0, {}});
  EXPECT_EQ(timeOf(r.finish()), 334);
}

TEST(Flows, TwoEqualRingsOnOneNicTakeTwiceAsLong) {
  for (uint32_t rings : {1, 2}) {
    Ranks r(2);
    uint32_t nic = r.link(25 * GB);
    Flow ring = {2 * ms, 5 * GB, 25 * GB, 8, {{nic, loadUnit}}};
    for (uint32_t i = 0; i < rings; ++i)
      r.send(i, Stream::DataParallel, ring);
    EXPECT_EQ(timeOf(r.finish()), 2 * ms + rings * 200 * ms);
    EXPECT_EQ(timeOf(r.workload, notShared), 202 * ms);
  }
}

TEST(Flows, AFoldedRingHasTheLoadOfAll) {
  Ranks r(1);
  uint32_t nic = r.link(25 * GB);
  r.send(0, Stream::DataParallel,
         {2 * ms, 5 * GB, 25 * GB, 8, {{nic, 2 * loadUnit}}});
  EXPECT_EQ(timeOf(r.finish()), 402 * ms);
  // The groups for which the flow stands do not share links.
  EXPECT_EQ(timeOf(r.workload, notShared), 202 * ms);
}

TEST(Flows, RatesChangeWhenAnotherFlowComesAndGoes) {
  Ranks r(2);
  uint32_t nic = r.link(10 * GB);
  // 1 s alone (10 GB), then 1 s at half the rate (5 GB), then 0.5 s alone (5
  // GB).
  r.send(0, Stream::DataParallel, {0, 20 * GB, 10 * GB, 0, {{nic, loadUnit}}});
  r.send(1, Stream::DataParallel,
         {1000 * ms, 5 * GB, 10 * GB, 0, {{nic, loadUnit}}});
  SimulationResult result = simulateOrFail(r.finish());
  EXPECT_EQ(result.run.iterationTime, 2500 * ms);
  EXPECT_EQ(result.classes[1].streamBusy[unsigned(Stream::DataParallel)],
            2000 * ms);
  // The table has the actual times, not those of the flows alone.
  Time sum = 0;
  for (const CollectiveRow &row : result.collectives)
    sum += row.time;
  EXPECT_EQ(sum, 4500 * ms);
}

TEST(Flows, NothingMovesDuringTheLatency) {
  Ranks r(2);
  uint32_t nic = r.link(10 * GB);
  r.send(0, Stream::DataParallel, {0, 10 * GB, 10 * GB, 0, {{nic, loadUnit}}});
  r.send(1, Stream::DataParallel,
         {1000 * ms, 10 * GB, 10 * GB, 0, {{nic, loadUnit}}});
  EXPECT_EQ(timeOf(r.finish()), 2000 * ms);
}

TEST(Flows, AFlowStartsWithTheLastMember) {
  Ranks r(2);
  int32_t reduce = r.flow({0, 1}, {ms, GB, 10 * GB, 0, {}});
  for (uint32_t rank : {0u, 1u})
    r.party(r.micro(rank), "reduce", Stream::DataParallel, reduce,
            {r.kernel(r.micro(rank), "k", (1 + 4 * rank) * ms)});
  EXPECT_EQ(timeOf(r.finish()), 5 * ms + ms + 100 * ms);
}

/// No picosecond is lost if rates change often.
TEST(Flows, RatesThatChangeOftenDoNotDrift) {
  Ranks r(2);
  uint32_t nic = r.link(10 * GB + 7);
  r.send(0, Stream::DataParallel,
         {0, 20 * GB, 10 * GB + 7, 0, {{nic, loadUnit}}});
  // Flows in sequence, each for a little less than a millisecond.
  for (int i = 0; i < 1000; ++i)
    r.send(1, Stream::DataParallel,
           {ms, 1000001, 10 * GB + 7, 0, {{nic, loadUnit}}});
  // The link is never idle while the long flow runs.
  Time wire =
      Time(__int128(20 * GB + 1000 * 1000001) * 1000000000000 / (10 * GB + 7));
  Time time = timeOf(r.finish());
  EXPECT_GE(time, wire);
  // Rates are whole bytes per second, and ends are whole picoseconds.
  EXPECT_LE(time, wire + 2000);
}

//===----------------------------------------------------------------------===//
// Interference
//===----------------------------------------------------------------------===//

/// A kernel of 10 ms that overlaps with a flow, which takes 4 ms alone and
/// starts after 2 ms.
struct Beside : Ranks {
  explicit Beside(machine::Interference factors) : Ranks(1) {
    workload.classes[0].interference = factors;
    kernel(micro(), "k", 10 * ms);
    Task wait;
    wait.stream = Stream::HostToDevice;
    wait.duration = 2 * ms;
    micro().tasks.push_back(wait);
    send(0, Stream::DataParallel, {0, 4 * GB, 1000 * GB, 8, {}}, {1});
    finish();
  }
  Flow &flow() { return workload.collectives[0].flow; }
};

TEST(Interference, AKernelIsSlowWhileACommunicationRuns) {
  for (bool matrix : {false, true}) {
    Beside b(matrix ? machine::Interference{2, 1, 1}
                    : machine::Interference{1, 2, 1});
    b.micro().tasks[0].matrix = matrix;
    // 2 ms alone, 4 ms at half speed, 6 ms alone.
    EXPECT_EQ(timeOf(b.workload), 12 * ms);
    EXPECT_EQ(timeOf(b.workload, noOverlap), 10 * ms);
    // The factor for the other kind of kernel has no effect.
    b.micro().tasks[0].matrix = !matrix;
    EXPECT_EQ(timeOf(b.workload), 10 * ms);
  }
}

TEST(Interference, OnlyThreadBlocksDisturb) {
  Beside b({2, 2, 2});
  b.flow().channels = 0;
  SimulationResult result = simulateOrFail(b.workload);
  EXPECT_EQ(result.run.iterationTime, 10 * ms);
  EXPECT_EQ(result.collectives[0].time, 4 * ms);
}

TEST(Interference, TheLatencyDisturbsAndIsNotStretched) {
  Beside b({2, 2, 2});
  b.flow() = {4 * ms, 0, 0, 8, {}};
  SimulationResult result = simulateOrFail(b.workload);
  EXPECT_EQ(result.run.iterationTime, 12 * ms);
  EXPECT_EQ(result.collectives[0].time, 4 * ms);
}

TEST(Interference, ACommunicationIsSlowWhileAKernelRuns) {
  Beside b({1, 1, 2});
  b.micro().tasks[0].duration = 5 * ms;
  // 3 ms at half rate, then 2.5 ms alone.
  SimulationResult result = simulateOrFail(b.workload);
  EXPECT_EQ(result.run.iterationTime, 7 * ms + ms / 2);
  EXPECT_EQ(result.collectives[0].time, 5 * ms + ms / 2);
  EXPECT_EQ(timeOf(b.workload, noOverlap), 6 * ms);
}

TEST(Interference, BothSlowEachOther) {
  Beside b({2, 2, 2});
  b.micro().tasks[0].duration = 4 * ms;
  // 2 ms alone, then 4 ms at half speed, in which half of the flow moves.
  EXPECT_EQ(timeOf(b.workload), 8 * ms);
}

TEST(Interference, WaitingForOthersDisturbsNobody) {
  Ranks r(2);
  r.workload.classes[0].interference = {2, 2, 2};
  r.kernel(r.micro(0), "k", 10 * ms);
  int32_t reduce = r.flow({0, 1}, {0, 4 * GB, 1000 * GB, 8, {}});
  r.party(r.micro(0), "r", Stream::DataParallel, reduce);
  uint32_t late = r.kernel(r.micro(1), "late", 20 * ms);
  r.party(r.micro(1), "r", Stream::DataParallel, reduce, {late});
  EXPECT_EQ(timeOf(r.finish()), 24 * ms);
  EXPECT_EQ(simulateOrFail(r.workload).classes[0].breakdown.compute, 10 * ms);
}

TEST(Interference, AnyMemberThatComputesSlowsAll) {
  Ranks r(2);
  r.workload.classes[1].interference = {1, 1, 2};
  int32_t reduce = r.flow({0, 1}, {0, 4 * GB, 1000 * GB, 8, {}});
  for (uint32_t rank : {0u, 1u})
    r.party(r.micro(rank), "r", Stream::DataParallel, reduce);
  r.kernel(r.micro(1), "k", 2 * ms);
  EXPECT_EQ(timeOf(r.finish()), 5 * ms);
  // Now the factor belongs to rank 0, which has no kernels.
  std::swap(r.workload.classes[0].interference,
            r.workload.classes[1].interference);
  EXPECT_EQ(timeOf(r.workload), 4 * ms);
}

TEST(Interference, OneKernelAfterAnotherIsComputingAllTheTime) {
  Ranks r(1);
  r.workload.classes[0].interference = {1.5, 1.5, 1};
  for (int i = 0; i < 10; ++i)
    r.kernel(r.micro(), "k", 2 * ms);
  r.send(0, Stream::DataParallel, {0, 9 * GB, 1000 * GB, 8, {}});
  // 9 ms at 2/3 speed: 6 ms of work; the speed is rounded to 1 / 65536.
  Time time = timeOf(r.finish());
  EXPECT_NEAR(static_cast<double>(time), 23. * ms, 9. * ms / 65536);
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// Returns two nodes of four ranks. One group has all ranks of a node; groups
/// of two span the nodes, and two of these share a card. There is one class per
/// rank, or one for all.
Workload twoNodes(bool folded) {
  constexpr uint32_t nodes = 2, perNode = 4, layers = 5;
  uint32_t classes = folded ? 1 : nodes * perNode;
  Ranks r(classes);
  for (uint32_t rank = 0; rank < classes; ++rank)
    r.link(30 * GB + 1); // ports
  for (uint32_t card = 0; card < (folded ? 1 : nodes * perNode / 2); ++card)
    r.link(7 * GB + 3);
  int32_t inside[nodes], across[perNode];
  for (uint32_t layer = 0; layer < layers; ++layer) {
    for (uint32_t node = 0; node < (folded ? 1 : nodes); ++node) {
      Flow flow = {ms, (1 + layer) * GB / 7, 29 * GB, 8, {}};
      std::vector<uint32_t> members;
      for (uint32_t i = 0; i < (folded ? 1 : perNode); ++i) {
        members.push_back(node * perNode + i);
        flow.loads.push_back({node * perNode + i, loadUnit});
      }
      inside[node] = r.flow(members, flow);
    }
    for (uint32_t i = 0; i < (folded ? 1 : perNode); ++i) {
      Flow flow = {2 * ms, GB / 11, 6 * GB, 4, {}};
      std::vector<uint32_t> members;
      for (uint32_t node = 0; node < (folded ? 1 : nodes); ++node) {
        members.push_back(node * perNode + i);
        flow.loads.push_back({node * perNode + i, loadUnit * 3 / 4});
        // In the folded workload, both groups that use the card load it.
        flow.loads.push_back({classes + node * perNode / 2 + i / 2,
                              loadUnit * (folded ? 2 : 1)});
      }
      across[i] = r.flow(members, flow);
    }
    for (uint32_t rank = 0; rank < classes; ++rank) {
      DeviceClass &device = r.workload.classes[rank];
      device.interference = {1.25, 1.5, 1.125};
      device.launchLatency = ms / 3;
      std::vector<uint32_t> before;
      if (layer > 0)
        before = {uint32_t(device.micro.tasks.size() - 2)};
      uint32_t kernel =
          r.kernel(device.micro, "k", (20 + layer) * ms + 7, before);
      device.micro.tasks[kernel].matrix = layer % 2;
      r.party(device.micro, "tp", Stream::TensorParallel,
              inside[rank / perNode], {kernel});
      r.party(device.micro, "dp", Stream::DataParallel, across[rank % perNode],
              {kernel});
    }
  }
  return r.finish();
}

TEST(Folding, OneClassForAllRanksGivesTheSameTimes) {
  for (unsigned model = 0; model < 4; ++model) {
    EngineOptions options = {(model & 1) != 0, (model & 2) != 0, true};
    Workload few = twoNodes(true), many = twoNodes(false);
    SimulationResult folded = simulateOrFail(few, {}, options);
    SimulationResult unfolded = simulateOrFail(many, {}, options);
    EXPECT_EQ(folded.run.iterationTime, unfolded.run.iterationTime);
    for (const ClassResult &rank : unfolded.classes) {
      EXPECT_EQ(rank.breakdown.compute, folded.classes[0].breakdown.compute);
      EXPECT_EQ(rank.breakdown.exposedCommunication,
                folded.classes[0].breakdown.exposedCommunication);
      EXPECT_EQ(rank.streamBusy, folded.classes[0].streamBusy);
    }
  }
}

} // namespace
