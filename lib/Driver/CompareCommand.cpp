//===- CompareCommand.cpp - proteus compare -------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobSources.h"
#include "Output.h"
#include "Progress.h"

#include "Proteus/Driver/Advice.h"
#include "Proteus/Driver/Commands.h"
#include "Proteus/Jobs/RunJob.h"
#include "Proteus/Support/File.h"
#include "Proteus/Support/JSON.h"
#include "Proteus/Support/Printable.h"
#include "Proteus/Support/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;
using namespace proteus::jobs;

namespace {

/// A row of the comparison: a strategy and its figures.
struct Entry {
  std::string strategy; ///< in the words of the user
  std::string error;    ///< reason why there are no figures, or empty
  double seconds = 0;
  std::optional<double> samples, tokensPerDevice, flopsPerDevice;
  std::optional<double> mfu, mfuFp8, hfu, shareOfOwnPeak;
  int64_t needed = 0, capacity = 0;
  std::string limit;
  /// The label and the step time of a smaller strategy that fits, or the
  /// statement that none was found. Empty if this strategy fits.
  std::string instead;

  bool fits() const { return error.empty() && needed <= capacity; }
};

/// The figure by which strategies are sorted.
enum class SortBy { Throughput, Step, Memory, MFU };

struct CompareArguments {
  Job job;
  std::vector<std::string> texts; ///< the strategies
  std::string file;
  SortBy sortBy = SortBy::Throughput;

  void declare(Flags &flags);
};

} // namespace

static constexpr std::pair<StringLiteral, SortBy> sortWords[] = {
    {"throughput", SortBy::Throughput},
    {"step", SortBy::Step},
    {"memory", SortBy::Memory},
    {"mfu", SortBy::MFU}};

void CompareArguments::declare(Flags &flags) {
  flags.about(
      "Compares strategies and lists the best first.\n\n"
      "  proteus compare --model llama3-70b --cluster dgx-h100 --gpus 128 "
      "--global-batch 256 \\\n      --strategy \"tp=8 pp=4 zero=1\" "
      "--strategy \"tp=8 pp=2 zero=1\" --strategy \"zero=3\"\n");
  addJobFlags(flags, job);
  flags.section("comparison");
  flags.value("strategy", "\"tp=8 pp=4\"",
              "flags of one strategy, without dashes; may be given again. The "
              "other flags apply to every strategy that does not set them",
              [this](StringRef text) -> Error {
                texts.push_back(text.str());
                return Error::success();
              });
  std::vector<std::string> words;
  for (const auto &[word, figure] : sortWords)
    words.push_back(word.str());
  flags.choice("sort",
               "figure by which strategies are sorted, the best first; "
               "strategies that do not fit come last (default: throughput)",
               words, [this](StringRef word) {
                 for (const auto &[known, figure] : sortWords)
                   if (known == word)
                     sortBy = figure;
               });
  flags.text("json", "FILE", "write the table as JSON (-: standard output)",
             file);
}

void proteus::driver::visitCompareFlags(FlagVisitor visit) {
  visitFlagsOf<CompareArguments>(visit);
}

static Entry entryOf(StringRef strategy, const Job &job,
                     const Outcome &outcome) {
  Entry entry;
  entry.strategy = strategy.str();
  entry.seconds = outcome.figures.iterationSeconds;
  entry.samples = outcome.figures.samplesPerSecond;
  entry.tokensPerDevice = outcome.figures.tokensPerSecondPerDevice;
  entry.flopsPerDevice = outcome.figures.modelFlopsPerSecondPerDevice;
  entry.mfu = outcome.figures.mfu;
  entry.mfuFp8 = outcome.figures.mfuFp8;
  entry.hfu = outcome.figures.hfu;
  entry.shareOfOwnPeak = outcome.figures.shareOfOwnPeak;
  entry.needed = outcome.figures.memory.needed;
  entry.capacity = outcome.figures.memory.budget.capacity;
  std::vector<Cost> costs = costsOf(outcome);
  entry.limit = costs.empty() || costs.front().share < 0.01
                    ? "kernels"
                    : costs.front().name + " " +
                          fixed(costs.front().share * 100, 0) + " %";
  return entry;
}

/// Simulates the plans of `smallerPlans` until one of them fits. Returns the
/// label and the step time of this plan as text, or the statement that none
/// fits.
static std::string findSmaller(mlir::MLIRContext &context, const Job &job,
                               const Outcome &outcome) {
  for (const plan::ParallelPlan &smaller : smallerPlans(job, outcome)) {
    Job other = job;
    other.plan = smaller;
    Expected<Outcome> tried = run(context, other);
    if (!tried) {
      consumeError(tried.takeError());
      continue;
    }
    if (tried->figures.memory.fits())
      return tried->job.plan.label() + ": " +
             fixed(tried->figures.iterationSeconds * 1e3, 1) + " ms";
  }
  return "no plan that was tried fits";
}

static void writeComparison(raw_ostream &os, ArrayRef<Entry> entries) {
  json::Writer writer(os);
  writer.beginObject();
  writer.attribute("schema", "proteus-comparison/1");
  writer.key("strategies");
  writer.beginArray();
  auto number = [&](StringRef name, std::optional<double> value) {
    if (value)
      writer.attribute(name, *value);
    else
      writer.attributeNull(name);
  };
  for (const Entry &entry : entries) {
    bool ran = entry.error.empty();
    writer.beginObject();
    writer.attribute("strategy", entry.strategy);
    if (ran)
      writer.attributeNull("error");
    else
      writer.attribute("error", entry.error);
    number("iteration_time_s",
           ran ? std::optional<double>(entry.seconds) : std::nullopt);
    number("samples_per_s", entry.samples);
    number("tokens_per_s_per_device", entry.tokensPerDevice);
    number("model_flops_per_s_per_device", entry.flopsPerDevice);
    number("mfu", entry.mfu);
    number("mfu_fp8", entry.mfuFp8);
    number("hfu", entry.hfu);
    writer.attribute("needed_memory_bytes", entry.needed);
    writer.attribute("memory_capacity_bytes", entry.capacity);
    writer.attribute("fits", entry.fits());
    writer.attribute("limited_by", entry.limit);
    if (entry.instead.empty())
      writer.attributeNull("instead");
    else
      writer.attribute("instead", entry.instead);
    writer.endObject();
  }
  writer.endArray();
  writer.endObject();
}

static void printTable(raw_ostream &os, ArrayRef<Entry> entries) {
  Table table({"strategy", "limited by", "step (ms)", "samples/s",
               "tokens/s/GPU", "TFLOP/s/GPU", "MFU (%)", "HFU (%)",
               "memory (GB)", "fits"},
              /*leftColumns=*/2);
  for (const Entry &entry : entries) {
    if (!entry.error.empty())
      continue;
    auto percent = [](std::optional<double> share) {
      return share ? fixed(*share * 100, 1) : "-";
    };
    auto tera = [](std::optional<double> rate) {
      return rate ? fixed(*rate / 1e12, 1) : "-";
    };
    table.add({entry.strategy, entry.limit, fixed(entry.seconds * 1e3, 1),
               fixed(entry.samples, 2), fixed(entry.tokensPerDevice, 1),
               tera(entry.flopsPerDevice), percent(entry.mfu),
               percent(entry.hfu),
               fixed(static_cast<double>(entry.needed) / 1e9, 1) + " of " +
                   fixed(static_cast<double>(entry.capacity) / 1e9, 1),
               entry.fits() ? "yes" : "NO"});
  }
  table.print(os);
  for (const Entry &entry : entries)
    if (!entry.error.empty())
      os << "  " << printable(entry.strategy + ": " + entry.error) << "\n";
    else if (!entry.instead.empty())
      os << "  " << entry.strategy
         << " does not fit; alternative: " << entry.instead << "\n";
  for (const Entry &entry : entries)
    if (entry.shareOfOwnPeak.value_or(0) > 1)
      os << "  " << entry.strategy
         << ": the FLOP/s are above 100 % of the peak: kernels are faster than "
            "the peak; check the profile and the device\n";
}

/// Sorts strategies. Those that fit come first, then those that do not fit, and
/// then those that can't be simulated.
static void sortEntries(SortBy figure, std::vector<Entry> &entries) {
  // A smaller key is better.
  auto keyOf = [&](const Entry &e) {
    switch (figure) {
    case SortBy::Throughput:
      return -e.samples.value_or(0);
    case SortBy::Step:
      return e.seconds;
    case SortBy::Memory:
      return static_cast<double>(e.needed);
    case SortBy::MFU:
      return -e.mfu.value_or(0);
    }
    llvm_unreachable("unknown figure");
  };
  auto rank = [](const Entry &e) {
    return !e.error.empty() ? 2 : e.fits() ? 0 : 1;
  };
  llvm::sort(entries, [&](const Entry &a, const Entry &b) {
    return std::tuple(rank(a), keyOf(a), a.strategy) <
           std::tuple(rank(b), keyOf(b), b.strategy);
  });
}

int proteus::driver::compareCommand(ArrayRef<std::string> arguments) {
  CompareArguments given;
  Flags flags;
  given.declare(flags);
  std::vector<std::string> own, remarks;
  if (auto done = parseJob(flags, arguments, given.job, own, remarks))
    return *done;
  StringRef file = given.file;
  if (Error error = checkOutputs({file}, own))
    return fail(std::move(error));
  if (given.texts.empty())
    return fail(createStringError("no strategy is given; use --strategy \"tp=8 "
                                  "pp=4\", once per strategy"));
  for (const std::string &remark : remarks)
    printRemark(remark);

  std::unique_ptr<mlir::MLIRContext> context = createContext();
  std::vector<Entry> entries;
  Progress progress;
  for (const std::string &text : given.texts) {
    Job one = given.job;
    if (Error error = parsePlan(text, one.plan))
      return fail(std::move(error));
    progress.begin("comparing strategies", given.texts.size());
    progress.advance(entries.size());
    // Without words, the strategy is that of the other flags.
    std::string words = text.empty() ? "(the other flags alone)" : text;
    Expected<Outcome> outcome = run(*context, one);
    if (!outcome) {
      entries.emplace_back();
      entries.back().strategy = words;
      entries.back().error = toString(outcome.takeError());
      continue;
    }
    // Add the micro-batch if it was chosen, so that a row states its job.
    std::string label = words;
    if (!outcome->job.assumed.empty())
      label +=
          " (micro-batch=" + std::to_string(*outcome->job.plan.microBatch) +
          ")";
    entries.push_back(entryOf(label, outcome->job, *outcome));
    if (!entries.back().fits())
      entries.back().instead = findSmaller(*context, one, *outcome);
  }
  progress.end();
  sortEntries(given.sortBy, entries);
  if (!file.empty())
    if (Error error = writeFileAtomically(file, [&](raw_ostream &os) {
          writeComparison(os, entries);
          return Error::success();
        }))
      return fail(std::move(error));
  printTable(tableStream({file}), entries);
  bool anyRan = llvm::any_of(
      entries, [](const Entry &entry) { return entry.error.empty(); });
  return anyRan ? 0 : 1;
}
