//===- CompareCommand.cpp - proteus compare -------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"

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
  std::string strategy;
  std::string error; ///< reason why there are no figures, or empty
  double seconds = 0;
  std::optional<double> samples, tokensPerDevice, mfu;
  int64_t needed = 0, capacity = 0;
  std::string limit;
  /// The label and the step time of a smaller strategy that fits, or the
  /// statement that none was found. Empty if this strategy fits.
  std::string instead;

  bool fits() const { return error.empty() && needed <= capacity; }
};

} // namespace

static Entry entryOf(const Job &job, const Outcome &outcome) {
  Entry entry;
  entry.strategy = job.plan.label();
  entry.seconds = outcome.figures.iterationSeconds;
  entry.samples = outcome.figures.samplesPerSecond;
  entry.tokensPerDevice = outcome.figures.tokensPerSecondPerDevice;
  entry.mfu = outcome.figures.mfu;
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
    number("mfu", entry.mfu);
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
  Table table({"strategy", "limited by", "step (ms)", "tokens/s/GPU",
               "samples/s", "MFU (%)", "memory (GB)", "fits"},
              /*leftColumns=*/2);
  for (const Entry &entry : entries) {
    if (!entry.error.empty())
      continue;
    auto percent = [](std::optional<double> share) {
      return share ? fixed(*share * 100, 1) : "-";
    };
    table.add({entry.strategy, entry.limit, fixed(entry.seconds * 1e3, 1),
               fixed(entry.tokensPerDevice, 1), fixed(entry.samples, 2),
               percent(entry.mfu),
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
    if (entry.mfu.value_or(0) > 1)
      os << "  " << entry.strategy
         << ": the MFU is above 100 %: kernels are faster than the peak; check "
            "the profile and the device\n";
}

int proteus::driver::compareCommand(ArrayRef<std::string> arguments) {
  Job job;
  std::vector<std::string> texts;
  std::string file;
  Flags flags;
  addModelFlags(flags, job);
  addPlanFlags(flags, job.plan);
  flags.section("comparison");
  flags.value("strategy", "\"tp=8 pp=4\"",
              "flags of one strategy, without dashes; may be given again. The "
              "other flags apply to every strategy that does not set them",
              [&](StringRef text) -> Error {
                texts.push_back(text.str());
                return Error::success();
              });
  flags.text("json", "FILE", "write the table as JSON (-: standard output)",
             file);
  if (auto done = parseOnly(
          flags,
          "Compares strategies and lists the best first.\n\n"
          "  proteus compare --model llama3-70b --cluster dgx-h100 --gpus 128 "
          "--global-batch 256 \\\n      --strategy \"tp=8 pp=4 zero=1\" "
          "--strategy \"tp=8 pp=2 zero=1\" --strategy \"zero=3\"\n",
          arguments))
    return *done;
  if (Error error = checkOutputs({StringRef(file)}, arguments))
    return fail(std::move(error));
  if (texts.empty())
    return fail(createStringError("no strategy is given; use --strategy \"tp=8 "
                                  "pp=4\", once per strategy"));

  std::unique_ptr<mlir::MLIRContext> context = createContext();
  std::vector<Entry> entries;
  for (const std::string &text : texts) {
    Job one = job;
    if (Error error = parsePlan(text, one.plan))
      return fail(std::move(error));
    Expected<Outcome> outcome = run(*context, one);
    if (!outcome) {
      entries.emplace_back();
      entries.back().strategy = one.plan.label();
      entries.back().error = toString(outcome.takeError());
      continue;
    }
    entries.push_back(entryOf(outcome->job, *outcome));
    if (!entries.back().fits())
      entries.back().instead = findSmaller(*context, one, *outcome);
  }
  // Strategies that fit come first, then strategies that do not fit. Both
  // groups are sorted by step time. Strategies that can't be simulated come
  // last.
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    auto rank = [](const Entry &e) {
      return !e.error.empty() ? 2 : e.fits() ? 0 : 1;
    };
    return std::tuple(rank(a), a.seconds, a.strategy) <
           std::tuple(rank(b), b.seconds, b.strategy);
  });
  if (!file.empty())
    if (Error error = writeFileAtomically(file, [&](raw_ostream &os) {
          writeComparison(os, entries);
          return Error::success();
        }))
      return fail(std::move(error));
  printTable(tableStream({StringRef(file)}), entries);
  bool anyRan = llvm::any_of(
      entries, [](const Entry &entry) { return entry.error.empty(); });
  return anyRan ? 0 : 1;
}
