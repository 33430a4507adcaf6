//===- Summary.cpp - the printed summary ----------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Summary.h"
#include "Proteus/Sim/Confidence.h"
#include "Proteus/Support/Printable.h"
#include "Proteus/Support/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <tuple>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

static std::string milliseconds(Time time) {
  return fixed(static_cast<double>(time) / 1e9, 3);
}

static std::string gigabytes(int64_t bytes, int digits = 2) {
  return fixed(static_cast<double>(bytes) / 1e9, digits);
}

static std::string percent(double part, double whole) {
  return whole > 0 ? fixed(100 * part / whole, 1) : "-";
}

namespace {

/// Prints one summary.
class SummaryPrinter {
public:
  SummaryPrinter(raw_ostream &os, const Workload &workload,
                 const SimulationResult &result)
      : os(os), workload(workload), result(result),
        figures(figuresOf(workload, result)) {}

  void print() {
    printHead();
    printBreakdown();
    printTimeByKind();
    printCriticalPath();
    printStages();
    printMemory();
    printCollectives();
    printLinks();
    printBuckets();
  }

private:
  void printHead();
  std::string sourcesText() const;
  void printBreakdown();
  void printTimeByKind();
  void printCriticalPath();
  void printStages();
  void printMemory();
  void printVerdict();
  void printCollectives();
  void printLinks();
  void printBuckets();

  /// Prints a table with the columns kind, time and share of the step. Prints
  /// at most `shortList` rows, and then the number of rows left out.
  template <typename Rows, typename NameOf, typename TimeOf>
  void printShares(StringRef label, const Rows &rows, NameOf nameOf,
                   TimeOf timeOf);

  /// Largest number of rows of a short table. The JSON report has all rows.
  static constexpr size_t shortList = 5;
  void printRest(size_t rows, size_t shown) {
    if (rows > shown)
      os << "  and " << rows - shown << " more\n";
  }
  void line(StringRef label, const Twine &value) {
    os << left_justify(label, 26) << printable(value.str()) << "\n";
  }

  raw_ostream &os;
  const Workload &workload;
  const SimulationResult &result;
  Figures figures;
};

} // namespace

void SummaryPrinter::printHead() {
  const JobInfo &info = workload.info;
  if (!info.model.empty())
    line("model", info.model);
  if (!info.strategy.empty())
    line("strategy", info.strategy);
  line("cluster", info.cluster);
  line("devices", Twine(info.devices) +
                      " (simulated: " + Twine(workload.classes.size()) + ")");
  line("iteration time (ms)", milliseconds(result.run.iterationTime));
  if (std::optional<Interval> interval = intervalOf(workload, result))
    line("80 % interval (ms)", fixed(interval->lowSeconds * 1e3, 1) + " to " +
                                   fixed(interval->highSeconds * 1e3, 1));
  std::string sources = sourcesText();
  if (!sources.empty())
    line("kernel times", sources);
  if (figures.samplesPerSecond)
    line("throughput (samples/s)", fixed(*figures.samplesPerSecond, 2));
  if (figures.tokensPerSecond && figures.tokensPerSecondPerDevice)
    line("throughput (tokens/s)",
         fixed(*figures.tokensPerSecond, 0) + " (per device: " +
             fixed(*figures.tokensPerSecondPerDevice, 1) + ")");
  if (figures.mfu)
    line("MFU (%)",
         fixed(100 * *figures.mfu, 2) + " of dense " +
             cost::stringify(info.computeType) + " peak" +
             (*figures.mfu > 1 ? ": kernels are faster than this peak; check "
                                 "the profile and the device"
                               : ""));
}

/// Returns the share of each source of kernel times as text, for example
/// "90.0 % fitted, 10.0 % datasheet".
std::string SummaryPrinter::sourcesText() const {
  std::array<double, cost::numSources> shares =
      sharesBySource(workload, result);
  std::string text;
  for (unsigned s = 0; s < cost::numSources; ++s)
    if (shares[s] > 0)
      text += (text.empty() ? "" : ", ") + fixed(100 * shares[s], 1) + " % " +
              cost::stringify(static_cast<cost::Source>(s)).str();
  return text;
}

void SummaryPrinter::printBreakdown() {
  uint32_t slowest = result.slowestClass();
  const Breakdown &parts = result.classes[slowest].breakdown;
  os << "\ntime of the slowest device (" << workload.classes[slowest].name
     << ")\n";
  Table table({"part", "time (ms)", "share (%)"});
  auto add = [&](StringRef part, Time time) {
    table.add({part.str(), milliseconds(time),
               percent(static_cast<double>(time),
                       static_cast<double>(result.run.iterationTime))});
  };
  add("compute", parts.compute);
  add("recompute", parts.recompute);
  add("optimizer", parts.optimizer);
  add("exposed communication", parts.exposedCommunication);
  add("exposed pipeline transfer", parts.exposedPipeline);
  add("host launch", parts.host);
  add("bubble", parts.bubble);
  if (parts.stepGap)
    add("between steps", parts.stepGap);
  add("total", parts.total());
  table.print(os);
}

template <typename Rows, typename NameOf, typename TimeOf>
void SummaryPrinter::printShares(StringRef label, const Rows &rows,
                                 NameOf nameOf, TimeOf timeOf) {
  if (rows.empty())
    return;
  os << "\n";
  Table table({label, "time (ms)", "share (%)"});
  for (const auto &row : ArrayRef(rows).take_front(shortList))
    table.add({std::string(nameOf(row)), milliseconds(timeOf(row)),
               percent(static_cast<double>(timeOf(row)),
                       static_cast<double>(result.run.iterationTime))});
  table.print(os);
  printRest(rows.size(), shortList);
}

void SummaryPrinter::printTimeByKind() {
  const ClassResult &slowest = result.classes[result.slowestClass()];
  printShares(
      "its kernels", slowest.computeByOperation,
      [&](const auto &row) { return workload.labels[row.first]; },
      [](const auto &row) { return row.second; });
  printShares(
      "its exposed communication", slowest.exposedByKind,
      [](const auto &row) { return row.kind; },
      [](const auto &row) { return row.time; });
}

void SummaryPrinter::printCriticalPath() {
  if (!result.criticalPath)
    return;
  printShares(
      "critical path", *result.criticalPath,
      [](const PathShare &share) { return share.kind; },
      [](const PathShare &share) { return share.time; });
}

void SummaryPrinter::printLinks() {
  if (result.links.empty())
    return;
  std::vector<LinkRow> rows = result.links;
  auto load = [&](const LinkRow &row) {
    return utilization(workload, result, row).value_or(0);
  };
  llvm::sort(rows, [&](const LinkRow &a, const LinkRow &b) {
    double loadA = load(a), loadB = load(b);
    return std::tie(loadB, a.link) < std::tie(loadA, b.link);
  });
  os << "\nlinks (the busiest; contended: time in which the link limits "
        "flows)\n";
  Table table({"link", "count", "capacity (GB/s)", "moved per link (GB)",
               "used (%)", "contended (ms)"});
  for (const LinkRow &row : ArrayRef(rows).take_front(shortList)) {
    const LinkClass &link = workload.links[row.link];
    table.add({link.name, std::to_string(link.count), gigabytes(link.capacity),
               gigabytes(row.bytes, 3), percent(load(row), 1),
               milliseconds(row.contended)});
  }
  table.print(os);
  printRest(rows.size(), shortList);
}

void SummaryPrinter::printStages() {
  os << "\nstages\n";
  Table table({"class", "ranks", "busy (ms)", "busy (%)", "exposed comm. (ms)",
               "bubble (ms)", "peak memory (GB)", "reserved (GB)"});
  for (size_t c = 0; c < result.classes.size(); ++c) {
    const DeviceClass &device = workload.classes[c];
    const ClassResult &stage = result.classes[c];
    const Breakdown &parts = stage.breakdown;
    table.add({device.name, std::to_string(device.ranks),
               milliseconds(parts.busy()),
               percent(static_cast<double>(parts.busy()),
                       static_cast<double>(result.run.iterationTime)),
               milliseconds(parts.exposedCommunication + parts.exposedPipeline),
               milliseconds(parts.bubble), gigabytes(stage.memory.bytes),
               gigabytes(stage.allocator.reserved)});
  }
  table.print(os);
}

void SummaryPrinter::printMemory() {
  const MemoryVerdict &verdict = figures.memory;
  const DeviceClass &device = workload.classes[verdict.classIndex];
  const ClassResult &stage = result.classes[verdict.classIndex];
  const MemoryPeak &peak = stage.memory;
  os << "\npeak memory (" << device.name << ", after "
     << milliseconds(peak.time) << " ms"
     << (peak.label.empty() ? "" : ", at '" + peak.label + "'") << ")\n";
  Table table({"owner", "memory (GB)", "share (%)"});
  auto add = [&](StringRef owner, int64_t bytes) {
    table.add({owner.str(), gigabytes(bytes),
               percent(static_cast<double>(bytes),
                       static_cast<double>(verdict.needed))});
  };
  for (unsigned o = 0; o < numMemoryOwners; ++o)
    if (peak.byOwner[o] > 0)
      add(stringify(static_cast<MemoryOwner>(o)), peak.byOwner[o]);
  add("allocated", peak.bytes);
  add("reserved, not allocated", stage.allocator.reserved - peak.bytes);
  add("framework", verdict.budget.frameworkReserve);
  add("communication library", verdict.budget.communicationLibrary);
  add("needed", verdict.needed);
  table.print(os);
  printVerdict();
}

void SummaryPrinter::printVerdict() {
  const MemoryVerdict &verdict = figures.memory;
  std::string share = gigabytes(verdict.needed, 1) + " of " +
                      gigabytes(verdict.budget.capacity, 1) + " GB";
  if (verdict.fits()) {
    os << "  fits: " << share << "\n";
    return;
  }
  const MemoryPeak &peak = result.classes[verdict.classIndex].memory;
  os << "  does not fit: " << share << ", " << gigabytes(verdict.excess(), 1)
     << " GB too much at '"
     << (peak.label.empty() ? "start of the step" : peak.label.c_str())
     << "' in stage " << workload.classes[verdict.classIndex].stage
     << "; biggest owners: ";
  llvm::interleaveComma(
      ArrayRef(verdict.owners).take_front(3), os, [&](const auto &owner) {
        os << owner.first << " " << gigabytes(owner.second, 1) << " GB";
      });
  os << "\n\nremedies (estimates, each applied alone)\n";
  Table table({"change", "saves (GB)", "enough"});
  for (const MemoryKnob &knob : verdict.knobs)
    table.add({knob.description, gigabytes(knob.saving, 1),
               knob.saving >= verdict.excess() ? "yes" : "no"});
  table.print(os);
}

void SummaryPrinter::printCollectives() {
  if (result.collectives.empty())
    return;
  os << "\ncommunication (time: maximum over devices)\n";
  Table table({"kind", "axes", "group size", "size (MB)", "count",
               "count per device", "time (ms)"});
  // Prints only the rows with the longest times. The JSON report has all rows.
  constexpr size_t limit = 12;
  for (const CollectiveRow &row :
       ArrayRef(result.collectives).take_front(limit))
    table.add({cost::stringify(row.kind).str(), row.axes,
               std::to_string(row.groupSize),
               fixed(static_cast<double>(row.bytes) / 1e6, 3),
               std::to_string(row.count), std::to_string(row.countPerDevice),
               milliseconds(row.time)});
  table.print(os);
  printRest(result.collectives.size(), limit);
}

void SummaryPrinter::printBuckets() {
  if (result.buckets.empty())
    return;
  Time exposed = 0;
  for (const ClassResult &stage : result.classes)
    exposed = std::max(exposed, stage.exposedReduction);
  os << "\ngradient buckets: " << workload.buckets.size()
     << "; reductions continue for " << milliseconds(exposed)
     << " ms after the last backward kernel\n";
}

void proteus::sim::printSummary(raw_ostream &os, const Workload &workload,
                                const SimulationResult &result) {
  // Labels of operations come from the input and may contain characters that
  // are unsafe on a terminal.
  std::string text;
  raw_string_ostream buffer(text);
  SummaryPrinter(buffer, workload, result).print();
  os << printable(text, /*keepNewlines=*/true);
}
