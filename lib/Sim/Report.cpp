//===- Report.cpp - the JSON report ---------------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Report.h"
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
  void writeVerdict();
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
  void owners(const BytesByOwner &bytes);

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

void ReportWriter::owners(const BytesByOwner &bytes) {
  json.key("memory_by_owner_bytes");
  json.beginObject();
  for (unsigned o = 0; o < numMemoryOwners; ++o)
    json.attribute(stringify(static_cast<MemoryOwner>(o)), bytes[o]);
  json.endObject();
}

void ReportWriter::writeFigures() {
  const JobInfo &info = workload.info;
  json.attribute("iteration_time_s", figures.iterationSeconds);
  json.attribute("iteration_time_ps", result.run.iterationTime);
  optional("samples_per_s", figures.samplesPerSecond);
  optional("tokens_per_s", figures.tokensPerSecond);
  optional("tokens_per_s_per_device", figures.tokensPerSecondPerDevice);
  optional("mfu", figures.mfu);
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
  owners(peak.byOwner);
  json.endObject();
}

/// Writes the memory verdict. The verdict describes the class with the least
/// memory left.
void ReportWriter::writeVerdict() {
  const MemoryVerdict &verdict = figures.memory;
  const DeviceClass &device = workload.classes[verdict.classIndex];
  const ClassResult &worst = result.classes[verdict.classIndex];
  json.key("memory");
  json.beginObject();
  json.attribute("class", device.name);
  json.attribute("stage", static_cast<int64_t>(device.stage));
  json.attribute("label", worst.memory.label);
  seconds("time_s", worst.memory.time);
  json.attribute("micro_batches_in_flight",
                 static_cast<int64_t>(worst.allocator.inFlight));
  json.attribute("capacity_bytes", verdict.budget.capacity);
  json.attribute("allocated_bytes", worst.memory.bytes);
  json.attribute("reserved_bytes", worst.allocator.reserved);
  json.attribute("fragmentation_bytes", worst.allocator.fragmentation);
  json.attribute("framework_bytes", verdict.budget.frameworkReserve);
  json.attribute("communication_library_bytes",
                 verdict.budget.communicationLibrary);
  json.attribute("needed_bytes", verdict.needed);
  json.attribute("excess_bytes", verdict.excess());
  json.attribute("fits", verdict.fits());
  json.attribute("cache_releases", worst.allocator.releases);
  json.key("first_failure");
  if (worst.allocator.exceeded) {
    json.beginObject();
    json.attribute("label", worst.allocator.exceededLabel);
    json.endObject();
  } else {
    json.null();
  }
  json.key("owners");
  json.beginArray();
  for (const auto &[owner, bytes] : verdict.owners) {
    json.beginObject();
    json.attribute("owner", owner);
    json.attribute("bytes", bytes);
    json.endObject();
  }
  json.endArray();
  json.key("knobs");
  json.beginArray();
  for (const MemoryKnob &knob : verdict.knobs) {
    json.beginObject();
    json.attribute("knob", knob.name);
    json.attribute("description", knob.description);
    json.attribute("saving_bytes", knob.saving);
    json.attribute("enough", knob.saving >= verdict.excess());
    json.endObject();
  }
  json.endArray();
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
  owners(stage.memory.byOwner);
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
  writeFigures();
  writePeakMemory();
  writeVerdict();
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
