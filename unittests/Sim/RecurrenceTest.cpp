//===- RecurrenceTest.cpp - recurrence changes no figure ------------------===//
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

EngineOptions optionsOf(bool skip, bool share = true, bool overlap = true) {
  return {share, overlap, skip, /*replaySections=*/false};
}

/// Compares runs with and without recurrence. Returns the number of tasks that
/// were skipped.
uint64_t expectSame(const Workload &workload, bool share = true,
                    bool overlap = true) {
  SimulationResult all =
      simulateOrFail(workload, {}, optionsOf(false, share, overlap));
  SimulationResult skipped =
      simulateOrFail(workload, {}, optionsOf(true, share, overlap));
  EXPECT_EQ(all.run.skippedTasks, 0u);
  EXPECT_EQ(textOf(workload, all), textOf(workload, skipped));
  // Without listeners, less state must recur.
  Expected<RunResult> alone = run(workload, optionsOf(true, share, overlap));
  EXPECT_TRUE(bool(alone));
  if (alone) {
    EXPECT_EQ(alone->iterationTime, all.run.iterationTime);
    EXPECT_EQ(alone->tasks, all.run.tasks);
  }
  return skipped.run.skippedTasks;
}

TEST(Recurrence, SkippingChangesNoFigureOfARandomPipeline) {
  unsigned skipping[4] = {}, runs[4] = {};
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    PipelineGenerator generator(seed);
    Workload workload = generator.make();
    unsigned order = static_cast<unsigned>(generator.order);
    ++runs[order];
    skipping[order] += expectSame(workload) > 0;
    expectSame(workload, /*share=*/false, /*overlap=*/false);
    if (HasFailure())
      break;
  }
  // The test is useful only if the pipelines reach steady states.
  using Order = PipelineGenerator::Order;
  for (Order order :
       {Order::Sequential, Order::OneForwardOneBackward, Order::Interleaved})
    // The bound is low, because the allocator's blocks take longer than the
    // streams to reach a steady state.
    EXPECT_GT(8 * skipping[unsigned(order)], runs[unsigned(order)])
        << unsigned(order);
}

TEST(Recurrence, SkippingChangesNoFigureOfARandomWorkload) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    expectSame(Generator(seed).make());
  }
}

TEST(Recurrence, ALongPipelineCostsWhatAShortOneDoes) {
  PipelineOptions options;
  options.schedule = Schedule::OneForwardOneBackward;
  options.transfer = ms / 8;
  options.update = ms;
  uint64_t events = 0;
  for (uint32_t microBatches : {64u, 1024u, 16384u}) {
    options.microBatches = microBatches;
    Workload workload = pipeline(options).workload;
    SimulationResult skipped = simulateOrFail(workload);
    SimulationResult all = simulateOrFail(workload, {}, optionsOf(false));
    EXPECT_EQ(textOf(workload, all), textOf(workload, skipped));
    EXPECT_LT(2 * skipped.run.events, all.run.events);
    EXPECT_EQ(all.run.tasks, skipped.run.tasks);
    if (events)
      EXPECT_EQ(skipped.run.events, events);
    events = skipped.run.events;
  }
}

TEST(Recurrence, AGradientThatIsReducedAtTheEndDoesNotPreventIt) {
  PipelineOptions options;
  options.schedule = Schedule::OneForwardOneBackward;
  options.microBatches = 64;
  Builder b = pipeline(options);
  for (uint32_t s = 0; s < options.stages; ++s) {
    Template &micro = b.workload.classes[s].micro;
    uint32_t reduce = b.party(micro, "reduce", Stream::DataParallel,
                              b.collective({s}, 7 * ms), {});
    micro.tasks[reduce].when = When::LastMicroBatch;
    ++micro.sectionBegin.back();
  }
  EXPECT_GT(expectSame(b.workload), 40u * 4 * 2);
}

TEST(Recurrence, AHostThatIsBehindIsSkippedInStepOrNotAtAll) {
  PipelineOptions options;
  options.schedule = Schedule::OneForwardOneBackward;
  options.microBatches = 64;
  Builder b = pipeline(options);
  // The host is the limit: a period takes the time of its launches.
  b.launchEvery(2 * ms);
  EXPECT_GT(expectSame(b.workload), 0u);
  // A host that slowly becomes the limit: first the kernels are.
  for (Time latency : {ms / 2, ms / 2 + 1, 3 * ms / 4, 3 * ms / 4 + 1, ms}) {
    b.launchEvery(latency);
    expectSame(b.workload);
    b.workload.classes[1].launchLatency = latency + ms / 100;
    expectSame(b.workload);
  }
}

TEST(Recurrence, AHostThatWaitsForMessagesIsSkipped) {
  PipelineOptions options;
  options.schedule = Schedule::OneForwardOneBackward;
  options.microBatches = 64;
  options.transfer = ms / 8;
  Builder b = pipeline(options);
  for (Time latency : {ms / 100, ms / 2, 3 * ms / 4 + 1, 3 * ms}) {
    b.launchEvery(latency);
    // Either all hosts wait, or some, whose neighbours launch ahead.
    for (bool all : {true, false}) {
      for (uint32_t s = 0; s < options.stages; ++s)
        b.workload.classes[s].hostWaits = all || s % 2;
      uint64_t skipped = expectSame(b.workload);
      if (all)
        EXPECT_GT(skipped, 0u) << latency;
    }
  }
}

TEST(Recurrence, LargeStatesAreComparedOnSuspicionOnly) {
  PipelineOptions options;
  options.schedule = Schedule::OneForwardOneBackward;
  options.transfer = ms / 8;
  options.microBatches = 64;
  Builder b = pipeline(options);
  // Counters of buffers belong to the state.
  b.workload.classes[0].micro.buffers.resize(100000);
  EXPECT_GT(expectSame(b.workload), 40u * 4 * 2);
}

TEST(Recurrence, AnIrregularOrderIsSimulated) {
  PipelineOptions options;
  options.stages = 1;
  options.microBatches = 64;
  options.schedule = Schedule::OneForwardOneBackward;
  Builder b = pipeline(options);
  // Two forward passes, then two backward passes, in the middle of the steady
  // state.
  std::vector<WorkItem> &order = b.workload.classes[0].order;
  std::swap(order[61], order[62]);
  EXPECT_GT(expectSame(b.workload), 0u);
}

/// Listener that needs every event, so that the engine may skip none.
struct Counter : Listener {
  void onTaskEnd(const TaskInstance &, Time) override { ++tasks; }
  uint64_t tasks = 0;
};

TEST(Recurrence, AListenerThatNeedsEveryEventGetsIt) {
  PipelineOptions options;
  options.schedule = Schedule::OneForwardOneBackward;
  options.microBatches = 64;
  Counter counter;
  SimulationResult result =
      simulateOrFail(pipeline(options).workload, {&counter});
  EXPECT_EQ(counter.tasks, result.run.tasks);
  EXPECT_EQ(result.run.skippedTasks, 0u);
}

} // namespace
