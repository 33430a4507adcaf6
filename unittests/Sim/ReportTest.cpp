//===- ReportTest.cpp - reports as JSON and as text -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Report.h"
#include "Proteus/Sim/Confidence.h"
#include "Proteus/Sim/MemoryReport.h"
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

TEST(FiguresOf, RelateTheFLOPsToTheBF16PeakInEveryType) {
  Workload workload = job();
  using machine::DType;
  workload.cluster.devices[0].peakFlops = {{DType::F32, 1e12},
                                           {DType::F8, 8e12},
                                           {DType::F16, 3e12},
                                           {DType::BF16, 4e12}};
  SimulationResult result = simulateOrFail(workload);
  double seconds = cost::toSeconds(result.run.iterationTime);
  for (DType type : {DType::F32, DType::BF16, DType::F8}) {
    workload.info.computeType = type;
    Figures figures = figuresOf(workload, result);
    EXPECT_DOUBLE_EQ(*figures.mfu, 6e9 / (4e12 * 2 * seconds));
    EXPECT_DOUBLE_EQ(*figures.hfu, 8e9 / (4e12 * 2 * seconds));
    EXPECT_DOUBLE_EQ(*figures.modelFlopsPerSecondPerDevice,
                     6e9 / (2 * seconds));
    EXPECT_EQ(figures.mfuFp8.has_value(), type == DType::F8);
  }
  EXPECT_DOUBLE_EQ(*figuresOf(workload, result).mfuFp8,
                   6e9 / (8e12 * 2 * seconds));
  EXPECT_NE(reportOf(workload).find("\"mfu_fp8\": 0.0"), std::string::npos);
  EXPECT_NE(summaryOf(workload).find("of dense fp8 peak"), std::string::npos);
  // A device without units for bf16: the peak of fp16, or else of fp32.
  workload.cluster.devices[0].peakFlops.pop_back();
  EXPECT_DOUBLE_EQ(*figuresOf(workload, result).mfu,
                   6e9 / (3e12 * 2 * seconds));
  workload.cluster.devices[0].peakFlops.pop_back();
  EXPECT_DOUBLE_EQ(*figuresOf(workload, result).mfu,
                   6e9 / (1e12 * 2 * seconds));
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
        "simulated devices         2 of 2", "MFU (%)",
        "time of the slowest device (stage 0)",
        "compute                       12.000", "stages",
        "peak memory (stage 0",
        "parameters                      0.20          0.19       33.1",
        "fits: 0.6 of 1.0 GB (0.6 of 0.9 GiB)", "send_recv", "size (MB)"})
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n" << text;
}

TEST(Summary, BeginsWithTheVerdictAndTheFiguresThatPeopleQuote) {
  Workload workload = job();
  EXPECT_EQ(StringRef(summaryOf(workload)).split('\n').first,
            "fits (0.6 of 1.0 GB): step 16.50 ms, 969697 tokens/s/GPU, 0.182 "
            "TFLOP/s/GPU, MFU 18.2 %");
  workload.info.tokensPerSample = 0;
  workload.cluster.devices[0].memoryBytes = 500000000;
  EXPECT_EQ(StringRef(summaryOf(workload)).split('\n').first,
            "does not fit (0.6 of 0.5 GB): step 16.50 ms, 1939 samples/s, "
            "0.182 TFLOP/s/GPU, MFU 18.2 %");
}

TEST(Summary, RestatesTheJobWithTheOriginsOfItsValues) {
  Workload workload = job();
  JobStatement &statement = workload.info.statement;
  statement.set("model", std::string("toy"), plan::Origin::Given);
  statement.set("parameters", int64_t(8030261248), plan::Origin::Derived);
  statement.set("active_parameters", int64_t(3e9), plan::Origin::Derived);
  statement.set("sequence", std::monostate(), plan::Origin::Default);
  statement.set("tp", int64_t(8), plan::Origin::Given);
  statement.set("pp", int64_t(1), plan::Origin::Default);
  statement.set("cp", int64_t(1), plan::Origin::Default);
  statement.set("bucket_rule", std::string("megatron"), plan::Origin::Stack);
  statement.set("p2p_overlap", true, plan::Origin::Default);
  std::string text = summaryOf(workload);
  for (const char *piece :
       {"model    toy: 8.03 B parameters, 3.00 B active  given",
        "degrees  tp 8                                   given",
        "         pp 1, cp 1                             default",
        "other    bucket_rule megatron                   stack"})
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n" << text;
  EXPECT_EQ(text.find("p2p_overlap"), std::string::npos);
  EXPECT_EQ(text.find("sequence"), std::string::npos);
  std::string report = reportOf(workload);
  for (const char *piece : {"\"p2p_overlap\": {\n      \"value\": true,\n"
                            "      \"origin\": \"default\"",
                            "\"sequence\": {\n      \"value\": null"})
    EXPECT_NE(report.find(piece), std::string::npos) << piece;
}

TEST(Summary, HasLinesOfAtMost100Characters) {
  Workload workload = job();
  std::string word(150, 'x');
  workload.info.statement.set("model", word, plan::Origin::Given);
  workload.info.statement.set("dimensions", word + " a=1 b=2",
                              plan::Origin::Given);
  for (std::string &label : workload.labels)
    label = word + label;
  workload.classes[0].name = word;
  workload.collectives[0].axes = word;
  workload.cluster.devices[0].memoryBytes = 500000000;
  SmallVector<StringRef> lines;
  std::string text = summaryOf(workload);
  StringRef(text).split(lines, '\n');
  for (StringRef line : lines)
    EXPECT_LE(line.size(), summaryWidth) << line.str();
}

TEST(Summary, NeighbouringStagesWithEqualFiguresShareARow) {
  Workload workload = job();
  SimulationResult result = simulateOrFail(workload);
  EXPECT_EQ(summaryOf(workload).find("stages 0"), std::string::npos);
  result.classes[1] = result.classes[0];
  std::string text;
  raw_string_ostream os(text);
  printSummary(os, workload, result);
  EXPECT_NE(text.find("  stages 0 to 1 "), std::string::npos) << text;
}

TEST(Confidence, TheMemoryHasAnInterval) {
  Workload workload = job();
  MemoryVerdict verdict = verdictOf(workload, simulateOrFail(workload));
  EXPECT_FALSE(memoryIntervalOf(workload, verdict));
  workload.errors = ErrorModel{0.1, 0.1, 0.05};
  auto interval = memoryIntervalOf(workload, verdict);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->lowBytes, verdict.needed / 1.08, 1);
  EXPECT_NEAR(interval->highBytes, verdict.needed * 1.08, 1);
}

TEST(SimulateMemory, FindsTheMemoryOfTheWholeSimulation) {
  Workload workload = job();
  SimulationResult all = simulateOrFail(workload);
  Expected<SimulationResult> memory = simulateMemory(workload);
  ASSERT_TRUE(bool(memory)) << toString(memory.takeError());
  std::string texts[2];
  for (auto [text, result] :
       {std::pair(&texts[0], &all), std::pair(&texts[1], &*memory)}) {
    raw_string_ostream os(*text);
    writeMemory(os, workload, *result);
    printMemory(os, workload, *result);
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_NE(texts[0].find("fits (0.6 of 1.0 GB)"), std::string::npos);
}

TEST(Summary, SaysWhyItDoesNotFit) {
  Workload workload = job();
  workload.cluster.devices[0].memoryBytes = 500000000;
  std::string text = summaryOf(workload);
  EXPECT_NE(
      text.find("does not fit: 0.6 of 0.5 GB (0.6 of 0.5 GiB), 0.1 GB "
                "too much at 'forward' in stage 0\n"
                "  biggest owners: activations 0.4 GB, parameters 0.2 GB"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("micro-batches in flight: 1 instead of 4"),
            std::string::npos)
      << text;
}

} // namespace
