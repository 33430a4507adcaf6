//===- SummaryText.cpp - texts that summaries share -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SummaryText.h"

#include "Proteus/Sim/Confidence.h"
#include "Proteus/Sim/Summary.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

std::string proteus::sim::gigabytes(int64_t bytes, int digits) {
  return fixed(static_cast<double>(bytes) / 1e9, digits);
}

std::string proteus::sim::gibibytes(int64_t bytes, int digits) {
  return fixed(static_cast<double>(bytes) / (1 << 30), digits);
}

std::string proteus::sim::inBothUnits(int64_t first, StringRef word,
                                      int64_t second) {
  return formatv("{0} {2} {1} GB ({3} {2} {4} GiB)", gigabytes(first, 1),
                 gigabytes(second, 1), word, gibibytes(first, 1),
                 gibibytes(second, 1))
      .str();
}

std::string proteus::sim::fitText(const MemoryVerdict &verdict) {
  return std::string(verdict.fits() ? "fits" : "does not fit") + " (" +
         gigabytes(verdict.needed, 1) + " of " +
         gigabytes(verdict.budget.capacity, 1) + " GB)";
}

/// Returns the name of a run of classes: "stage 3", or "stages 3 to 8".
static std::string nameOfRun(StringRef first, StringRef last) {
  if (first == last)
    return first.str();
  auto [noun, from] = first.rsplit(' ');
  auto [otherNoun, to] = last.rsplit(' ');
  if (noun == otherNoun && !to.empty())
    return (Twine(noun) + "s " + from + " to " + to).str();
  return (Twine(first) + " to " + last).str();
}

void proteus::sim::addClassRows(
    const Workload &workload,
    function_ref<std::vector<std::string>(size_t)> rowOf, Table &table) {
  size_t count = workload.classes.size();
  for (size_t first = 0, next; first < count; first = next) {
    std::vector<std::string> row = rowOf(first);
    int64_t ranks = workload.classes[first].ranks;
    for (next = first + 1; next < count && rowOf(next) == row; ++next)
      ranks += workload.classes[next].ranks;
    row.insert(row.begin(), {nameOfRun(workload.classes[first].name,
                                       workload.classes[next - 1].name),
                             std::to_string(ranks)});
    table.add(std::move(row));
  }
}

void proteus::sim::printVerdict(raw_ostream &os, const Workload &workload,
                                const SimulationResult &result,
                                const MemoryVerdict &verdict) {
  auto sentence = [&](const Twine &text) {
    os << wrapped(text.str(), summaryWidth, "  ", "    ");
  };
  if (std::optional<MemoryInterval> interval =
          memoryIntervalOf(workload, verdict)) {
    int64_t capacity = verdict.budget.capacity;
    bool isUnsure =
        interval->lowBytes <= capacity && capacity < interval->highBytes;
    sentence("80 % interval: " +
             inBothUnits(interval->lowBytes, "to", interval->highBytes) +
             (isUnsure ? ", which includes the memory of the device" : ""));
  }
  std::string share =
      inBothUnits(verdict.needed, "of", verdict.budget.capacity);
  if (verdict.fits()) {
    sentence("fits: " + share);
    return;
  }
  const MemoryPeak &peak = result.classes[verdict.classIndex].memory;
  std::string owners;
  for (const auto &[owner, bytes] : ArrayRef(verdict.owners).take_front(3))
    owners += (owners.empty() ? "" : ", ") + owner + " " + gigabytes(bytes, 1) +
              " GB";
  sentence("does not fit: " + share + ", " + gigabytes(verdict.excess(), 1) +
           " GB too much at '" +
           (peak.label.empty() ? "start of the step" : peak.label) +
           "' in stage " + Twine(workload.classes[verdict.classIndex].stage));
  sentence("biggest owners: " + owners);
  os << "\nremedies (estimates, each applied alone)\n";
  Table table({"change", "saves (GB)", "enough"});
  for (const MemoryKnob &knob : verdict.knobs)
    table.add({knob.description, gigabytes(knob.saving, 1),
               knob.saving >= verdict.excess() ? "yes" : "no"});
  table.print(os, summaryWidth);
}

void proteus::sim::writeOwners(json::Writer &json, const BytesByOwner &bytes) {
  json.key("memory_by_owner_bytes");
  json.beginObject();
  for (unsigned o = 0; o < numMemoryOwners; ++o)
    json.attribute(stringify(static_cast<MemoryOwner>(o)), bytes[o]);
  json.endObject();
}

/// Writes the interval of the memory that the class of the verdict needs.
static void writeInterval(json::Writer &json, const Workload &workload,
                          const MemoryVerdict &verdict) {
  json.key("uncertainty");
  json.beginObject();
  if (std::optional<MemoryInterval> interval =
          memoryIntervalOf(workload, verdict)) {
    json.attribute("low_bytes", interval->lowBytes);
    json.attribute("high_bytes", interval->highBytes);
    json.attribute("note", "80 % interval of needed_bytes");
  } else {
    json.attributeNull("low_bytes");
    json.attributeNull("high_bytes");
    json.attribute("note", "the error of this memory is not known");
  }
  json.endObject();
}

void proteus::sim::writeVerdict(json::Writer &json, const Workload &workload,
                                const SimulationResult &result,
                                const MemoryVerdict &verdict) {
  const DeviceClass &device = workload.classes[verdict.classIndex];
  const ClassResult &worst = result.classes[verdict.classIndex];
  json.beginObject();
  json.attribute("class", device.name);
  json.attribute("stage", static_cast<int64_t>(device.stage));
  json.attribute("label", worst.memory.label);
  json.attribute("time_s", cost::toSeconds(worst.memory.time));
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
  writeInterval(json, workload, verdict);
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
