//===- Cases.cpp - measured runs as jobs ----------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Validation/Cases.h"

#include "CaseTranslation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::jobs;
using namespace proteus::validation;

/// Largest valid figure of a case. Larger values are mistakes.
static constexpr double most = 1e9;

bool proteus::validation::hasValue(const json::Reader &object, StringRef key) {
  return object.has(key) && !object[key].isNull();
}

std::optional<double> proteus::validation::numberOf(const json::Reader &object,
                                                    StringRef key) {
  if (!hasValue(object, key))
    return std::nullopt;
  return object[key].positive(most);
}

std::optional<int64_t> proteus::validation::countOf(const json::Reader &object,
                                                    StringRef key, int64_t min,
                                                    int64_t max) {
  if (!hasValue(object, key))
    return std::nullopt;
  return object[key].integer(min, max);
}

static std::optional<double> measuredMemory(const json::Reader &measured) {
  if (auto gib = numberOf(measured, "peak_mem_GiB_allocated"))
    return *gib * (int64_t(1) << 30);
  if (auto gb = numberOf(measured, "peak_mem_GB"))
    return *gb * 1e9;
  if (!hasValue(measured, "per_rank_max_allocated_MiB"))
    return std::nullopt;
  double most = 0;
  for (const json::Reader &rank :
       measured["per_rank_max_allocated_MiB"].elements())
    most = std::max(most, rank.nonNegative(::most));
  return most * (int64_t(1) << 20);
}

/// Returns the object under `key`. Records an error if the value is not an
/// object.
static json::Reader partOf(const json::Reader &entry, StringRef key) {
  json::Reader part = entry[key];
  if (entry.has(key) && !part.isObject())
    part.fail("expected an object");
  return part;
}

/// Returns the measured seconds of a step. If the case does not state them,
/// computes them from samples or tokens per second.
static std::optional<double> measuredSeconds(const json::Reader &entry,
                                             const json::Reader &measured,
                                             const Job &job) {
  if (auto seconds = numberOf(measured, "iteration_time_s"))
    return seconds;
  if (hasValue(entry, "derived"))
    if (auto seconds = numberOf(partOf(entry, "derived"), "iteration_time_s"))
      return seconds;
  std::optional<int64_t> samples = job.globalBatch;
  if (!samples && job.plan.dp && job.plan.accumulation)
    samples = *job.plan.dp * *job.plan.microBatch * *job.plan.accumulation;
  if (!samples)
    return std::nullopt;
  if (auto rate = numberOf(measured, "samples_per_s"))
    return *samples / *rate;
  std::optional<int64_t> seq = countOf(partOf(entry, "model"), "seq");
  if (!seq)
    return std::nullopt;
  double tokens = static_cast<double>(*samples) * static_cast<double>(*seq);
  if (auto rate = numberOf(measured, "tokens_per_s_total"))
    return tokens / *rate;
  if (auto rate = numberOf(measured, "tokens_per_s_per_gpu"); rate && job.gpus)
    return tokens / *rate / static_cast<double>(*job.gpus);
  return std::nullopt;
}

/// Sets the job of a case. Fails with the reason if the case can't be
/// translated.
static Error translate(const json::Reader &entry, Case &one, CaseNotes &notes) {
  json::Reader hardware = partOf(entry, "hardware"),
               strategy = partOf(entry, "strategy"),
               model = partOf(entry, "model");
  Expected<std::string> cluster =
      clusterOfCase(hardware, gpusOfCase(strategy, hardware), notes);
  if (!cluster)
    return cluster.takeError();
  one.job.clusterText = *cluster;
  if (Error error = strategyOfCase(strategy, hardware, one.job, notes))
    return error;
  stackOfCase(strategy, hardware, one.job, notes);
  if (Error error = modelOfCase(model, one.job, notes))
    return error;
  // An assumed network makes the time of collectives uncertain. At a known site
  // collectives were measured, so they have no additional error.
  constexpr double errorOfAssumedNetwork = 0.5;
  if (notes.isNetworkAssumed && one.job.site.empty())
    one.job.collectiveError = errorOfAssumedNetwork;
  return Error::success();
}

static Case readCase(const json::Reader &entry) {
  Case one;
  one.id = entry["id"].nonEmptyString();
  one.group = StringRef(one.id).split('-').first.str();
  if (entry.has("quality"))
    one.quality = entry["quality"].string();
  json::Reader measured = partOf(entry, "measured");
  one.peakMemoryBytes = measuredMemory(measured);
  one.ranOutOfMemory = hasValue(measured, "oom") && measured["oom"].boolean();
  CaseNotes notes;
  if (Error error = translate(entry, one, notes))
    one.unsupported = toString(std::move(error));
  one.device = std::move(notes.device);
  one.assumed = std::move(notes.assumed);
  one.iterationSeconds = measuredSeconds(entry, measured, one.job);
  return one;
}

Expected<std::vector<Case>> proteus::validation::readCases(StringRef text,
                                                           StringRef source) {
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  json::Reader root = document->root();
  if (root.isObject())
    root = root["cases"];
  std::vector<Case> cases;
  StringSet<> ids;
  size_t mistaken = 0;
  std::string firstMistake;
  for (const json::Reader &entry : root.elements()) {
    cases.push_back(readCase(entry));
    Case &one = cases.back();
    // Reading fails if an entry has no id or the id of an earlier entry. It
    // also fails if all entries violate the format: the text is then not a file
    // of cases, and the first error is returned. Any other violation makes only
    // its own case unsupported.
    bool isNamed = !one.id.empty();
    if (isNamed && !ids.insert(one.id).second) {
      llvm::consumeError(document->takeError());
      entry["id"].fail("a second case has the id '" + one.id + "'");
      return document->takeError();
    }
    if (Error error = document->takeError()) {
      if (!isNamed)
        return std::move(error);
      one.unsupported = toString(std::move(error));
      if (firstMistake.empty())
        firstMistake = one.unsupported;
      ++mistaken;
    }
  }
  if (Error error = document->takeError())
    return std::move(error);
  if (mistaken > 0 && mistaken == cases.size())
    return createStringError(firstMistake);
  return cases;
}
