//===- ListenersTest.cpp - measurements of listeners ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/ChromeTrace.h"
#include "Proteus/Support/JSON.h"
#include "TestWorkloads.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

//===----------------------------------------------------------------------===//
// Gradient buckets
//===----------------------------------------------------------------------===//

/// Returns one rank whose backward kernels take `backward`. Bucket i holds the
/// gradients of kernels up to `lastKernel[i]` and takes `reduce[i]`.
Workload buckets(const std::vector<Time> &backward,
                 const std::vector<uint32_t> &lastKernel,
                 const std::vector<Time> &reduce) {
  Builder b;
  DeviceClass &device = b.addClass("rank");
  for (Time duration : backward)
    b.kernel(device.micro, "backward", duration, {}, Phase::Backward);
  for (size_t i = 0; i < reduce.size(); ++i) {
    uint32_t task =
        b.party(device.micro, "reduce", Stream::DataParallel,
                b.collective({0}, reduce[i]), {lastKernel[i]}, Phase::Backward);
    device.micro.tasks[task].bucket = i;
    b.workload.buckets.push_back({"bucket " + std::to_string(i), reduce[i]});
  }
  Builder::endSection(device.micro);
  device.order = {{0, 0, false}};
  return b.workload;
}

TEST(Buckets, ReductionsOverlapTheBackwardPass) {
  // b = (1, 2, 3) ms, c = (1, 1.5, 2) ms.
  SimulationResult result = simulateOrFail(
      buckets({ms, 2 * ms, 3 * ms}, {0, 1, 2}, {ms, 3 * ms / 2, 2 * ms}));
  ASSERT_EQ(result.buckets.size(), 3u);
  EXPECT_EQ(result.buckets[0].start, 1 * ms);
  EXPECT_EQ(result.buckets[1].start, 3 * ms);
  EXPECT_EQ(result.buckets[2].start, 6 * ms);
  EXPECT_EQ(result.buckets[2].end, 8 * ms);
  EXPECT_EQ(result.run.iterationTime, 8 * ms);
  EXPECT_EQ(result.classes[0].exposedReduction, 2 * ms);
  EXPECT_EQ(result.classes[0].breakdown.exposedCommunication, 2 * ms);
}

TEST(Buckets, ReadyIsToldFromStart) {
  SimulationResult result =
      simulateOrFail(buckets({ms, ms}, {0, 1}, {5 * ms, ms}));
  EXPECT_EQ(result.buckets[1].ready, 2 * ms);
  EXPECT_EQ(result.buckets[1].start, 6 * ms);
}

TEST(Buckets, FusingCanLose) {
  // The gradients are ready at 4 and 9 ms; their reductions take 3 ms each, or
  // 4 ms fused.
  EXPECT_EQ(simulateOrFail(buckets({4 * ms, 5 * ms}, {0, 1}, {3 * ms, 3 * ms}))
                .run.iterationTime,
            12 * ms);
  EXPECT_EQ(simulateOrFail(buckets({4 * ms, 5 * ms}, {1}, {4 * ms}))
                .run.iterationTime,
            13 * ms);
}

TEST(Buckets, HiddenReductionsAreNotExposed) {
  SimulationResult result =
      simulateOrFail(buckets({ms, 5 * ms}, {0}, {2 * ms}));
  EXPECT_EQ(result.classes[0].exposedReduction, 0);
  EXPECT_EQ(result.classes[0].breakdown.exposedCommunication, 0);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct MemoryCase : Builder {
  MemoryCase() : device(addClass("rank")) {
    device.order = {{0, 0, false}};
    device.resident = {{"weights", 100, MemoryOwner::Parameters},
                       {"moments", 200, MemoryOwner::OptimizerState}};
    device.micro.buffers = {{"a", 10, MemoryOwner::Activations},
                            {"b", 20, MemoryOwner::Temporaries}};
  }
  MemoryPeak peak() {
    endSection(device.micro);
    return simulateOrFail(workload).classes[0].memory;
  }
  DeviceClass &device;
};

TEST(Memory, WithoutAllocationsThePeakIsWhatIsResident) {
  MemoryCase c;
  MemoryPeak peak = c.peak();
  EXPECT_EQ(peak.bytes, 300);
  EXPECT_EQ(peak.label, "");
  EXPECT_EQ(peak.time, 0);
}

TEST(Memory, ThePeakNamesItsOwnersItsTimeAndItsTask) {
  MemoryCase c;
  uint32_t first = c.kernel(c.device.micro, "first", ms);
  uint32_t second = c.kernel(c.device.micro, "second", ms, {first});
  c.device.micro.tasks[first].allocates = {0};
  c.device.micro.tasks[second].allocates = {1};
  c.device.micro.tasks[second].reads = {0};
  MemoryPeak peak = c.peak();
  EXPECT_EQ(peak.bytes, 330);
  EXPECT_EQ(peak.time, ms);
  EXPECT_EQ(peak.label, "second");
  EXPECT_EQ(peak.byOwner, (BytesByOwner{100, 0, 200, 0, 10, 20, 0, 0}));
}

TEST(Memory, ABufferOfTheHostDoesNotNameThePeakOfTheDevice) {
  MemoryCase c;
  c.device.micro.buffers[1].onHost = true;
  uint32_t first = c.kernel(c.device.micro, "first", ms);
  uint32_t second = c.kernel(c.device.micro, "second", 0);
  c.device.micro.tasks[first].allocates = {0};
  c.device.micro.tasks[second].stream = Stream::DeviceToHost;
  c.device.micro.tasks[second].allocates = {1};
  MemoryPeak peak = c.peak();
  EXPECT_EQ(peak.bytes, 310);
  EXPECT_EQ(peak.hostBytes, 20);
  EXPECT_EQ(peak.time, 0);
  EXPECT_EQ(peak.label, "first");
}

TEST(Memory, AFreeComesBeforeAnAllocationAtTheSameTime) {
  MemoryCase c;
  uint32_t first = c.kernel(c.device.micro, "first", ms);
  uint32_t second = c.kernel(c.device.micro, "second", ms, {first});
  // No task reads buffer 0, so its producer frees it when the second kernel
  // starts.
  c.device.micro.tasks[first].allocates = {0};
  c.device.micro.tasks[second].allocates = {1};
  EXPECT_EQ(c.peak().bytes, 320);
}

TEST(Memory, AFreeOnAnotherStreamComesFirstToo) {
  MemoryCase c;
  // The copy, which is issued later, ends when the second kernel starts.
  c.kernel(c.device.micro, "first", ms);
  uint32_t second = c.kernel(c.device.micro, "second", ms);
  uint32_t copy = c.kernel(c.device.micro, "copy", ms);
  c.device.micro.tasks[copy].stream = Stream::DeviceToHost;
  c.device.micro.tasks[copy].allocates = {0};
  c.device.micro.tasks[second].allocates = {1};
  EXPECT_EQ(c.peak().bytes, 320);
}

TEST(Memory, BuffersOfSkippedTasksDoNotExist) {
  MemoryCase c;
  c.workload.info.microBatches = 3;
  c.device.order = {{0, 0, false}, {0, 1, false}, {0, 2, false}};
  uint32_t first = c.kernel(c.device.micro, "first", ms);
  uint32_t reduce = c.party(c.device.micro, "reduce", Stream::DataParallel,
                            c.collective({0}, ms), {first});
  uint32_t after = c.kernel(c.device.micro, "after", ms, {reduce});
  c.device.micro.tasks[first].allocates = {0};
  c.device.micro.tasks[reduce].when = When::LastMicroBatch;
  c.device.micro.tasks[reduce].reads = {0};
  c.device.micro.tasks[reduce].allocates = {1};
  c.device.micro.tasks[after].reads = {1};
  // Buffer 0 lives only until the end of `first`, except in the last
  // micro-batch, so at most one copy of each buffer exists.
  EXPECT_EQ(c.peak().bytes, 330);
}

//===----------------------------------------------------------------------===//
// Breakdown
//===----------------------------------------------------------------------===//

TEST(BreakdownOf, PhasesAndIdleTimesAreToldApart) {
  Builder b;
  DeviceClass &device = b.addClass("rank");
  Template &micro = device.micro;
  uint32_t forward = b.kernel(micro, "forward", 4 * ms);
  uint32_t gather = b.party(micro, "gather", Stream::TensorParallel,
                            b.collective({0}, 5 * ms), {forward});
  uint32_t again = b.kernel(micro, "again", 2 * ms, {gather}, Phase::Recompute);
  uint32_t inlined = b.party(micro, "inline", Stream::Compute,
                             b.collective({0}, 7 * ms), {again});
  b.kernel(micro, "update", ms, {inlined}, Phase::Update);
  b.workload.classes[0].micro.tasks[forward].opKind = b.label("nn.linear");
  Builder::endSection(micro);
  device.order = {{0, 0, false}};
  SimulationResult result = simulateOrFail(b.workload);
  const ClassResult &rank = result.classes[0];
  EXPECT_EQ(rank.breakdown.compute, 4 * ms);
  EXPECT_EQ(rank.breakdown.recompute, 2 * ms);
  EXPECT_EQ(rank.breakdown.optimizer, 1 * ms);
  EXPECT_EQ(rank.breakdown.exposedCommunication, 12 * ms);
  EXPECT_EQ(rank.breakdown.bubble, 0);
  EXPECT_EQ(rank.breakdown.total(), result.run.iterationTime);
  EXPECT_EQ(rank.streamBusy[unsigned(Stream::Compute)], 14 * ms);
  EXPECT_EQ(rank.streamBusy[unsigned(Stream::TensorParallel)], 5 * ms);
  ASSERT_EQ(rank.computeByOperation.size(), 2u);
  EXPECT_EQ(rank.computeByOperation[0].second, 4 * ms);
  EXPECT_EQ(b.workload.labels[rank.computeByOperation[0].first], "nn.linear");
  EXPECT_EQ(rank.computeByOperation[1].second, 3 * ms);
}

TEST(BreakdownOf, AReadyKernelThatIsNotLaunchedIsTheHosts) {
  Builder b;
  DeviceClass &device = b.addClass("rank");
  b.launchEvery(2 * ms);
  // Launches at 2, 4 and 6 ms. The reduction runs from 4 to 5 ms. The second
  // kernel is ready at 5 ms and launched at 6 ms.
  uint32_t first = b.kernel(device.micro, "first", ms);
  uint32_t reduce = b.party(device.micro, "reduce", Stream::TensorParallel,
                            b.collective({0}, ms), {first});
  b.kernel(device.micro, "second", ms, {reduce});
  Builder::endSection(device.micro);
  device.order = {{0, 0, false}};
  const Breakdown parts = simulateOrFail(b.workload).classes[0].breakdown;
  EXPECT_EQ(parts.host, 2 * ms + ms);
  EXPECT_EQ(parts.exposedCommunication, ms);
  EXPECT_EQ(parts.bubble, ms); // from 3 to 4 ms, before the launch of the
                               // reduction
  EXPECT_EQ(parts.total(), 7 * ms);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

TEST(Collectives, EqualOnesShareARowAndGroupsMultiplyTheCount) {
  PipelineOptions options;
  options.stages = 3;
  options.transfer = 4 * ms;
  Builder b = pipeline(options);
  for (Collective &collective : b.workload.collectives) {
    collective.axes = "pp";
    collective.groups = 16;
  }
  SimulationResult result = simulateOrFail(b.workload);
  ASSERT_EQ(result.collectives.size(), 1u);
  const CollectiveRow &row = result.collectives[0];
  EXPECT_EQ(row.kind, cost::CollectiveKind::SendRecv);
  EXPECT_EQ(row.groupSize, 2);
  EXPECT_EQ(row.bytes, 4 * ms);
  EXPECT_EQ(row.count, 4 * 8 * 16);
  // The middle stage participates in all four transfers.
  EXPECT_EQ(row.countPerDevice, 4 * 8);
  EXPECT_EQ(row.time, 4 * 8 * 4 * ms);
}

//===----------------------------------------------------------------------===//
// Trace
//===----------------------------------------------------------------------===//

TEST(Trace, IsJSONWithAnEventPerTask) {
  PipelineOptions options;
  options.stages = 2;
  options.microBatches = 3;
  options.forward = 1234567;
  Builder b = pipeline(options);
  b.workload.classes[0].name = "stage \"0\"";
  std::string text;
  raw_string_ostream os(text);
  ChromeTrace trace(os);
  SimulationResult result = simulateOrFail(b.workload, {&trace});

  Expected<json::Document> document = json::Document::parse(text, "trace");
  ASSERT_TRUE(bool(document)) << toString(document.takeError());
  uint64_t complete = 0, counters = 0;
  double last = -1;
  for (const json::Reader &event : document->root()["traceEvents"].elements()) {
    std::string kind = event["ph"].string();
    complete += kind == "X";
    counters += kind == "C";
    if (kind == "C" && event["pid"].integer(0, 1) == 0)
      last = event["args"]["bytes"].nonNegative(100);
  }
  EXPECT_EQ(toString(document->takeError()), "");
  EXPECT_EQ(complete, result.run.tasks);
  EXPECT_GT(counters, 0u);
  EXPECT_EQ(last, 0);
  EXPECT_NE(text.find("\"ts\":0.000000,\"dur\":1.234567,\"name\":\"forward\""),
            std::string::npos)
      << text;
}

} // namespace
