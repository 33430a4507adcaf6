//===- EngineTest.cpp - rules of the engine -------------------------------===//
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

Time timeOf(const Workload &workload) {
  return simulateOrFail(workload).run.iterationTime;
}

/// A workload with one class and one section that runs once.
struct Single : Builder {
  Single() : device(addClass("only")) { device.order = {{0, 0, false}}; }
  Template &micro() { return device.micro; }
  Workload &finish() {
    endSection(micro());
    return workload;
  }
  DeviceClass &device;
};

TEST(Engine, AnEmptyWorkloadTakesNoTime) {
  Builder b;
  b.addClass("idle");
  EXPECT_EQ(timeOf(b.workload), 0);
}

TEST(Engine, DependentWorkTakesTheSum) {
  Single s;
  uint32_t kernel = s.kernel(s.micro(), "k", 3 * ms);
  int32_t reduce = s.collective({0}, 5 * ms);
  s.party(s.micro(), "r", Stream::DataParallel, reduce, {kernel});
  EXPECT_EQ(timeOf(s.finish()), 8 * ms);
}

TEST(Engine, IndependentWorkOnTwoStreamsTakesTheMaximum) {
  Single s;
  s.kernel(s.micro(), "k", 3 * ms);
  s.party(s.micro(), "r", Stream::DataParallel, s.collective({0}, 5 * ms));
  EXPECT_EQ(timeOf(s.finish()), 5 * ms);
}

TEST(Engine, AStreamIsInOrder) {
  Single s;
  uint32_t slow = s.kernel(s.micro(), "slow", 7 * ms);
  // The first reduction waits for the kernel. The second one has no dependency,
  // but follows the first on the same stream.
  s.party(s.micro(), "first", Stream::DataParallel, s.collective({0}, ms),
          {slow});
  s.party(s.micro(), "second", Stream::DataParallel, s.collective({0}, ms));
  EXPECT_EQ(timeOf(s.finish()), 9 * ms);
}

TEST(Engine, ACollectiveStartsWithItsLastMemberAndEndsForAllAtOnce) {
  Builder b;
  for (Time duration : {2 * ms, 5 * ms}) {
    DeviceClass &device = b.addClass("rank");
    uint32_t before = b.kernel(device.micro, "before", duration);
    uint32_t reduce =
        b.party(device.micro, "reduce", Stream::TensorParallel, 0, {before});
    b.kernel(device.micro, "after", ms, {reduce});
    Builder::endSection(device.micro);
    device.order = {{0, 0, false}};
  }
  b.collective({0, 1}, 4 * ms);
  SimulationResult result = simulateOrFail(b.workload);
  EXPECT_EQ(result.run.iterationTime, 10 * ms);
  // The fast rank waits 3 ms (a bubble) and has 4 ms of communication.
  EXPECT_EQ(result.classes[0].breakdown.bubble, 3 * ms);
  EXPECT_EQ(result.classes[0].breakdown.exposedCommunication, 4 * ms);
  EXPECT_EQ(result.classes[1].breakdown.bubble, 0);
}

TEST(Engine, TheHostLaunchesOneTaskAfterAnother) {
  Single s;
  s.launchEvery(ms);
  for (int i = 0; i < 4; ++i)
    s.kernel(s.micro(), "k", ms / 2);
  SimulationResult result = simulateOrFail(s.finish());
  // The host is the limit: the k-th kernel starts after k launches.
  EXPECT_EQ(result.run.iterationTime, 4 * ms + ms / 2);
  EXPECT_EQ(result.classes[0].breakdown.host, 5 * ms / 2);
  EXPECT_EQ(result.classes[0].breakdown.bubble, 0);
}

TEST(Engine, LongKernelsHideTheHost) {
  Single s;
  s.launchEvery(ms);
  for (int i = 0; i < 4; ++i)
    s.kernel(s.micro(), "k", 3 * ms);
  EXPECT_EQ(timeOf(s.finish()), ms + 12 * ms);
}

/// Returns two stages without a backward pass. Each stage runs `kernels`
/// kernels, of duration `first` or `second`.
static Builder twoStages(uint32_t microBatches, uint32_t kernels, Time first,
                         Time second) {
  Builder b;
  b.workload.info.microBatches = microBatches;
  b.collective({0, 1}, 0, cost::CollectiveKind::SendRecv);
  for (uint32_t stage : {0, 1})
    b.addClass("stage " + std::to_string(stage));
  for (uint32_t stage : {0, 1}) {
    DeviceClass &device = b.workload.classes[stage];
    std::vector<uint32_t> before;
    if (stage == 1)
      before = {b.party(device.micro, "receive", Stream::PipelineReceive, 0)};
    for (uint32_t k = 0; k < kernels; ++k)
      before = {
          b.kernel(device.micro, "k", stage == 0 ? first : second, before)};
    if (stage == 0)
      b.party(device.micro, "send", Stream::PipelineSend, 0, before);
    Builder::endSection(device.micro);
    for (uint32_t m = 0; m < microBatches; ++m)
      device.order.push_back({0, m, false});
  }
  return b;
}

TEST(Engine, AHostThatWaitsForAMessageLaunchesNothingAhead) {
  constexpr int64_t m = 5, n = 3;
  const Time launch = ms;
  // The device is slow. Its kernels hide all launches but the first, unless the
  // host of the second stage waits for the last message.
  Builder slow = twoStages(m, n, 20 * ms, ms / 2);
  slow.launchEvery(launch);
  EXPECT_EQ(timeOf(slow.workload), launch + m * n * 20 * ms + n * ms / 2);
  slow.workload.classes[1].hostWaits = true;
  EXPECT_EQ(timeOf(slow.workload),
            launch + m * n * 20 * ms + n * launch + ms / 2);
  // The hosts are slow: both launch n + 1 tasks per micro-batch. A host that
  // waits launches the kernels of its stage only after the message, so that the
  // launches of the two stages follow one another.
  Builder fast = twoStages(m, n, ms / 4, ms / 4);
  fast.launchEvery(launch);
  EXPECT_EQ(timeOf(fast.workload), m * (n + 1) * launch + n * ms / 4);
  fast.workload.classes[1].hostWaits = true;
  EXPECT_EQ(timeOf(fast.workload), m * (n + 1) * launch + n * launch + ms / 4);
  // The first stage receives no messages.
  fast.workload.classes[0].hostWaits = true;
  EXPECT_EQ(timeOf(fast.workload), m * (n + 1) * launch + n * launch + ms / 4);
}

TEST(Engine, LastMicroBatchTasksRunOnceAndAreLaunchedOnce) {
  Single s;
  s.workload.info.microBatches = 3;
  s.device.order = {{0, 2, false}, {0, 0, false}, {0, 1, false}};
  uint32_t kernel = s.kernel(s.micro(), "k", ms);
  uint32_t reduce = s.party(s.micro(), "r", Stream::DataParallel,
                            s.collective({0}, 10 * ms), {kernel});
  s.micro().tasks[reduce].when = When::LastMicroBatch;
  // The task depends on one that is skipped twice.
  s.kernel(s.micro(), "after", ms, {reduce});
  SimulationResult result = simulateOrFail(s.finish());
  EXPECT_EQ(result.run.tasks, 7u);
  EXPECT_EQ(result.run.iterationTime, 4 * ms + ms + 10 * ms + ms);
  ASSERT_EQ(result.collectives.size(), 1u);
  EXPECT_EQ(result.collectives[0].count, 1);

  // There are seven launches; the last one is on the critical path.
  s.launchEvery(100 * ms);
  EXPECT_EQ(timeOf(s.workload), 7 * 100 * ms + ms);
}

TEST(Engine, FirstMicroBatchTasksRunOnceAndAreLaunchedOnce) {
  Single s;
  s.workload.info.microBatches = 3;
  s.device.order = {{0, 2, false}, {0, 0, false}, {0, 1, false}};
  uint32_t gather =
      s.party(s.micro(), "g", Stream::DataParallel, s.collective({0}, 10 * ms));
  s.micro().tasks[gather].when = When::FirstMicroBatch;
  s.kernel(s.micro(), "k", ms, {gather});
  SimulationResult result = simulateOrFail(s.finish());
  EXPECT_EQ(result.run.tasks, 4u);
  EXPECT_EQ(result.run.iterationTime, 10 * ms + 3 * ms);
  ASSERT_EQ(result.collectives.size(), 1u);
  EXPECT_EQ(result.collectives[0].count, 1);

  // There are four launches; the gather ends before the last one.
  s.launchEvery(100 * ms);
  EXPECT_EQ(timeOf(s.workload), 4 * 100 * ms + ms);
}

TEST(Engine, TheOnlyMicroBatchIsFirstAndLast) {
  Single s;
  uint32_t gather =
      s.party(s.micro(), "g", Stream::DataParallel, s.collective({0}, 10 * ms));
  s.micro().tasks[gather].when = When::FirstMicroBatch;
  uint32_t kernel = s.kernel(s.micro(), "k", ms, {gather});
  uint32_t reduce = s.party(s.micro(), "r", Stream::DataParallel,
                            s.collective({0}, 20 * ms), {kernel});
  s.micro().tasks[reduce].when = When::LastMicroBatch;
  EXPECT_EQ(timeOf(s.finish()), 31 * ms);
}

TEST(Engine, LastMicroBatchCollectivesMeetWhateverTheOrder) {
  Builder b;
  b.workload.info.microBatches = 2;
  b.collective({0, 1}, ms);
  for (bool reversed : {false, true}) {
    DeviceClass &device = b.addClass("rank");
    uint32_t reduce = b.party(device.micro, "r", Stream::DataParallel, 0);
    device.micro.tasks[reduce].when = When::LastMicroBatch;
    Builder::endSection(device.micro);
    device.order = {{0, reversed, false}, {0, !reversed, false}};
  }
  EXPECT_EQ(timeOf(b.workload), ms);
}

TEST(Engine, OnceTasksWaitForTheLastInstanceInTheOrder) {
  Single s;
  s.workload.info.microBatches = 2;
  s.kernel(s.micro(), "k", ms);
  Task &copy = s.device.once.tasks.emplace_back();
  copy.label = s.label("copy");
  copy.stream = Stream::DeviceToHost;
  copy.duration = 4 * ms;
  Builder::endSection(s.device.once);
  s.device.onceDependsOn = {{0, 0}};
  // The update is issued first, but waits for micro-batch 0, which runs last.
  s.device.order = {{0, 0, true}, {0, 1, false}, {0, 0, false}};
  EXPECT_EQ(timeOf(s.finish()), 6 * ms);
}

TEST(Engine, BackwardMayDependOnForwardOfItsMicroBatch) {
  PipelineOptions options;
  options.stages = 1;
  options.microBatches = 3;
  Builder b = pipeline(options);
  // The backward pass is on another stream, so that only the dependency orders
  // it.
  b.workload.classes[0].micro.tasks[1].stream = Stream::DeviceToHost;
  EXPECT_EQ(timeOf(b.workload), (1 + 3 * 2) * ms);
}

TEST(Engine, ZeroDurationsAreFine) {
  Single s;
  uint32_t previous = s.kernel(s.micro(), "k", 0);
  for (int i = 0; i < 10; ++i)
    previous = s.kernel(s.micro(), "k", 0, {previous});
  SimulationResult result = simulateOrFail(s.finish());
  EXPECT_EQ(result.run.iterationTime, 0);
  EXPECT_EQ(result.run.tasks, 11u);
}

TEST(Engine, DataParallelWeakScalingIsFlatOnAnInfiniteNetwork) {
  for (int64_t ranks : {1, 8, 1024, 65536}) {
    Single s;
    uint32_t kernel = s.kernel(s.micro(), "k", 3 * ms);
    s.party(s.micro(), "r", Stream::DataParallel, s.collective({0}, 0),
            {kernel});
    s.workload.collectives[0].groupSize = s.device.ranks = ranks;
    EXPECT_EQ(timeOf(s.finish()), 3 * ms);
  }
}

TEST(Engine, TimesThatCannotBeCountedAreRefused) {
  Single s;
  s.kernel(s.micro(), "k", std::numeric_limits<Time>::max());
  EXPECT_EQ(simulationError(s.finish()),
            "the step takes longer than the engine can count: more than 53 "
            "days");
}

/// Listener that records all events as text.
class Log : public Listener {
public:
  void onBegin(const Workload &w, llvm::ArrayRef<Time>) override {
    workload = &w;
  }
  void onTaskStart(const TaskInstance &task, Time now) override {
    note("+", task, now);
  }
  void onTaskEnd(const TaskInstance &task, Time now) override {
    note("-", task, now);
  }
  std::string text;

private:
  void note(const char *what, const TaskInstance &task, Time now) {
    text += what + workload->labels[task.in(*workload).label] +
            std::to_string(task.microBatch) + "@" + std::to_string(now / ms) +
            "r" + std::to_string(task.ready / ms) + " ";
  }
  const Workload *workload = nullptr;
};

TEST(Engine, SimultaneousEventsKeepTheOrderOfTheirCreation) {
  Single s;
  uint32_t a = s.kernel(s.micro(), "a", ms);
  uint32_t b =
      s.party(s.micro(), "b", Stream::TensorParallel, s.collective({0}, ms));
  s.kernel(s.micro(), "c", ms, {a, b});
  Log log;
  simulateOrFail(s.finish(), {&log});
  EXPECT_EQ(log.text, "+a0@0r0 +b0@0r0 -a0@1r0 -b0@1r0 +c0@1r1 -c0@2r1 ");
}

TEST(Engine, AFrameForgetsTheMicroBatchBefore) {
  Single s;
  s.workload.info.microBatches = 2;
  uint32_t reduce =
      s.party(s.micro(), "r", Stream::DataParallel, s.collective({0}, ms));
  s.micro().tasks[reduce].when = When::LastMicroBatch;
  Builder::endSection(s.micro());
  s.kernel(s.micro(), "k", ms, {reduce});
  // The reduction belongs to micro-batch 0. Micro-batch 1 reuses its frame, and
  // the kernel there waits for no task.
  s.device.order = {{0, 1, false}, {0, 0, false}, {1, 0, false}, {1, 1, false}};
  Log log;
  simulateOrFail(s.finish(), {&log});
  EXPECT_EQ(log.text, "+r0@0r0 -r0@1r0 +k0@1r1 -k0@2r1 +k1@2r0 -k1@3r0 ");
}

//===----------------------------------------------------------------------===//
// Deadlocks
//===----------------------------------------------------------------------===//

TEST(Deadlock, CollectivesInOppositeOrderNameTheCycle) {
  Builder b;
  b.collective({0, 1}, ms);
  b.collective({0, 1}, ms);
  for (int rank = 0; rank < 2; ++rank) {
    DeviceClass &device = b.addClass(rank == 0 ? "left" : "right");
    b.party(device.micro, rank == 0 ? "a" : "b", Stream::DataParallel, rank);
    b.party(device.micro, rank == 0 ? "b" : "a", Stream::DataParallel,
            1 - rank);
    Builder::endSection(device.micro);
    device.order = {{0, 0, false}};
  }
  EXPECT_EQ(simulationError(b.workload),
            "deadlock: no task can proceed after 0.000000 ms; the waiting "
            "cycle is:\n"
            "  'a' of class 'left' (micro-batch 0) waits for 'a' of class "
            "'right', which is queued after 'b' of class 'right' (micro-batch "
            "0)\n"
            "  'b' of class 'right' (micro-batch 0) waits for 'b' of class "
            "'left', which is queued after 'a' of class 'left' (micro-batch "
            "0)");
}

TEST(Deadlock, ACycleOverStreamsOfOneClassIsFound) {
  Single s;
  uint32_t first = s.kernel(s.micro(), "first", ms);
  uint32_t second = s.party(s.micro(), "second", Stream::DataParallel,
                            s.collective({0}, 1), {first});
  s.micro().tasks[first].dependsOn = {second};
  EXPECT_EQ(simulationError(s.finish()),
            "deadlock: no task can proceed after 0.000000 ms; the waiting "
            "cycle is:\n"
            "  'first' of class 'only' (micro-batch 0) waits for 'second' of "
            "class 'only' (micro-batch 0)\n"
            "  'second' of class 'only' (micro-batch 0) waits for 'first' of "
            "class 'only' (micro-batch 0)");
}

TEST(Deadlock, AHostThatWaitsIsNamed) {
  // Each stage launches its send after the message that it waits for.
  Builder b;
  for (uint32_t c : {0, 1}) {
    b.collective({0, 1}, 0, cost::CollectiveKind::SendRecv);
    b.addClass(c ? "right" : "left");
  }
  for (uint32_t c : {0, 1}) {
    DeviceClass &device = b.workload.classes[c];
    device.hostWaits = true;
    b.party(device.micro, "receive", Stream::PipelineReceive, c);
    b.party(device.micro, "send", Stream::PipelineSend, 1 - c);
    Builder::endSection(device.micro);
    device.order = {{0, 0, false}};
  }
  EXPECT_EQ(
      simulationError(b.workload),
      "deadlock: no task can proceed after 0.000000 ms; the waiting "
      "cycle is:\n"
      "  'send' of class 'left' (micro-batch 0) waits for the host, which "
      "waits for 'receive' of class 'left' (micro-batch 0)\n"
      "  'receive' of class 'left' (micro-batch 0) waits for 'send' of "
      "class 'right' (micro-batch 0)\n"
      "  'send' of class 'right' (micro-batch 0) waits for the host, "
      "which waits for 'receive' of class 'right' (micro-batch 0)\n"
      "  'receive' of class 'right' (micro-batch 0) waits for 'send' of "
      "class 'left' (micro-batch 0)");
}

TEST(Deadlock, ThoseBehindTheCycleAreListed) {
  PipelineOptions options;
  options.stages = 3;
  options.microBatches = 2;
  Builder b = pipeline(options);
  // Stage 1 needs gradients before it has sent activations.
  b.workload.classes[1].order = {
      {1, 0, false}, {0, 0, false}, {0, 1, false}, {1, 1, false}};
  b.workload.classes[1].micro.tasks[3].dependsOn = {2};
  b.workload.classes[1].micro.tasks[4].dependsOn = {3};
  std::string error = simulationError(b.workload);
  EXPECT_NE(error.find("the waiting cycle is:"), std::string::npos) << error;
  EXPECT_NE(error.find("also blocked:"), std::string::npos) << error;
  EXPECT_NE(error.find("'receive gradient' of class 'stage 1'"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("'receive activation' of class 'stage 2'"),
            std::string::npos)
      << error;
}

} // namespace
