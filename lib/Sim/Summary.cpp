//===- Summary.cpp - the printed summary ----------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Summary.h"

#include "SummaryText.h"

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

/// Formats a positive number with four digits, or more for a large integer
/// part.
static std::string rounded(double value) {
  unsigned digits = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  return fixed(value, digits);
}

/// Returns the names of the types whose peak rates are the denominator of the
/// MFU, for example "bf16". Device types of a cluster may differ.
static std::string utilizationTypes(const Workload &workload) {
  SmallVector<StringRef> names;
  for (const DeviceClass &own : workload.classes) {
    StringRef name = cost::stringify(
        utilizationType(workload.cluster.devices[own.deviceType]));
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  return llvm::join(names, " or ");
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
    sim::printVerdictLine(os, workload, figures);
    printJob();
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
  void printJob();
  void printHead();
  void printUtilization();
  std::string sourcesText() const;
  void printBreakdown();
  void printTimeByKind();
  void printCriticalPath();
  void printStages();
  void printMemory();
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
  void print(const Table &table) { table.print(os, summaryWidth); }

  raw_ostream &os;
  const Workload &workload;
  const SimulationResult &result;
  Figures figures;
};

} // namespace

void SummaryPrinter::printJob() {
  const JobStatement &job = workload.info.statement;
  if (job.empty())
    return;
  os << "\njob\n";
  job.print(os);
}

void SummaryPrinter::printHead() {
  os << "\n";
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
  printUtilization();
  line("simulated devices",
       Twine(workload.classes.size()) + " of " + Twine(workload.info.devices));
}

/// Prints the FLOPs per second and the utilisation of the devices.
void SummaryPrinter::printUtilization() {
  if (!figures.mfu)
    return;
  line("TFLOP/s per device",
       fixed(*figures.modelFlopsPerSecondPerDevice / 1e12, 1) +
           " of the model");
  std::string peak = " of dense " + utilizationTypes(workload) + " peak";
  line("MFU (%)", fixed(100 * *figures.mfu, 2) + peak);
  if (figures.mfuFp8)
    line("MFU in fp8 (%)",
         fixed(100 * *figures.mfuFp8, 2) + " of dense fp8 peak");
  if (figures.hfu)
    line("HFU (%)",
         fixed(100 * *figures.hfu, 2) + peak + ", with all executed FLOPs");
  if (figures.shareOfOwnPeak.value_or(0) > 1)
    os << wrapped("the FLOP/s are above 100 % of the dense " +
                      cost::stringify(workload.info.computeType).str() +
                      " peak: kernels are faster than this peak; check the "
                      "profile and the device",
                  summaryWidth, "  ", "    ");
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
  os << "\n"
     << wrapped("time of the slowest device (" +
                    workload.classes[slowest].name + ")",
                summaryWidth, "", "  ");
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
  print(table);
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
  print(table);
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
  print(table);
  printRest(rows.size(), shortList);
}

void SummaryPrinter::printStages() {
  os << "\nstages (time: of one device)\n";
  Table table({"class", "ranks", "busy (ms)", "busy (%)", "exposed (ms)",
               "bubble (ms)", "peak (GB)", "reserved (GB)"});
  addClassRows(
      workload,
      [&](size_t c) -> std::vector<std::string> {
        const ClassResult &stage = result.classes[c];
        const Breakdown &parts = stage.breakdown;
        return {
            milliseconds(parts.busy()),
            percent(static_cast<double>(parts.busy()),
                    static_cast<double>(result.run.iterationTime)),
            milliseconds(parts.exposedCommunication + parts.exposedPipeline),
            milliseconds(parts.bubble),
            gigabytes(stage.memory.bytes),
            gigabytes(stage.allocator.reserved)};
      },
      table);
  print(table);
}

void SummaryPrinter::printMemory() {
  const MemoryVerdict &verdict = figures.memory;
  const DeviceClass &device = workload.classes[verdict.classIndex];
  const ClassResult &stage = result.classes[verdict.classIndex];
  const MemoryPeak &peak = stage.memory;
  os << "\n"
     << wrapped("peak memory (" + device.name + ", after " +
                    milliseconds(peak.time) + " ms" +
                    (peak.label.empty() ? "" : ", at '" + peak.label + "'") +
                    ")",
                summaryWidth, "", "  ");
  Table table({"owner", "memory (GB)", "memory (GiB)", "share (%)"});
  auto add = [&](StringRef owner, int64_t bytes) {
    table.add({owner.str(), gigabytes(bytes), gibibytes(bytes),
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
  print(table);
  printVerdict(os, workload, result, verdict);
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
  print(table);
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

void proteus::sim::printVerdictLine(raw_ostream &os, const Workload &workload,
                                    const Figures &figures) {
  os << fitText(figures.memory) << ": step ";
  double seconds = figures.iterationSeconds;
  os << (seconds >= 10 ? rounded(seconds) + " s"
                       : rounded(seconds * 1e3) + " ms");
  if (figures.tokensPerSecondPerDevice)
    os << ", " << rounded(*figures.tokensPerSecondPerDevice) << " tokens/s/GPU";
  else if (figures.samplesPerSecond)
    os << ", " << rounded(*figures.samplesPerSecond) << " samples/s";
  if (figures.modelFlopsPerSecondPerDevice)
    os << ", " << rounded(*figures.modelFlopsPerSecondPerDevice / 1e12)
       << " TFLOP/s/GPU";
  if (figures.mfu)
    os << ", MFU " << fixed(100 * *figures.mfu, 1) << " %";
  os << "\n";
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
