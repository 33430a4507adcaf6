//===- ReportTest.cpp - reports as JSON and as text -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Report.h"
#include "Proteus/Sim/Summary.h"
#include "Proteus/Support/JSON.h"
#include "TestWorkloads.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

Workload job() {
  PipelineOptions options;
  options.stages = 2;
  options.microBatches = 4;
  options.update = ms;
  options.transfer = ms / 4;
  options.activationBytes = 100000000;
  Workload workload = pipeline(options).workload;
  workload.info.model = "toy";
  workload.info.strategy = "pp2";
  workload.info.globalBatch = 32;
  workload.info.tokensPerSample = 1000;
  workload.info.modelFlops = 6e9;
  workload.info.modelFlopsFullSquare = 7e9;
  workload.info.executedFlops = 8e9;
  workload.cluster.devices[0].memoryBytes = 1000000000;
  workload.classes[0].resident = {
      {"weights", 200000000, MemoryOwner::Parameters}};
  return workload;
}

std::string reportOf(const Workload &workload) {
  std::string text;
  raw_string_ostream os(text);
  writeReport(os, workload, simulateOrFail(workload));
  return text;
}

std::string summaryOf(const Workload &workload) {
  std::string text;
  raw_string_ostream os(text);
  printSummary(os, workload, simulateOrFail(workload));
  return text;
}

TEST(FiguresOf, FollowTheirConventions) {
  Workload workload = job();
  SimulationResult result = simulateOrFail(workload);
  Figures figures = figuresOf(workload, result);
  double seconds = cost::toSeconds(result.run.iterationTime);
  EXPECT_EQ(figures.iterationSeconds, seconds);
  EXPECT_DOUBLE_EQ(*figures.samplesPerSecond, 32 / seconds);
  EXPECT_DOUBLE_EQ(*figures.tokensPerSecond, 32000 / seconds);
  EXPECT_DOUBLE_EQ(*figures.tokensPerSecondPerDevice, 16000 / seconds);
  EXPECT_DOUBLE_EQ(*figures.mfu, 6e9 / (1e12 * 2 * seconds));
  EXPECT_DOUBLE_EQ(*figures.mfuFullSquare, 7e9 / (1e12 * 2 * seconds));
  EXPECT_DOUBLE_EQ(*figures.hfu, 8e9 / (1e12 * 2 * seconds));
  EXPECT_EQ(figures.peakMemoryBytes, 600000000);
  EXPECT_EQ(figures.peakReservedBytes, 603979776);
  EXPECT_TRUE(figures.memory.fits());
}

TEST(FiguresOf, AreAbsentWhereTheyHaveNoMeaning) {
  Workload workload = job();
  workload.info.tokensPerSample = 0;
  workload.info.modelFlops = 0;
  Figures figures = figuresOf(workload, simulateOrFail(workload));
  EXPECT_FALSE(figures.tokensPerSecond);
  EXPECT_FALSE(figures.tokensPerSecondPerDevice);
  EXPECT_FALSE(figures.mfu);
  std::string report = reportOf(workload);
  EXPECT_NE(report.find("\"tokens_per_s\": null"), std::string::npos);
  EXPECT_NE(report.find("\"mfu\": null"), std::string::npos);
}

TEST(FiguresOf, TheSlowestClassIsTheOneThatComputesMost) {
  Workload workload = job();
  workload.classes[1].micro.tasks[1].duration += 1;
  SimulationResult result = simulateOrFail(workload);
  EXPECT_EQ(result.slowestClass(), 1u);
  EXPECT_EQ(result.largestClass(), 0u);
}

TEST(Report, HoldsTheContract) {
  Workload workload = job();
  std::string text = reportOf(workload);
  Expected<json::Document> document = json::Document::parse(text, "report");
  ASSERT_TRUE(bool(document)) << toString(document.takeError());
  json::Reader root = document->root();
  EXPECT_EQ(root["schema"].string(), "proteus-report/1");
  for (const char *key :
       {"iteration_time_s", "samples_per_s", "tokens_per_s",
        "tokens_per_s_per_device", "mfu", "mfu_full_square", "hfu"})
    root[key].positive(1e9);
  EXPECT_EQ(root["devices"].integer(1, 9), 2);
  EXPECT_EQ(root["simulated_devices"].integer(1, 9), 2);
  EXPECT_EQ(root["peak_memory_bytes"].integer(0, INT64_MAX), 600000000);
  // The size of a block is a multiple of 2 MiB.
  EXPECT_EQ(root["peak_reserved_memory_bytes"].integer(0, INT64_MAX),
            (96 + 4 * 48) * (2 << 20));
  json::Reader memory = root["memory"];
  EXPECT_EQ(memory["class"].string(), "stage 0");
  EXPECT_EQ(memory["label"].string(), "forward");
  EXPECT_EQ(memory["micro_batches_in_flight"].integer(0, 9), 4);
  EXPECT_EQ(memory["allocated_bytes"].integer(0, INT64_MAX), 600000000);
  EXPECT_EQ(memory["reserved_bytes"].integer(0, INT64_MAX), 603979776);
  EXPECT_EQ(memory["needed_bytes"].integer(0, INT64_MAX), 603979776);
  EXPECT_TRUE(memory["fits"].boolean());
  EXPECT_EQ(memory["knobs"].elements().size(), 0u);
  EXPECT_TRUE(root["fits"].boolean());
  EXPECT_EQ(root["tasks"].integer(0, INT64_MAX), 34);
  EXPECT_GE(root["events"].integer(0, INT64_MAX), 26);

  double sum = 0;
  for (const auto &[name, part] : root["breakdown"].members())
    sum += part.nonNegative(1);
  EXPECT_NEAR(sum, root["iteration_time_s"].positive(1), 1e-15);

  ASSERT_EQ(root["stages"].elements().size(), 2u);
  for (const json::Reader &stage : root["stages"].elements()) {
    stage["peak_memory_bytes"].integer(1, INT64_MAX);
    stage["busy_s"].positive(1);
    stage["bubble_s"].nonNegative(1);
    stage["breakdown"]["exposed_communication"].nonNegative(1);
    stage["stream_busy_s"]["compute"].positive(1);
    EXPECT_EQ(stage["compute_by_op"].elements()[0]["op"].string(), "kernel");
  }
  ASSERT_EQ(root["collectives"].elements().size(), 1u);
  json::Reader transfer = root["collectives"].elements()[0];
  EXPECT_EQ(transfer["kind"].string(), "send_recv");
  EXPECT_EQ(transfer["group_size"].integer(1, 9), 2);
  EXPECT_EQ(transfer["count"].integer(1, 99), 8);
  EXPECT_EQ(transfer["bytes"].integer(1, INT64_MAX), ms / 4);
  EXPECT_DOUBLE_EQ(transfer["time_s"].positive(1), 8 * 0.25e-3);
  EXPECT_EQ(root["buckets"].elements().size(), 0u);
  EXPECT_TRUE(root["uncertainty"].has("low_s"));
  root["uncertainty"]["note"].nonEmptyString();
  EXPECT_EQ(toString(document->takeError()), "");
}

TEST(Summary, SaysWhatAPersonWantsToKnow) {
  std::string text = summaryOf(job());
  for (const char *piece :
       {"iteration time (ms)       16.500", "throughput (samples/s)    1939.39",
        "throughput (tokens/s)     1939394 (per device: 969697.0)",
        "devices                   2 (simulated: 2)", "MFU (%)",
        "time of the slowest device (stage 0)",
        "compute                       12.000", "stages",
        "peak memory (stage 0",
        "parameters                      0.20       33.1",
        "fits: 0.6 of 1.0 GB", "send_recv", "size (MB)"})
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n" << text;
}

TEST(Summary, SaysWhyItDoesNotFit) {
  Workload workload = job();
  workload.cluster.devices[0].memoryBytes = 500000000;
  std::string text = summaryOf(workload);
  EXPECT_NE(text.find("does not fit: 0.6 of 0.5 GB, 0.1 GB too much at "
                      "'forward' in stage 0; biggest owners: activations 0.4 "
                      "GB, parameters 0.2 GB"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("micro-batches in flight: 1 instead of 4"),
            std::string::npos)
      << text;
}

} // namespace
