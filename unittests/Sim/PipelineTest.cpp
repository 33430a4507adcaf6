//===- PipelineTest.cpp - closed forms of pipelines -----------------------===//
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

class PipelineTest : public testing::TestWithParam<Schedule> {};

TEST_P(PipelineTest, TheBubbleIsStagesMinusOneOverMicroBatches) {
  for (uint32_t p : {1u, 2u, 4u, 7u})
    for (uint32_t m : {1u, 2u, 4u, 8u, 13u}) {
      PipelineOptions options;
      options.stages = p;
      options.microBatches = m;
      options.schedule = GetParam();
      Time work = m * (options.forward + options.backward);
      Time bubble = (p - 1) * (options.forward + options.backward);
      SimulationResult result = simulateOrFail(pipeline(options).workload);
      EXPECT_EQ(result.run.iterationTime, work + bubble) << p << " " << m;
      for (const ClassResult &stage : result.classes) {
        EXPECT_EQ(stage.breakdown.compute, work);
        EXPECT_EQ(stage.breakdown.bubble, bubble);
        EXPECT_EQ(stage.breakdown.total(), result.run.iterationTime);
      }
    }
}

TEST_P(PipelineTest, TheUpdateFollowsTheLastBackward) {
  PipelineOptions options;
  options.update = 5 * ms;
  options.schedule = GetParam();
  SimulationResult result = simulateOrFail(pipeline(options).workload);
  // Stage 0 has the last backward pass.
  EXPECT_EQ(result.run.iterationTime, (8 + 3) * 3 * ms + 5 * ms);
  EXPECT_EQ(result.classes[0].breakdown.optimizer, 5 * ms);
}

TEST_P(PipelineTest, ExposedTransfersAreToldFromBubbles) {
  PipelineOptions options;
  options.stages = 2;
  options.microBatches = 1;
  options.transfer = ms / 2;
  options.schedule = GetParam();
  SimulationResult result = simulateOrFail(pipeline(options).workload);
  EXPECT_EQ(result.run.iterationTime, 2 * 3 * ms + ms);
  // Stage 0 idles during its transfers, and while stage 1 computes between
  // them.
  EXPECT_EQ(result.classes[0].breakdown.exposedPipeline, ms);
  EXPECT_EQ(result.classes[0].breakdown.bubble, 3 * ms);
  EXPECT_EQ(result.classes[0].breakdown.exposedCommunication, 0);
}

INSTANTIATE_TEST_SUITE_P(Schedules, PipelineTest,
                         testing::Values(Schedule::GPipe,
                                         Schedule::OneForwardOneBackward));

TEST(PipelineMemory, GPipeHoldsAllMicroBatches) {
  PipelineOptions options;
  options.activationBytes = 10;
  SimulationResult result = simulateOrFail(pipeline(options).workload);
  for (const ClassResult &stage : result.classes)
    EXPECT_EQ(stage.memory.bytes, 8 * 10);
}

TEST(PipelineMemory, OneForwardOneBackwardHoldsThoseInFlight) {
  for (uint32_t m : {2u, 8u}) {
    PipelineOptions options;
    options.microBatches = m;
    options.activationBytes = 10;
    options.schedule = Schedule::OneForwardOneBackward;
    SimulationResult result = simulateOrFail(pipeline(options).workload);
    for (uint32_t s = 0; s < options.stages; ++s)
      EXPECT_EQ(result.classes[s].memory.bytes,
                10 * std::min<int64_t>(options.stages - s, m));
  }
}

} // namespace
