//===- Report.cpp - the JSON report ---------------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Report.h"

#include "SummaryText.h"

#include "Proteus/Sim/Confidence.h"
#include "Proteus/Support/JSON.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

namespace {

/// Writes one report as JSON.
class ReportWriter {
public:
  ReportWriter(raw_ostream &os, const Workload &workload,
               const SimulationResult &result)
      : json(os), workload(workload), result(result),
        figures(figuresOf(workload, result)) {}

  void write();

private:
  void writeFigures();
  void writePeakMemory();
  void writeStages();
  void writeStage(const DeviceClass &device, const ClassResult &stage);
  void writeCollectives();
  void writeBuckets();
  void writeLinks();
  void writeCriticalPath();
  void writeSources();
  void writeUncertainty();

  void seconds(StringRef key, Time time) {
    json.attribute(key, cost::toSeconds(time));
  }
  void optional(StringRef key, std::optional<double> value) {
    if (value)
      json.attribute(key, *value);
    else
      json.attributeNull(key);
  }
  void breakdown(const Breakdown &parts);

  json::Writer json;
  const Workload &workload;
  const SimulationResult &result;
  Figures figures;
};

} // namespace

void ReportWriter::breakdown(const Breakdown &parts) {
  json.key("breakdown");
  json.beginObject();
  seconds("compute", parts.compute);
  seconds("recompute", parts.recompute);
  seconds("optimizer", parts.optimizer);
  seconds("exposed_communication", parts.exposedCommunication);
  seconds("exposed_pipeline", parts.exposedPipeline);
  seconds("host", parts.host);
  seconds("bubble", parts.bubble);
  seconds("between_steps", parts.stepGap);
  json.endObject();
}

void ReportWriter::writeFigures() {
  const JobInfo &info = workload.info;
  json.attribute("iteration_time_s", figures.iterationSeconds);
  json.attribute("iteration_time_ps", result.run.iterationTime);
  optional("samples_per_s", figures.samplesPerSecond);
  optional("tokens_per_s", figures.tokensPerSecond);
  optional("tokens_per_s_per_device", figures.tokensPerSecondPerDevice);
  optional("model_flops_per_s_per_device",
           figures.modelFlopsPerSecondPerDevice);
  optional("mfu", figures.mfu);
  optional("mfu_fp8", figures.mfuFp8);
  optional("mfu_full_square", figures.mfuFullSquare);
  optional("hfu", figures.hfu);
  json.attribute("devices", info.devices);
  json.attribute("simulated_devices",
                 static_cast<int64_t>(workload.classes.size()));
  json.attribute("global_batch", info.globalBatch);
  json.attribute("micro_batches", info.microBatches);
  json.attribute("compute_type", cost::stringify(info.computeType));
}

void ReportWriter::writePeakMemory() {
  uint32_t largest = result.largestClass();
  const MemoryPeak &peak = result.classes[largest].memory;
  json.attribute("peak_memory_bytes", figures.peakMemoryBytes);
  json.attribute("peak_reserved_memory_bytes", figures.peakReservedBytes);
  json.attribute("memory_capacity_bytes", figures.memory.budget.capacity);
  int64_t hostBytes = 0;
  for (const ClassResult &device : result.classes)
    hostBytes = std::max(hostBytes, device.memory.hostBytes);
  json.attribute("peak_host_memory_bytes", hostBytes);
  json.attribute("fits", figures.memory.fits());
  json.key("peak_memory");
  json.beginObject();
  json.attribute("class", workload.classes[largest].name);
  json.attribute("stage",
                 static_cast<int64_t>(workload.classes[largest].stage));
  json.attribute("label", peak.label);
  seconds("time_s", peak.time);
  writeOwners(json, peak.byOwner);
  json.endObject();
}

void ReportWriter::writeStage(const DeviceClass &device,
                              const ClassResult &stage) {
  json.beginObject();
  json.attribute("name", device.name);
  json.attribute("stage", static_cast<int64_t>(device.stage));
  json.attribute("ranks", device.ranks);
  json.attribute("representative", device.representative);
  json.attribute("peak_memory_bytes", stage.memory.bytes);
  json.attribute("peak_reserved_memory_bytes", stage.allocator.reserved);
  json.attribute("peak_host_memory_bytes", stage.memory.hostBytes);
  writeOwners(json, stage.memory.byOwner);
  json.attribute("peak_label", stage.memory.label);
  seconds("peak_time_s", stage.memory.time);
  seconds("busy_s", stage.breakdown.busy());
  seconds("bubble_s", stage.breakdown.bubble);
  seconds("exposed_reduction_s", stage.exposedReduction);
  breakdown(stage.breakdown);
  json.key("stream_busy_s");
  json.beginObject();
  for (unsigned s = 0; s < numStreams; ++s)
    seconds(stringify(static_cast<Stream>(s)), stage.streamBusy[s]);
  json.endObject();
  json.key("compute_by_op");
  json.beginArray();
  for (auto [kind, time] : stage.computeByOperation) {
    json.beginObject();
    json.attribute("op", workload.labels[kind]);
    seconds("time_s", time);
    json.endObject();
  }
  json.endArray();
  json.key("exposed_by_communication");
  json.beginArray();
  for (const ExposedCommunication &part : stage.exposedByKind) {
    json.beginObject();
    json.attribute("communication", part.kind);
    seconds("time_s", part.time);
    json.endObject();
  }
  json.endArray();
  json.endObject();
}

void ReportWriter::writeStages() {
  json.key("stages");
  json.beginArray();
  for (size_t c = 0; c < result.classes.size(); ++c)
    writeStage(workload.classes[c], result.classes[c]);
  json.endArray();
}

void ReportWriter::writeCollectives() {
  json.key("collectives");
  json.beginArray();
  for (const CollectiveRow &row : result.collectives) {
    json.beginObject();
    json.attribute("kind", cost::stringify(row.kind));
    json.attribute("axes", row.axes);
    json.attribute("group_size", row.groupSize);
    json.attribute("bytes", row.bytes);
    json.attribute("count", row.count);
    json.attribute("count_per_device", row.countPerDevice);
    seconds("time_s", row.time);
    json.endObject();
  }
  json.endArray();
}

void ReportWriter::writeLinks() {
  json.key("links");
  json.beginArray();
  for (const LinkRow &row : result.links) {
    const LinkClass &link = workload.links[row.link];
    json.beginObject();
    json.attribute("name", link.name);
    json.attribute("count", link.count);
    json.attribute("capacity", link.capacity);
    json.attribute("bytes", row.bytes);
    optional("utilization", utilization(workload, result, row));
    seconds("contended_s", row.contended);
    json.endObject();
  }
  json.endArray();
}

void ReportWriter::writeCriticalPath() {
  json.key("critical_path");
  if (!result.criticalPath) {
    json.null();
    return;
  }
  json.beginArray();
  for (const PathShare &share : *result.criticalPath) {
    json.beginObject();
    json.attribute("kind", share.kind);
    seconds("time_s", share.time);
    json.attribute("share", static_cast<double>(share.time) /
                                static_cast<double>(result.run.iterationTime));
    json.endObject();
  }
  json.endArray();
}

void ReportWriter::writeBuckets() {
  json.key("buckets");
  json.beginArray();
  for (const BucketRow &row : result.buckets) {
    const Bucket &bucket = workload.buckets[row.bucket];
    json.beginObject();
    json.attribute("name", bucket.name);
    json.attribute("class", workload.classes[row.classIndex].name);
    json.attribute("bytes", bucket.bytes);
    seconds("ready_s", row.ready);
    seconds("start_s", row.start);
    seconds("end_s", row.end);
    json.endObject();
  }
  json.endArray();
}

void ReportWriter::writeSources() {
  json.key("sources");
  json.beginObject();
  std::array<double, cost::numSources> shares =
      sharesBySource(workload, result);
  for (unsigned s = 0; s < cost::numSources; ++s)
    json.attribute(cost::stringify(static_cast<cost::Source>(s)), shares[s]);
  json.endObject();
}

void ReportWriter::writeUncertainty() {
  std::optional<Interval> interval = intervalOf(workload, result);
  json.key("uncertainty");
  json.beginObject();
  if (interval) {
    json.attribute("low_s", interval->lowSeconds);
    json.attribute("high_s", interval->highSeconds);
    json.attribute("note", "80 % interval of iteration_time_s");
  } else {
    json.attributeNull("low_s");
    json.attributeNull("high_s");
    json.attribute("note", "the errors of these costs are not known");
  }
  json.endObject();
}

void ReportWriter::write() {
  uint32_t slowest = result.slowestClass();
  json.beginObject();
  json.attribute("schema", "proteus-report/1");
  json.attribute("model", workload.info.model);
  json.attribute("strategy", workload.info.strategy);
  json.attribute("cluster", workload.info.cluster);
  json.key("job");
  workload.info.statement.write(json);
  writeFigures();
  writePeakMemory();
  json.key("memory");
  writeVerdict(json, workload, result, figures.memory);
  json.attribute("slowest_class", workload.classes[slowest].name);
  breakdown(result.classes[slowest].breakdown);
  writeStages();
  writeCollectives();
  writeBuckets();
  writeLinks();
  writeCriticalPath();
  json.attribute("tasks", result.run.tasks);
  json.attribute("events", result.run.events);
  writeSources();
  writeUncertainty();
  json.endObject();
}

void proteus::sim::writeReport(raw_ostream &os, const Workload &workload,
                               const SimulationResult &result) {
  ReportWriter(os, workload, result).write();
}
