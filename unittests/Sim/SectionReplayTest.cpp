//===- SectionReplayTest.cpp - section replay changes no figure -----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FigureText.h"
#include "RandomPipelines.h"
#include "RandomWorkloads.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

/// Compares runs task by task, with replay, and with replay and recurrence.
/// Returns the result with replay alone.
RunResult expectSame(const Workload &workload, bool share = true,
                     bool overlap = true) {
  EngineOptions plain = {share, overlap, false, false};
  EngineOptions replaying = {share, overlap, false, true};
  EngineOptions both = {share, overlap, true, true};
  SimulationResult all = simulateOrFail(workload, {}, plain);
  SimulationResult replayed = simulateOrFail(workload, {}, replaying);
  SimulationResult skipped = simulateOrFail(workload, {}, both);
  EXPECT_EQ(all.run.replayedTasks, 0u);
  std::string expected = textOf(workload, all);
  EXPECT_EQ(expected, textOf(workload, replayed));
  EXPECT_EQ(expected, textOf(workload, skipped));
  // Without listeners, other tasks have effects outside of their sections.
  Expected<RunResult> alone = run(workload, replaying);
  EXPECT_TRUE(bool(alone));
  if (alone) {
    EXPECT_EQ(alone->iterationTime, all.run.iterationTime);
    EXPECT_EQ(alone->tasks, all.run.tasks);
  }
  return replayed.run;
}

TEST(SectionReplay, ChangesNoFigureOfARandomPipeline) {
  uint64_t tasks[2] = {}, replayed[2] = {};
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    PipelineGenerator generator(seed);
    generator.maxKernels = (1 + seed % 12) * (seed % 3 ? 1 : 6);
    Workload workload = generator.make();
    for (bool overlap : {false, true}) {
      RunResult result = expectSame(workload, /*share=*/seed % 5 > 0, overlap);
      tasks[overlap] += result.tasks;
      replayed[overlap] += result.replayedTasks;
    }
    if (HasFailure())
      break;
  }
  // The test is useful only if enough tasks are replayed.
  EXPECT_GT(4 * replayed[false], tasks[false]);
  EXPECT_GT(4 * replayed[true], tasks[true]);
}

TEST(SectionReplay, ChangesNoFigureWhereHostsWaitForMessages) {
  uint64_t tasks = 0, replayed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    PipelineGenerator generator(seed);
    generator.maxKernels = (1 + seed % 12) * (seed % 3 ? 1 : 6);
    Workload workload = generator.make();
    for (DeviceClass &device : workload.classes) {
      device.hostWaits = true;
      // With slow hosts, no section could be replayed.
      device.launchLatency = seed % 4;
      for (Task &task : device.micro.tasks)
        task.launch = 0;
    }
    RunResult result = expectSame(workload, /*share=*/seed % 5 > 0, seed % 2);
    tasks += result.tasks;
    replayed += result.replayedTasks;
    if (HasFailure())
      break;
  }
  // The test is useful only if enough tasks are replayed.
  EXPECT_GT(10 * replayed, tasks);
}

TEST(SectionReplay, WaitsForTheHostAreTheHosts) {
  // Kernels wait for their launches, the last kernel of a section too. For some
  // numbers of kernels, a stretch begins with this one.
  for (uint32_t kernels = 2; kernels < 40; ++kernels) {
    SCOPED_TRACE(kernels);
    Builder b;
    b.workload.info.microBatches = 8;
    b.addClass("stage 0");
    DeviceClass &device = b.workload.classes[0];
    std::vector<uint32_t> before;
    for (uint32_t k = 0; k < kernels; ++k)
      before = {b.kernel(device.micro, "kernel", 5, before)};
    Builder::endSection(device.micro);
    device.launchLatency = 10;
    for (uint32_t m = 0; m < 8; ++m)
      device.order.push_back({0, m, false});
    expectSame(b.workload);
    Expected<SimulationResult> result = simulate(b.workload);
    ASSERT_TRUE(bool(result));
    EXPECT_EQ(result->classes[0].breakdown.host, 10 + 5 * (8 * kernels - 1));
  }
}

TEST(SectionReplay, ACommunicationGoesOnBesideTheNextSection) {
  // The communication starts in the last stretch of a section and ends in the
  // next section. Listeners must receive its events.
  for (uint32_t behind = 1; behind < 5; ++behind) {
    SCOPED_TRACE(behind);
    Builder b;
    b.workload.info.microBatches = 8;
    b.addClass("stage 0");
    DeviceClass &device = b.workload.classes[0];
    std::vector<uint32_t> before;
    for (uint32_t k = 0; k < 40; ++k) {
      before = {b.kernel(device.micro, "kernel", 5, before)};
      if (k + behind == 39)
        b.party(device.micro, "reduce", Stream::DataParallel,
                b.collective({0}, 30), before);
    }
    Builder::endSection(device.micro);
    for (uint32_t m = 0; m < 8; ++m)
      device.order.push_back({0, m, false});
    EXPECT_GT(expectSame(b.workload).replayedTasks, 0u);
  }
}

TEST(SectionReplay, ChangesNoFigureOfARandomWorkload) {
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    expectSame(Generator(seed).make());
    if (HasFailure())
      break;
  }
}

} // namespace
