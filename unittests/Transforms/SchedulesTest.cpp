//===- SchedulesTest.cpp - closed forms of the built-in schedules ---------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the orders of the built-in schedules in the engine, on pipelines of
// equal stages without communication costs. The bubble and the memory have
// closed forms.
//
//===----------------------------------------------------------------------===//

#include "../Sim/TestWorkloads.h"

#include "Proteus/Transforms/Common/Schedules.h"

#include "llvm/ADT/STLExtras.h"

using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;
using dist::SectionKind;
using dist::Work;
using llvm::StringRef;

namespace {

/// Times of one stage for one micro-batch, summed over its chunks.
struct Times {
  Time forward = 6 * ms;
  /// Time of the whole backward pass, or of the input gradients that another
  /// stage waits for.
  Time backward = 12 * ms;
  Time weight = 0;
};

/// Returns all work of a stage in the order of the schedule.
std::vector<Work> orderOf(const PipelineSchedule &schedule,
                          const StageShape &shape) {
  std::vector<Work> order;
  for (int64_t chunk = 0; chunk < shape.chunks; ++chunk)
    for (int64_t micro = 0; micro < shape.microBatches; ++micro) {
      order.push_back({SectionKind::Forward, chunk, micro});
      if (!schedule.splitsGradients()) {
        order.push_back({SectionKind::Backward, chunk, micro});
        continue;
      }
      order.push_back({SectionKind::InputGradient, chunk, micro});
      order.push_back({SectionKind::WeightGradient, chunk, micro});
    }
  llvm::sort(order, [&](const Work &a, const Work &b) {
    return schedule.isBefore(shape, a, b);
  });
  return order;
}

/// Returns a pipeline of equal virtual stages. Every (chunk, micro-batch) pair
/// holds one byte from its forward pass to its last gradient.
Workload pipelineOf(const PipelineSchedule &schedule, StageShape shape,
                    const Times &times) {
  Builder b;
  b.workload.info.microBatches = shape.microBatches;
  b.workload.info.devices = shape.stages;
  for (int64_t s = 0; s < shape.stages; ++s)
    b.addClass("stage " + std::to_string(s));
  int64_t last = shape.stages * shape.chunks - 1;
  // Message 2k sends an activation from virtual stage k to the next, message 2k
  // + 1 a gradient back.
  for (int64_t k = 0; k < last; ++k)
    for (int direction = 0; direction < 2; ++direction) {
      auto from = static_cast<uint32_t>(k % shape.stages);
      auto to = static_cast<uint32_t>((k + 1) % shape.stages);
      b.collective({std::min(from, to), std::max(from, to)}, 0,
                   cost::CollectiveKind::SendRecv);
    }
  bool split = schedule.splitsGradients();
  for (int64_t s = 0; s < shape.stages; ++s) {
    DeviceClass &device = b.workload.classes[s];
    Template &micro = device.micro;
    std::vector<uint32_t> forwards;
    std::vector<std::pair<SectionKind, int64_t>> sections;
    for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
      int64_t k = chunk * shape.stages + s;
      std::vector<uint32_t> inputs;
      if (k > 0)
        inputs.push_back(
            b.party(micro, "receive", Stream::PipelineReceive, 2 * (k - 1)));
      forwards.push_back(
          b.kernel(micro, "forward", times.forward / shape.chunks, inputs));
      micro.buffers.push_back({"activation", 1});
      micro.tasks[forwards.back()].allocates = {static_cast<uint32_t>(chunk)};
      if (k < last)
        b.party(micro, "send", Stream::PipelineSend, 2 * k, {forwards.back()});
      Builder::endSection(micro);
      sections.push_back({SectionKind::Forward, chunk});
    }
    for (int64_t chunk = shape.chunks - 1; chunk >= 0; --chunk) {
      int64_t k = chunk * shape.stages + s;
      std::vector<uint32_t> inputs = {forwards[chunk]};
      if (k < last)
        inputs.push_back(b.party(micro, "receive gradient",
                                 Stream::PipelineReceiveGradient, 2 * k + 1, {},
                                 Phase::Backward));
      uint32_t gradient =
          b.kernel(micro, "backward", times.backward / shape.chunks, inputs,
                   Phase::Backward);
      micro.tasks[gradient].reads = {static_cast<uint32_t>(chunk)};
      if (k > 0)
        b.party(micro, "send gradient", Stream::PipelineSendGradient,
                2 * (k - 1) + 1, {gradient}, Phase::Backward);
      Builder::endSection(micro);
      sections.push_back(
          {split ? SectionKind::InputGradient : SectionKind::Backward, chunk});
      if (!split)
        continue;
      uint32_t weight = b.kernel(micro, "weight", times.weight / shape.chunks,
                                 {gradient}, Phase::Backward);
      micro.tasks[weight].reads = {static_cast<uint32_t>(chunk)};
      Builder::endSection(micro);
      sections.push_back({SectionKind::WeightGradient, chunk});
    }
    shape.stage = s;
    for (const Work &work : orderOf(schedule, shape)) {
      auto section = llvm::find(sections, std::pair(work.kind, work.chunk));
      device.order.push_back({static_cast<uint32_t>(section - sections.begin()),
                              static_cast<uint32_t>(*work.micro), false});
    }
  }
  return std::move(b.workload);
}

const PipelineSchedule &findSchedule(StringRef name) {
  return getSchedule(*plan::symbolizeScheduleOrder(name));
}

/// Runs the schedule and compares its bubble and its memory.
void expectBubble(StringRef name, const StageShape &shape, const Times &times,
                  Time bubble) {
  const PipelineSchedule &schedule = findSchedule(name);
  ASSERT_FALSE(schedule.whyNot(shape));
  SimulationResult result = simulateOrFail(pipelineOf(schedule, shape, times));
  Time work =
      shape.microBatches * (times.forward + times.backward + times.weight);
  EXPECT_EQ(result.run.iterationTime, work + bubble)
      << name.str() << " p=" << shape.stages << " v=" << shape.chunks
      << " m=" << shape.microBatches;
  for (int64_t s = 0; s < shape.stages; ++s) {
    StageShape own = shape;
    own.stage = s;
    EXPECT_EQ(result.classes[s].memory.bytes, schedule.getOngoing(own))
        << name.str() << " stage " << s << " of " << shape.stages;
  }
}

TEST(Schedules, OneForwardOneBackwardIdlesForStagesMinusOneMicroBatches) {
  for (int64_t p : {1, 2, 4, 7})
    for (int64_t m : {1, 2, 4, 8, 13})
      for (StringRef name : {"gpipe", "1f1b"})
        expectBubble(name, {0, p, 1, m}, Times(), (p - 1) * 18 * ms);
}

TEST(Schedules, InterleavingDividesTheBubbleByTheNumberOfChunks) {
  for (int64_t p : {2, 3, 4, 8})
    for (int64_t groups : {1, 2, 4})
      for (int64_t v : {2, 3, 4})
        expectBubble("interleaved", {0, p, v, groups * p}, Times(),
                     (p - 1) * 18 * ms / v);
  // One chunk per stage is the order 1f1b.
  EXPECT_TRUE(findSchedule("interleaved").whyNot({0, 4, 1, 8}));
}

TEST(Schedules, InterleavingHoldsWhatItsWarmUpHasStarted) {
  const PipelineSchedule &schedule = findSchedule("interleaved");
  // Two per following stage, all other chunks of a group, and the current one.
  EXPECT_EQ(schedule.getOngoing({0, 4, 2, 16}), 2 * 3 + 4 + 1);
  EXPECT_EQ(schedule.getOngoing({3, 4, 2, 16}), 4 + 1);
}

TEST(Schedules, ZeroBubbleLeavesForwardPlusInputGradientMinusWeightGradient) {
  Times equal{6 * ms, 6 * ms, 6 * ms};
  for (int64_t p : {2, 3, 4, 8})
    for (int64_t m : {p, 2 * p, 4 * p})
      expectBubble("zero-bubble", {0, p, 1, m}, equal, (p - 1) * 6 * ms);
}

TEST(Schedules, ZeroBubbleHoldsNoMoreThanTheFirstStageOf1F1B) {
  const PipelineSchedule &zeroBubble = findSchedule("zero-bubble");
  const PipelineSchedule &oneFOneB = findSchedule("1f1b");
  for (int64_t s = 0; s < 4; ++s)
    EXPECT_EQ(zeroBubble.getOngoing({s, 4, 1, 16}),
              oneFOneB.getOngoing({0, 4, 1, 16}));
}

TEST(Schedules, ALimitIsKept) {
  for (StringRef name : {"gpipe", "1f1b", "zero-bubble"})
    for (int64_t limit : {1, 2, 3}) {
      StageShape shape{0, 4, 1, 8, limit};
      const PipelineSchedule &schedule = findSchedule(name);
      SimulationResult result =
          simulateOrFail(pipelineOf(schedule, shape, {6 * ms, 6 * ms, 6 * ms}));
      for (const ClassResult &stage : result.classes)
        EXPECT_LE(stage.memory.bytes, limit) << name.str();
    }
}

TEST(Schedules, WhatDoesNotFitIsSaid) {
  EXPECT_TRUE(findSchedule("interleaved").whyNot({0, 4, 2, 6}));
  EXPECT_TRUE(findSchedule("interleaved").whyNot({0, 4, 2, 8, 4}));
  EXPECT_TRUE(findSchedule("zero-bubble").whyNot({0, 4, 2, 8}));
  EXPECT_TRUE(findSchedule("gpipe").whyNot({0, 4, 2, 8, 8}));
  EXPECT_FALSE(findSchedule("gpipe").whyNot({0, 4, 2, 6}));
}

} // namespace
