//===- ViewsTest.cpp - exposed communication and links --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomPipelines.h"
#include "TestWorkloads.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

//===----------------------------------------------------------------------===//
// Exposed communication
//===----------------------------------------------------------------------===//

/// Returns the exposed communication of one rank: a kernel of 1 ms, then two
/// simultaneous communications, of 5 ms over dp and of 2 ms over tp, then a
/// kernel of 1 ms that waits for one or both of them.
std::vector<ExposedCommunication> exposed(bool waitsForBoth) {
  Builder b;
  DeviceClass &device = b.addClass("rank");
  device.order = {{0, 0, false}};
  uint32_t first = b.kernel(device.micro, "first", ms);
  uint32_t slow = b.party(device.micro, "slow", Stream::DataParallel,
                          b.collective({0}, 5 * ms), {first});
  uint32_t quick = b.party(device.micro, "quick", Stream::TensorParallel,
                           b.collective({0}, 2 * ms), {first});
  b.workload.collectives[1].axes = "tp";
  std::vector<uint32_t> waited = {quick};
  if (waitsForBoth)
    waited.push_back(slow);
  b.kernel(device.micro, "last", ms, waited);
  Builder::endSection(device.micro);
  return simulateOrFail(b.workload).classes[0].exposedByKind;
}

TEST(Exposed, WhatGoesOnBesideTheNextKernelWasNotWaitedFor) {
  // The short communication causes the gap of 2 ms. The long one continues for
  // 2 ms after the last kernel.
  std::vector<ExposedCommunication> parts = exposed(/*waitsForBoth=*/false);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].kind, "all_reduce over dp");
  EXPECT_EQ(parts[0].time, 2 * ms);
  EXPECT_EQ(parts[1].kind, "all_reduce over tp");
  EXPECT_EQ(parts[1].time, 2 * ms);
}

TEST(Exposed, TheOneThatEndsLastIsWaitedFor) {
  std::vector<ExposedCommunication> parts = exposed(/*waitsForBoth=*/true);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].kind, "all_reduce over dp");
  EXPECT_EQ(parts[0].time, 5 * ms);
}

TEST(Exposed, PartsSumToTheWhole) {
  unsigned shown = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Workload workload = PipelineGenerator(seed).make();
    for (const ClassResult &stage : simulateOrFail(workload).classes) {
      Time sum = 0;
      for (const ExposedCommunication &part : stage.exposedByKind)
        sum += part.time;
      EXPECT_EQ(sum, stage.breakdown.exposedCommunication);
      shown += sum > 0;
    }
  }
  EXPECT_GT(shown, 50u);
}

//===----------------------------------------------------------------------===//
// Links
//===----------------------------------------------------------------------===//

constexpr int64_t gigabyte = 1000000000;

/// Adds a class that moves one flow of `volume` bytes over `links`.
void addFlow(Builder &b, int64_t volume, int64_t ceiling,
             std::vector<uint32_t> links) {
  uint32_t number = b.workload.classes.size();
  DeviceClass &device = b.addClass("rank " + std::to_string(number));
  Flow flow;
  flow.volume = volume;
  flow.ceiling = ceiling;
  for (uint32_t link : links)
    flow.loads.push_back({link, loadUnit});
  b.party(device.micro, "move", Stream::DataParallel, b.flow({number}, flow));
  Builder::endSection(device.micro);
  device.order = {{0, 0, false}};
}

TEST(Links, AreContendedWhileFlowsShareThem) {
  Builder b;
  uint32_t link = b.link(gigabyte);
  b.link(gigabyte); // no flow uses it
  addFlow(b, 1000000, gigabyte, {link});
  addFlow(b, 2000000, gigabyte, {link});
  SimulationResult result = simulateOrFail(b.workload);
  EXPECT_EQ(result.run.iterationTime, 3 * ms);
  ASSERT_EQ(result.links.size(), 1u);
  EXPECT_EQ(result.links[0].link, link);
  EXPECT_EQ(result.links[0].bytes, 3000000);
  // The longer flow runs alone for the last millisecond, at its ceiling.
  EXPECT_EQ(result.links[0].contended, 2 * ms);
  EXPECT_DOUBLE_EQ(*utilization(b.workload, result, result.links[0]), 1);

  SimulationResult alone =
      simulateOrFail(b.workload, {}, {/*share=*/false, true, true});
  EXPECT_EQ(alone.run.iterationTime, 2 * ms);
  EXPECT_EQ(alone.links[0].bytes, 3000000);
  EXPECT_EQ(alone.links[0].contended, 0);
}

TEST(Links, AreNotContendedWhereFlowsReachTheirCeilings) {
  Builder b;
  uint32_t link = b.link(gigabyte);
  addFlow(b, 1000000, gigabyte / 2, {link});
  addFlow(b, 1000000, gigabyte / 2, {link});
  SimulationResult result = simulateOrFail(b.workload);
  EXPECT_EQ(result.run.iterationTime, 2 * ms);
  EXPECT_EQ(result.links[0].contended, 0);
}

TEST(Links, OnlyTheOneThatIsFullHoldsAFlowBack) {
  Builder b;
  uint32_t wide = b.link(gigabyte - 1), narrow = b.link(gigabyte / 4);
  addFlow(b, 1000000, gigabyte, {wide, narrow});
  SimulationResult result = simulateOrFail(b.workload);
  EXPECT_EQ(result.run.iterationTime, 4 * ms);
  ASSERT_EQ(result.links.size(), 2u);
  EXPECT_EQ(result.links[wide].contended, 0);
  EXPECT_EQ(result.links[narrow].contended, 4 * ms);
  // Two equally narrow links are both contended.
  b.workload.links[wide].capacity = gigabyte / 4;
  result = simulateOrFail(b.workload);
  EXPECT_EQ(result.links[wide].contended, 4 * ms);
  EXPECT_EQ(result.links[narrow].contended, 4 * ms);
}

TEST(Links, AreContendedAsLongInPeriodsThatAreSkipped) {
  unsigned shown = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Workload workload = PipelineGenerator(seed).make();
    SimulationResult skipped = simulateOrFail(workload);
    SimulationResult all =
        simulateOrFail(workload, {}, {true, true, /*skipRecurrence=*/false});
    ASSERT_EQ(skipped.links.size(), all.links.size());
    for (auto [a, b] : llvm::zip(skipped.links, all.links)) {
      EXPECT_EQ(a.bytes, b.bytes);
      EXPECT_EQ(a.contended, b.contended);
      shown += skipped.run.skippedTasks > 0 && a.contended > 0;
    }
  }
  EXPECT_GT(shown, 0u);
}

} // namespace
