//===- ValidateCommand.cpp - proteus validate -----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"
#include "Progress.h"

#include "Proteus/Driver/Commands.h"
#include "Proteus/Driver/Explain.h"
#include "Proteus/Jobs/RunJob.h"
#include "Proteus/Support/File.h"
#include "Proteus/Support/JSON.h"
#include "Proteus/Support/Printable.h"
#include "Proteus/Support/Table.h"
#include "Proteus/Validation/Cases.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <thread>

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;
using namespace proteus::jobs;
using namespace proteus::validation;

/// Returns the predicted memory in bytes. It is the kind of memory that users
/// of the case's stack report: allocated tensors, reserved memory, or all used
/// memory of the device.
static double reportedMemory(const Case &one, const Outcome &outcome) {
  Expected<machine::Stack> stack = stackOf(one.job);
  auto reported =
      stack ? stack->reportedMemory : plan::ReportedMemory::Allocated;
  if (!stack)
    consumeError(stack.takeError());
  if (reported == plan::ReportedMemory::Allocated)
    return static_cast<double>(outcome.figures.peakMemoryBytes);
  // Published figures of reserved memory and of all used memory come from the
  // log of the framework, which the first rank writes. So use the class of this
  // rank.
  const sim::ClassResult &first = outcome.result.classes.front();
  if (reported == plan::ReportedMemory::Reserved)
    return static_cast<double>(first.allocator.reserved);
  return static_cast<double>(first.budget.frameworkReserve +
                             first.budget.communicationLibrary +
                             first.allocator.reserved);
}

static CaseResult simulateCase(mlir::MLIRContext &context, const Case &one) {
  CaseResult result;
  if (!one.unsupported.empty()) {
    result.reason = one.unsupported;
    return result;
  }
  Expected<Outcome> outcome = run(context, one.job);
  if (!outcome) {
    result.reason = toString(outcome.takeError());
    return result;
  }
  result.supported = true;
  result.seconds = outcome->figures.iterationSeconds;
  result.peakMemoryBytes = reportedMemory(one, *outcome);
  result.fits = outcome->figures.memory.fits();
  result.interval = sim::intervalOf(outcome->workload, outcome->result);
  return result;
}

/// Simulates all cases on `jobs` threads. Returns the results in the order of
/// the cases.
static std::vector<CaseResult> simulateAll(ArrayRef<Case> cases,
                                           unsigned jobs) {
  std::vector<CaseResult> results(cases.size());
  std::atomic<size_t> next = 0, done = 0;
  Progress progress;
  progress.begin("simulating cases", cases.size());
  auto work = [&] {
    std::unique_ptr<mlir::MLIRContext> context = createContext();
    for (size_t i = next++; i < cases.size(); i = next++) {
      results[i] = simulateCase(*context, cases[i]);
      // A context keeps the types and attributes of all its modules. Replace it
      // from time to time to free the types and attributes of finished cases.
      if (i % 16 == 15)
        context = createContext();
      progress.advance(++done);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < jobs; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

static void writeScores(raw_ostream &os, ArrayRef<Case> cases,
                        ArrayRef<CaseResult> results,
                        ArrayRef<GroupScore> scores) {
  json::Writer writer(os);
  auto number = [&](StringRef name, std::optional<double> value) {
    if (value)
      writer.attribute(name, *value);
    else
      writer.attributeNull(name);
  };
  writer.beginObject();
  writer.key("cases");
  writer.beginArray();
  for (auto [one, result] : llvm::zip(cases, results)) {
    writer.beginObject();
    writer.attribute("id", one.id);
    writer.attribute("device", one.device);
    writer.attribute("supported", result.supported);
    if (result.supported)
      writer.attributeNull("reason");
    else
      writer.attribute("reason", result.reason);
    number("predicted_iteration_time_s", result.seconds);
    number("measured_iteration_time_s", one.iterationSeconds);
    number("error", errorOf(result.seconds, one.iterationSeconds));
    number("predicted_peak_memory_bytes", result.peakMemoryBytes);
    number("measured_peak_memory_bytes", one.peakMemoryBytes);
    if (result.supported)
      writer.attribute("fits", result.fits);
    else
      writer.attributeNull("fits");
    writer.attribute("measured_oom", one.ranOutOfMemory);
    writer.key("assumed");
    writer.beginArray();
    for (const std::string &assumption : one.assumed)
      writer.value(assumption);
    writer.endArray();
    if (result.interval) {
      writer.key("uncertainty");
      writer.beginObject();
      writer.attribute("low_s", result.interval->lowSeconds);
      writer.attribute("high_s", result.interval->highSeconds);
      writer.endObject();
    } else {
      writer.attributeNull("uncertainty");
    }
    writer.endObject();
  }
  writer.endArray();
  writer.key("groups");
  writer.beginArray();
  for (const GroupScore &score : scores) {
    writer.beginObject();
    writer.attribute("group", score.group);
    writer.attribute("count", score.count);
    writer.attribute("supported", score.supported);
    number("mae", score.mae);
    number("bias", score.bias);
    number("worst", score.worst);
    number("spearman", score.spearman);
    number("memory_mae", score.memoryMae);
    writer.endObject();
  }
  writer.endArray();
  writer.endObject();
}

static void printScores(raw_ostream &os, ArrayRef<GroupScore> scores) {
  auto percent = [](std::optional<double> value) {
    return value ? fixed(*value * 100, 1) : "-";
  };
  Table table({"group", "cases", "simulated", "with a time",
               "mean abs. error (%)", "bias (%)", "worst (%)", "Spearman",
               "memory error (%)"});
  for (const GroupScore &score : scores)
    table.add({score.group, std::to_string(score.count),
               std::to_string(score.supported), std::to_string(score.scored),
               percent(score.mae), percent(score.bias), percent(score.worst),
               fixed(score.spearman, 3), percent(score.memoryMae)});
  table.print(os);
}

/// Prints each text with its number of occurrences, the most frequent first.
static void printCounts(raw_ostream &os, StringRef title,
                        ArrayRef<StringRef> texts) {
  MapVector<StringRef, unsigned> counts;
  for (StringRef text : texts)
    ++counts[text];
  if (counts.empty())
    return;
  auto list = counts.takeVector();
  llvm::sort(list, [](const auto &a, const auto &b) {
    return std::pair(b.second, a.first) < std::pair(a.second, b.first);
  });
  os << "\n" << title << "\n";
  for (auto [text, count] : list)
    os << "  " << count << ": " << printable(text) << "\n";
}

/// Prints how many cases are predicted not to fit into memory: first among the
/// cases that ran, then among the cases that ran out of memory.
static void printMemory(raw_ostream &os, ArrayRef<Case> cases,
                        ArrayRef<CaseResult> results) {
  unsigned ran = 0, refused = 0, failed = 0, foreseen = 0;
  for (auto [one, result] : llvm::zip(cases, results)) {
    if (!result.supported)
      continue;
    (one.ranOutOfMemory ? failed : ran) += 1;
    if (!result.fits)
      (one.ranOutOfMemory ? foreseen : refused) += 1;
  }
  os << "\nmemory\n  " << refused << " of " << ran
     << " that ran are predicted not to fit\n";
  if (failed > 0)
    os << "  " << foreseen << " of " << failed
       << " that ran out of memory are predicted not to fit\n";
}

static int explain(ArrayRef<Case> cases, StringRef id) {
  const Case *one =
      llvm::find_if(cases, [&](const Case &other) { return other.id == id; });
  if (one == cases.end())
    return fail(createStringError("there is no case '" + id + "'"));
  if (!one->unsupported.empty())
    return fail(createStringError("case '" + id + "': " + one->unsupported));
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  Expected<Outcome> outcome = run(*context, one->job);
  if (!outcome)
    return fail(outcome.takeError());
  explainCase(outs(), *one, *outcome);
  return 0;
}

namespace {
/// A device and its sustained share: the fraction of the rate of matrix kernels
/// that the device reaches under constant load. The share is the text of a
/// number from 0 to 1.
struct SustainedShare {
  std::string device;
  std::string share;
};
} // namespace

static Expected<SustainedShare> parseSustained(StringRef text) {
  auto [device, share] = text.split('=');
  double value = 0;
  if (device.empty() || share.getAsDouble(value) || !(value > 0 && value <= 1))
    return createStringError("expected DEVICE=SHARE with a share above 0 and "
                             "up to 1, got '" +
                             text + "'");
  return SustainedShare{device.str(), formatv("{0:e12}", value)};
}

/// Sets the sustained share of a device in all cases that run on the device.
/// Replaces the name of the device in the cluster text that `clusterOfCase`
/// wrote. Leaves out cases with another memory size than that of the device,
/// because their text describes the device differently. Fails if no text
/// contains the device.
static Error apply(const SustainedShare &share, std::vector<Case> &cases) {
  std::string named = "device = \"" + share.device + "\"";
  bool isUsed = false;
  for (Case &one : cases) {
    std::string &cluster = one.job.clusterText;
    size_t at = cluster.find(named);
    if (at == std::string::npos)
      continue;
    isUsed = true;
    cluster.replace(at, named.size(),
                    "device = {like = \"" + share.device +
                        "\", sustained = " + share.share + "}");
  }
  return isUsed ? Error::success()
                : createStringError("--sustained: no case runs on '" +
                                    share.device + "'");
}

namespace {
struct ValidateArguments {
  std::string file, only, id, stack, site, where, explained;
  std::vector<SustainedShare> shares;
  std::vector<std::string> profiles;
  int64_t jobs = std::max<int64_t>(1, std::thread::hardware_concurrency());
  bool byQuality = false;

  void declare(Flags &flags);
};
} // namespace

void ValidateArguments::declare(Flags &flags) {
  flags.about("Simulates measured runs and compares.\n\n"
              "  proteus validate validation/cases.json --json result.json\n");
  flags.section("validation");
  flags.text("json", "FILE",
             "write all cases and groups as JSON (-: standard output)", file);
  flags.text("group", "KEY", "only the cases whose id begins with KEY-", only);
  flags.text("id", "ID", "only this case", id);
  flags.text("stack", "NAME|FILE",
             "this stack for all cases instead of their own", stack);
  flags.text("site", "NAME|FILE",
             "this site for all cases instead of their own (none: no site)",
             site);
  flags.value("sustained", "DEVICE=SHARE",
              "this share of the rate of matrix kernels under constant load "
              "for cases on this device; may be given again, and "
              "the last one counts for each device",
              [this](StringRef text) -> Error {
                Expected<SustainedShare> share = parseSustained(text);
                if (!share)
                  return share.takeError();
                llvm::erase_if(shares, [&](const SustainedShare &earlier) {
                  return earlier.device == share->device;
                });
                shares.push_back(*share);
                return Error::success();
              });
  flags.value("profile", "FILE",
              "measured kernels for all cases (docs/profiles.md); may be given "
              "again",
              [this](StringRef name) -> Error {
                profiles.push_back(name.str());
                return Error::success();
              });
  flags.text("explain", "ID",
             "breakdown of the time of this case, and the factor on each "
             "mechanism that would meet the measurement",
             explained);
  flags.text("only-where", "NAME",
             "only cases with this stack or this site; --stack and --site "
             "apply to them",
             where);
  flags.flag("quality", "a table per group and quality", byQuality);
  flags.integer("jobs", "threads", jobs, 1, 256);
}

void proteus::driver::visitValidateFlags(FlagVisitor visit) {
  visitFlagsOf<ValidateArguments>(visit);
}

int proteus::driver::validateCommand(ArrayRef<std::string> arguments) {
  ValidateArguments given;
  const auto &[file, only, id, stack, site, where, explained, shares, profiles,
               jobs, byQuality] = given;
  Flags flags;
  given.declare(flags);
  if (printedHelp(flags, arguments))
    return 0;
  Expected<std::vector<std::string>> rest = flags.parse(arguments);
  if (!rest)
    return fail(rest.takeError());
  if (rest->size() != 1)
    return fail(createStringError(
        "expected one file of cases: proteus validate CASES.json"));
  if (Error error = checkOutputs({StringRef(file)}, arguments))
    return fail(std::move(error));
  Expected<std::string> text = readInput(rest->front());
  if (!text)
    return fail(text.takeError());
  Expected<std::vector<Case>> cases = readCases(*text, rest->front());
  if (!cases)
    return fail(cases.takeError());
  llvm::erase_if(*cases, [&only = only, &id = id](const Case &one) {
    return (!only.empty() && one.group != only) ||
           (!id.empty() && one.id != id);
  });
  if (!where.empty())
    llvm::erase_if(*cases, [&where = where](const Case &one) {
      return one.job.stack != where && one.job.site != where;
    });
  for (Case &one : *cases) {
    one.job.profiles = profiles;
    if (!stack.empty())
      one.job.stack = stack;
    if (!site.empty())
      one.job.site = site == "none" ? "" : site;
  }
  if (cases->empty())
    return fail(createStringError("no case is left to simulate"));
  for (const SustainedShare &share : shares)
    if (Error error = apply(share, *cases))
      return fail(std::move(error));

  if (!explained.empty())
    return explain(*cases, explained);
  std::vector<CaseResult> results = simulateAll(*cases, jobs);
  MapVector<StringRef, std::pair<std::vector<const Case *>,
                                 std::vector<const CaseResult *>>>
      groups;
  std::vector<std::string> names;
  names.reserve(cases->size());
  for (auto [one, result] : llvm::zip(*cases, results)) {
    names.push_back(byQuality ? one.group + " " + one.quality : one.group);
    auto &group = groups[names.back()];
    group.first.push_back(&one);
    group.second.push_back(&result);
  }
  std::vector<GroupScore> scores;
  for (auto &[name, members] : groups)
    scores.push_back(scoreOf(name, members.first, members.second));
  if (!file.empty())
    if (Error error = writeFileAtomically(file, [&](raw_ostream &os) {
          writeScores(os, *cases, results, scores);
          return Error::success();
        }))
      return fail(std::move(error));
  raw_ostream &os = tableStream({StringRef(file)});
  printScores(os, scores);
  printMemory(os, *cases, results);
  std::vector<StringRef> assumed, reasons;
  for (auto [one, result] : llvm::zip(*cases, results)) {
    if (result.supported)
      llvm::append_range(assumed, one.assumed);
    else
      reasons.push_back(result.reason);
  }
  printCounts(os, "assumed", assumed);
  printCounts(os, "not simulated", reasons);
  return 0;
}
