//===- CriticalPathTest.cpp - critical path of a step ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomPipelines.h"
#include "TestWorkloads.h"

#include "Proteus/Sim/CriticalPath.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

/// A workload with one class and one micro-batch.
struct OneClass : Builder {
  OneClass() : device(addClass("rank")) { device.order = {{0, 0, false}}; }
  uint32_t add(const std::string &name, Time duration,
               std::vector<uint32_t> dependsOn = {}) {
    return kernel(device.micro, name, duration, std::move(dependsOn));
  }
  DeviceClass &device;
};

/// Returns the labels of the tasks on the path in order of time; "host" for
/// launches.
std::vector<std::string> pathOf(const Workload &workload) {
  CriticalPath path;
  SimulationResult result = simulateOrFail(workload, {&path});
  std::vector<std::string> labels;
  Time end = 0;
  for (const PathStep &step : path.steps()) {
    EXPECT_EQ(step.begin, end);
    end = step.end;
    labels.push_back(step.task ? workload.labels[step.task->label] : "host");
  }
  EXPECT_EQ(end, result.run.iterationTime);
  return labels;
}

std::vector<PathShare> sharesOf(const Workload &workload) {
  Expected<SimulationResult> result =
      simulate(workload, {}, {}, /*followCriticalPath=*/true);
  if (result)
    return *result->criticalPath;
  ADD_FAILURE() << toString(result.takeError());
  return {};
}

using Labels = std::vector<std::string>;

TEST(CriticalPath, FollowsDependenciesAcrossStreams) {
  OneClass c;
  uint32_t first = c.add("first", ms);
  uint32_t reduce = c.party(c.device.micro, "reduce", Stream::TensorParallel,
                            c.collective({0}, 2 * ms), {first});
  c.party(c.device.micro, "hidden", Stream::DataParallel,
          c.collective({0}, 3 * ms), {first});
  c.add("beside", ms);
  c.add("last", 3 * ms, {reduce});
  Builder::endSection(c.device.micro);
  EXPECT_EQ(pathOf(c.workload), (Labels{"first", "reduce", "last"}));
  std::vector<PathShare> shares = sharesOf(c.workload);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].kind, "kernel");
  EXPECT_EQ(shares[0].time, 4 * ms);
  EXPECT_EQ(shares[1].kind, "all_reduce over dp");
  EXPECT_EQ(shares[1].time, 2 * ms);
}

TEST(CriticalPath, FollowsTheStream) {
  OneClass c;
  uint32_t early = c.add("early", ms);
  c.add("other", 2 * ms);
  // Its dependency has ended long before the stream is free.
  c.add("last", ms, {early});
  Builder::endSection(c.device.micro);
  EXPECT_EQ(pathOf(c.workload), (Labels{"early", "other", "last"}));
}

TEST(CriticalPath, FollowsTheMemberThatCameLast) {
  Builder b;
  b.addClass("fast");
  b.addClass("slow");
  int32_t meeting = b.collective({0, 1}, ms);
  for (uint32_t c : {0, 1}) {
    DeviceClass &device = b.workload.classes[c];
    uint32_t before =
        b.kernel(device.micro, c ? "slow" : "fast", c ? 5 * ms : ms);
    uint32_t party =
        b.party(device.micro, "meet", Stream::DataParallel, meeting, {before});
    // The class that waited ends last.
    b.kernel(device.micro, c ? "short" : "long", c ? ms : 2 * ms, {party});
    Builder::endSection(device.micro);
    device.order = {{0, 0, false}};
  }
  EXPECT_EQ(pathOf(b.workload), (Labels{"slow", "meet", "long"}));
}

TEST(CriticalPath, EndsAtTheHostWhereALaunchWasWaitedFor) {
  OneClass c;
  c.add("first", ms / 10);
  c.add("second", ms / 10);
  c.add("third", ms);
  Builder::endSection(c.device.micro);
  c.launchEvery(ms);
  EXPECT_EQ(pathOf(c.workload), (Labels{"host", "third"}));
  std::vector<PathShare> shares = sharesOf(c.workload);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].kind, "host launch");
  EXPECT_EQ(shares[0].time, 3 * ms);
  EXPECT_EQ(shares[1].time, ms);
}

// The members of a collective with the last micro-batch may run it with
// different micro-batches. The late launch is that of the other class.
TEST(CriticalPath, FindsTheLauncherOfAnotherMicroBatch) {
  Builder b;
  b.workload.info.microBatches = 2;
  b.addClass("in order");
  b.addClass("reversed");
  int32_t meeting = b.collective({0, 1}, ms);
  for (uint32_t c : {0, 1}) {
    DeviceClass &device = b.workload.classes[c];
    uint32_t before = b.kernel(device.micro, "before", ms);
    uint32_t party =
        b.party(device.micro, "meet", Stream::DataParallel, meeting, {before});
    Task &task = device.micro.tasks[party];
    task.when = When::LastMicroBatch;
    task.launch = c ? 10 * ms : 0;
    uint32_t after = b.kernel(device.micro, "after", c ? ms : 5 * ms, {party});
    device.micro.tasks[after].when = When::LastMicroBatch;
    Builder::endSection(device.micro);
    device.order = {{0, c, false}, {0, 1 - c, false}};
  }
  CriticalPath path;
  simulateOrFail(b.workload, {&path});
  ASSERT_EQ(path.steps().size(), 3u);
  EXPECT_EQ(path.steps()[0].task, nullptr);
  EXPECT_EQ(path.steps()[0].classIndex, 1u);
}

TEST(CriticalPath, GoesThroughAHostToTheMessageItWaitedFor) {
  PipelineOptions options;
  options.stages = 2;
  options.microBatches = 1;
  options.transfer = ms;
  Builder b = pipeline(options);
  b.launchEvery(ms / 4);
  for (DeviceClass &device : b.workload.classes)
    device.hostWaits = true;
  EXPECT_EQ(pathOf(b.workload),
            (Labels{"host", "forward", "receive activation", "host", "forward",
                    "backward", "receive gradient", "host", "backward"}));
}

TEST(CriticalPath, OfAPipelineIsItsFillItsLastStageAndItsDrain) {
  PipelineOptions options;
  options.transfer = ms / 8;
  int64_t p = options.stages, m = options.microBatches;
  std::vector<PathShare> shares = sharesOf(pipeline(options).workload);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].kind, "kernel");
  EXPECT_EQ(shares[0].time, (m + p - 1) * 3 * ms);
  EXPECT_EQ(shares[1].kind, "send_recv over dp");
  EXPECT_EQ(shares[1].time, 2 * (p - 1) * options.transfer);
}

TEST(CriticalPath, OfARandomPipelineIsAsLongAsTheStep) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Workload workload = PipelineGenerator(seed).make();
    pathOf(workload);
    Time sum = 0;
    for (const PathShare &share : sharesOf(workload))
      sum += share.time;
    EXPECT_EQ(sum, simulateOrFail(workload).run.iterationTime);
  }
}

} // namespace
