//===- ParityReport.cpp - tables of parity --------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Reference/Parity/ParityReport.h"

#include "Proteus/Support/JSON.h"
#include "Proteus/Support/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;
using namespace proteus;
using namespace proteus::parity;

/// Largest relative deviations that count as parity.
static constexpr double maxVolume = 0.005, maxCompute = 0.005, maxTime = 0.03;

ParitySummary proteus::parity::summarize(ArrayRef<ReferenceRun> runs,
                                         ArrayRef<ParityResult> results) {
  ParitySummary summary;
  auto within = [](std::optional<double> value, double bound) {
    return value && std::abs(*value) <= bound;
  };
  for (auto [run, result] : llvm::zip(runs, results)) {
    ++summary.runs;
    summary.failed += !result.error.empty();
    if (!run.original || !run.original->iterationMilliseconds ||
        !result.error.empty())
      continue;
    ParityVerdict verdict = judge(run, result);
    ++summary.timed;
    summary.sameCounts += verdict.sameKindsAndCounts;
    summary.explainedCounts += verdict.explainedCounts;
    summary.volumes +=
        !verdict.worstVolume || within(verdict.worstVolume, maxVolume);
    summary.compute += within(verdict.compute, maxCompute);
    summary.time += within(verdict.time, maxTime);
    summary.untouched += !verdict.touched;
    summary.untouchedTime += !verdict.touched && within(verdict.time, maxTime);
    summary.ourCPU += result.ours.cpuSeconds;
    summary.originalCPU += run.original->cpuSeconds;
  }
  return summary;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

static std::string percent(std::optional<double> value) {
  if (!value)
    return "-";
  std::string text = fixed(*value * 100, 2);
  return text == "-0.00" ? "0.00" : text;
}

/// Returns a text like "12 all_reduce/grad 244.403": count, kind and volume in
/// 1e6 bytes.
static std::string textOf(const CollectiveSum &sum, StringRef kind) {
  return std::to_string(sum.count) + " " + kind.str() + " " +
         fixed(sum.megabytes, 3);
}

/// Returns the collectives of this simulator as text. Where the reference
/// differs, its count and volume follow in brackets.
static std::string collectivesOf(const ReferenceRun &run,
                                 const ParityResult &result) {
  std::vector<std::string> texts;
  std::map<std::string, CollectiveSum> original;
  if (run.original)
    original = run.original->collectives;
  for (auto &[kind, sum] : result.ours.collectives) {
    auto found = original.find(kind);
    std::string text = textOf(sum, kind);
    if (!run.original)
      texts.push_back(text);
    else if (found == original.end())
      texts.push_back(text + " (none)");
    else if (found->second.count != sum.count ||
             std::abs(found->second.megabytes - sum.megabytes) >
                 maxVolume * found->second.megabytes)
      texts.push_back(text + " (" + std::to_string(found->second.count) + ", " +
                      fixed(found->second.megabytes, 3) + ")");
    else
      texts.push_back(text);
  }
  for (auto &[kind, sum] : original)
    if (result.ours.collectives.count(kind) == 0)
      texts.push_back("none (" + textOf(sum, kind) + ")");
  return texts.empty() ? "none" : join(texts, ", ");
}

/// Returns the number of the defect that kept the reference from computing the
/// time of a run, such as "B4".
static StringRef failureOf(const ReferenceRun &run) {
  if (!run.original)
    return "B4";
  return run.isTransformer() ? "B13" : "B1";
}

static const StringRef labels[] = {"run",
                                   "cluster",
                                   "collectives (reference)",
                                   "cause",
                                   "compute (ms)",
                                   "reference",
                                   "%",
                                   "step (ms)",
                                   "reference",
                                   "%",
                                   "touched by",
                                   "memory (MiB)",
                                   "reference",
                                   "%",
                                   "cause",
                                   "CPU (ms)",
                                   "reference"};

static std::vector<std::string> rowOf(const ReferenceRun &run,
                                      const ParityResult &result) {
  if (!result.error.empty()) {
    std::vector<std::string> row(std::size(labels));
    row[0] = run.id;
    row[1] = run.cluster;
    row[2] = result.error;
    return row;
  }
  ParityVerdict verdict = judge(run, result);
  std::optional<double> time, memory, compute, cpu;
  if (run.original) {
    time = run.original->iterationMilliseconds;
    memory = run.original->memoryMiB;
    compute = run.original->computeMilliseconds;
    cpu = run.original->cpuSeconds * 1e3;
  }
  std::string timeCauses = !time ? failureOf(run).str()
                           : verdict.time && std::abs(*verdict.time) < 5e-5
                               ? ""
                               : join(result.timeCauses, " ");
  return {run.id,
          run.cluster,
          collectivesOf(run, result),
          join(result.collectiveCauses, ", "),
          fixed(result.ours.computeMilliseconds, 4),
          fixed(compute, 4),
          percent(verdict.compute),
          fixed(result.ours.iterationMilliseconds, 3),
          fixed(time, 3),
          percent(verdict.time),
          timeCauses,
          fixed(result.ours.memoryMiB, 1),
          fixed(memory, 1),
          percent(verdict.memory),
          join(result.memoryCauses, " "),
          fixed(result.ours.cpuSeconds * 1e3, 1),
          fixed(cpu, 1)};
}

void proteus::parity::printTable(raw_ostream &os, ArrayRef<ReferenceRun> runs,
                                 ArrayRef<ParityResult> results) {
  // Print only the columns that fit into a terminal. The Markdown table has all
  // columns.
  Table table({"run", "cluster", "collectives", "compute (ms)", "%",
               "step (ms)", "reference", "%", "memory (MiB)", "reference",
               "CPU (ms)", "reference", "touched by"},
              2);
  for (auto [run, result] : llvm::zip(runs, results)) {
    if (!result.error.empty()) {
      table.add({run.id, run.cluster, "-", "-", "-", "-", "-", "-", "-", "-",
                 "-", "-", "error"});
      continue;
    }
    ParityVerdict verdict = judge(run, result);
    std::vector<std::string> row = rowOf(run, result);
    std::string counts = !run.original                ? "-"
                         : verdict.sameKindsAndCounts ? "equal"
                         : result.collectiveCauses.empty()
                             ? "differ"
                             : join(result.collectiveCauses, "+");
    table.add({run.id, run.cluster, counts, row[4], row[6], row[7], row[8],
               row[9], row[11], row[12], row[15], row[16], row[10]});
  }
  table.print(os);
}

static std::string shareOf(int64_t count, int64_t all) {
  return std::to_string(count) + " of " + std::to_string(all);
}

void proteus::parity::printSummary(raw_ostream &os,
                                   const ParitySummary &summary) {
  os << "\n"
     << summary.runs << " runs, " << summary.timed
     << " with a time of the reference; of these\n"
     << "  collectives equal in kind and count: "
     << shareOf(summary.sameCounts, summary.timed) << ", "
     << shareOf(summary.explainedCounts, summary.timed)
     << " with the stated differences undone\n"
     << "  volumes within 0.5 %: " << shareOf(summary.volumes, summary.timed)
     << "\n"
     << "  compute per device within 0.5 %: "
     << shareOf(summary.compute, summary.timed) << "\n"
     << "  step within 3 %: " << shareOf(summary.time, summary.timed) << ", "
     << shareOf(summary.untouchedTime, summary.untouched)
     << " without a defect of the reference\n";
  if (summary.failed > 0)
    os << "  " << summary.failed << " could not be simulated\n";
}

void proteus::parity::printCPU(raw_ostream &os, const ParitySummary &summary) {
  os << "CPU time: " << fixed(summary.ourCPU, 3) << " s, reference "
     << fixed(summary.originalCPU, 1) << " s";
  if (summary.ourCPU > 0)
    os << ": 1/" << fixed(summary.originalCPU / summary.ourCPU, 0);
  os << "\n";
}

void proteus::parity::writeMarkdown(raw_ostream &os,
                                    ArrayRef<ReferenceRun> runs,
                                    ArrayRef<ParityResult> results) {
  os << "# Parity with the published Proteus\n\n"
        "Written by `proteus parity --markdown docs/reference-parity.md`; "
        "[reference.md](reference.md#parity) explains the\n"
        "columns and causes. Figures of the reference: "
        "[validation/reference/runs.json](../validation/reference/runs.json)."
        "\n\n```";
  ParitySummary summary = summarize(runs, results);
  printSummary(os, summary);
  printCPU(os, summary);
  os << "```\n\n|";
  for (StringRef label : labels)
    os << " " << label << " |";
  os << "\n|";
  for (size_t i = 0; i < std::size(labels); ++i)
    os << "---|";
  os << "\n";
  for (auto [run, result] : llvm::zip(runs, results)) {
    os << "|";
    for (const std::string &cell : rowOf(run, result))
      os << " " << cell << " |";
    os << "\n";
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeNumber(json::Writer &writer, StringRef name,
                        std::optional<double> value) {
  if (value)
    writer.attribute(name, *value);
  else
    writer.attributeNull(name);
}

static void writeFigures(json::Writer &writer, StringRef name,
                         const ParityFigures &figures) {
  writer.key(name);
  writer.beginObject();
  writer.key("collectives");
  writer.beginObject();
  for (auto &[kind, sum] : figures.collectives) {
    writer.key(kind);
    writer.beginObject();
    writer.attribute("n", sum.count);
    writer.attribute("volume_MB_total", sum.megabytes);
    writer.endObject();
  }
  writer.endObject();
  writer.attribute("compute_ms", figures.computeMilliseconds);
  writeNumber(writer, "iter_ms", figures.iterationMilliseconds);
  writeNumber(writer, "max_mem_MiB", figures.memoryMiB);
  writer.attribute("cpu_s", figures.cpuSeconds);
  writer.endObject();
}

static void writeCauses(json::Writer &writer, StringRef name,
                        ArrayRef<std::string> causes) {
  writer.key(name);
  writer.beginArray();
  for (const std::string &cause : causes)
    writer.value(cause);
  writer.endArray();
}

static void writeRun(json::Writer &writer, const ReferenceRun &run,
                     const ParityResult &result) {
  writer.beginObject();
  writer.attribute("id", run.id);
  writer.attribute("cluster", run.cluster);
  writer.attribute("model", run.model);
  if (!result.error.empty())
    writer.attribute("error", result.error);
  else
    writeFigures(writer, "ours", result.ours);
  if (run.original)
    writeFigures(writer, "original", *run.original);
  if (result.error.empty()) {
    ParityVerdict verdict = judge(run, result);
    if (run.original) {
      writer.attribute("same_kinds_and_counts", verdict.sameKindsAndCounts);
      writer.attribute("explained_counts", verdict.explainedCounts);
    }
    writeNumber(writer, "volume_deviation", verdict.worstVolume);
    writeNumber(writer, "compute_deviation", verdict.compute);
    writeNumber(writer, "iter_deviation", verdict.time);
    writeNumber(writer, "memory_deviation", verdict.memory);
    writer.attribute("touched_by_defect", verdict.touched);
    writeCauses(writer, "collective_causes", result.collectiveCauses);
    writeCauses(writer, "iter_causes", result.timeCauses);
    writeCauses(writer, "memory_causes", result.memoryCauses);
  }
  writer.endObject();
}

void proteus::parity::writeJSON(raw_ostream &os, ArrayRef<ReferenceRun> runs,
                                ArrayRef<ParityResult> results) {
  json::Writer writer(os);
  writer.beginObject();
  writer.key("runs");
  writer.beginArray();
  for (auto [run, result] : llvm::zip(runs, results))
    writeRun(writer, run, result);
  writer.endArray();
  ParitySummary summary = summarize(runs, results);
  writer.key("summary");
  writer.beginObject();
  writer.attribute("runs", summary.runs);
  writer.attribute("failed", summary.failed);
  writer.attribute("with_time", summary.timed);
  writer.attribute("same_kinds_and_counts", summary.sameCounts);
  writer.attribute("explained_counts", summary.explainedCounts);
  writer.attribute("volume_within_0.5_percent", summary.volumes);
  writer.attribute("compute_within_0.5_percent", summary.compute);
  writer.attribute("iter_within_3_percent", summary.time);
  writer.attribute("untouched", summary.untouched);
  writer.attribute("untouched_iter_within_3_percent", summary.untouchedTime);
  writer.attribute("cpu_s", summary.ourCPU);
  writer.attribute("original_cpu_s", summary.originalCPU);
  writer.endObject();
  writer.endObject();
}
