//===- Cases.cpp - measured runs as jobs ----------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Driver/Cases.h"

#include "CaseTranslation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>
#include <numeric>

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;

/// More seconds, GB, ... than a step has.
static constexpr double most = 1e9;
static constexpr int64_t mostCount = 1'000'000'000;

/// Whether a case says something about `key`. What it says is then read, and
/// refused if it makes no sense.
static bool says(const json::Reader &object, StringRef key) {
  return object.has(key) && !object[key].isNull();
}

static std::optional<double> numberOf(const json::Reader &object,
                                      StringRef key) {
  if (!says(object, key))
    return std::nullopt;
  return object[key].positive(most);
}

static std::optional<int64_t> countOf(const json::Reader &object, StringRef key,
                                      int64_t min = 1,
                                      int64_t max = mostCount) {
  if (!says(object, key))
    return std::nullopt;
  return object[key].integer(min, max);
}

static bool isTrue(const json::Reader &object, StringRef key) {
  return says(object, key) && object[key].boolean();
}

/// fp16, bf16, amp_bf16, TF32, AMP, FP32+XLA, ...
static Expected<std::string> precisionOf(StringRef words) {
  std::string lower = words.lower();
  StringRef text = lower;
  if (text.contains("fp8"))
    return "fp8";
  if (text.contains("bf16"))
    return "bf16";
  if (text.contains("tf32"))
    return "tf32";
  if (text.contains("fp16") || text.starts_with("amp"))
    return "fp16";
  if (text.contains("fp32"))
    return "fp32";
  return createStringError("precision '" + words + "' is not known");
}

/// "1f1b", "1F1B (DeepSpeed pipe)", "interleaved 1F1B", "AFAB", ...; chunks of
/// stages are interleaved, whatever the order is called.
static Error setSchedule(const json::Reader &s, Strategy &strategy) {
  std::string words = says(s, "schedule") ? s["schedule"].string() : "none";
  std::string lower = StringRef(words).lower();
  StringRef order = lower;
  if (order.contains("interleav"))
    strategy.schedule = "interleaved";
  else if (order.contains("zero-bubble") || order.contains("zero bubble"))
    strategy.schedule = "zero-bubble";
  else if (order.contains("gpipe") || order.contains("afab") ||
           order.contains("all-forward-all-backward"))
    strategy.schedule = "gpipe";
  else if (order.contains("1f1b"))
    strategy.schedule = "1f1b";
  // Without a pipeline there is no order to state.
  else if (order != "none")
    return createStringError("schedule '" + words + "' is not known");
  if (strategy.virtualStages > 1 && strategy.schedule == "1f1b")
    strategy.schedule = "interleaved";
  if (strategy.pp == 1)
    strategy.virtualStages = 1;
  return Error::success();
}

/// Batch sizes, degrees and what the framework does by default.
static Error setStrategy(const json::Reader &s, const json::Reader &hardware,
                         Job &job) {
  Strategy &strategy = job.strategy;
  auto degree = [&](StringRef key) { return countOf(s, key).value_or(1); };
  job.gpus = hardware["gpus"].integer(1, mostCount);
  strategy.tp = degree("tp");
  strategy.pp = degree("pp");
  strategy.cp = degree("cp");
  strategy.ep = degree("ep");
  strategy.virtualStages = degree("vpp");
  strategy.dp = degree("dp");
  strategy.zero = countOf(s, "zero", 0, 3).value_or(0);
  strategy.sequenceParallel = isTrue(s, "sequence_parallel") && strategy.tp > 1;
  std::optional<int64_t> micro = countOf(s, "micro_batch");
  std::optional<int64_t> steps = countOf(s, "num_microbatches");
  if (!steps)
    steps = countOf(s, "grad_accum");
  job.globalBatch = countOf(s, "global_batch");
  if (!micro && job.globalBatch)
    micro = *job.globalBatch / (*strategy.dp * steps.value_or(1));
  if (!micro || *micro == 0)
    return createStringError("it does not say how large a micro-batch is");
  strategy.microBatch = *micro;
  if (!job.globalBatch)
    strategy.accumulation = steps.value_or(1);
  if (strategy.cp > 1)
    strategy.contextKind = "ring";
  std::string words = "none";
  // true: layers are recomputed.
  if (says(s, "recompute"))
    words = s["recompute"].text() == "true"    ? "full"
            : s["recompute"].text() == "false" ? "none"
                                               : s["recompute"].string();
  StringRef recompute = words;
  for (StringRef known : {"full", "selective", "none"})
    if (recompute.starts_with(known))
      strategy.recompute = known.str();
  if (!recompute.starts_with(strategy.recompute))
    return createStringError("recompute '" + words + "' is not known");
  if (Error error = setSchedule(s, strategy))
    return error;
  if (std::optional<double> bucket = numberOf(s, "ddp_bucket_mb"))
    strategy.bucketSize = static_cast<int64_t>(*bucket * 1024 * 1024);
  auto decide = [&](StringRef key, std::optional<bool> &target) {
    if (says(s, key))
      target = isTrue(s, key);
  };
  decide("overlap_grad_reduce", strategy.overlapGradients);
  decide("overlap_param_gather", strategy.overlapParameters);
  decide("p2p_overlap", strategy.overlapMessages);
  // Without it products wait for whole collectives, as they do by default.
  if (isTrue(s, "tp_comm_overlap"))
    strategy.tensorOverlap = "chunked";
  if (says(s, "tensor_overlap")) {
    strategy.tensorOverlap = s["tensor_overlap"].string();
    if (!llvm::is_contained({"none", "async", "chunked"},
                            strategy.tensorOverlap))
      return createStringError("tensor_overlap '" + strategy.tensorOverlap +
                               "' is not known: none, async or chunked");
  }
  // "all dp ranks" is the default.
  if (says(s, "zero_group") && !s["zero_group"].isString())
    strategy.zeroGroup = countOf(s, "zero_group");
  decide("scatter_messages", strategy.scatterMessages);
  if (says(s, "stage_partition")) {
    strategy.stagePartition = s["stage_partition"].string();
    if (!llvm::is_contained({"layers", "ends", "divisible", "work"},
                            strategy.stagePartition))
      return createStringError(
          "stage_partition '" + strategy.stagePartition +
          "' is not known: layers, ends, divisible or work");
  }
  if (isTrue(s, "cpu_offload"))
    strategy.offloadWeight = strategy.offloadState = true;
  Expected<std::string> precision = precisionOf(s["precision"].string());
  if (!precision)
    return precision.takeError();
  job.precision = *precision;
  if (StringRef(s["precision"].string()).contains("fp32 grad"))
    job.gradientType = "f32";
  if (s.has("variable_update") &&
      StringRef(s["variable_update"].string())
          .starts_with("parameter_server") &&
      *strategy.dp > 1)
    return createStringError("parameter servers are not modelled");
  if (s.has("optimizer") && s["optimizer"].string() == "sgd")
    job.optimizer = "sgd";
  if (s.has("strategy") &&
      StringRef(s["strategy"].string()).contains("table-wise"))
    strategy.placeTables = true;
  return Error::success();
}

static std::optional<double> measuredMemory(const json::Reader &measured) {
  if (auto gib = numberOf(measured, "peak_mem_GiB_allocated"))
    return *gib * (int64_t(1) << 30);
  if (auto gb = numberOf(measured, "peak_mem_GB"))
    return *gb * 1e9;
  return std::nullopt;
}

/// A part of a case, which must be an object.
static json::Reader partOf(const json::Reader &entry, StringRef key) {
  json::Reader part = entry[key];
  if (entry.has(key) && !part.isObject())
    part.fail("expected an object");
  return part;
}

static Case readCase(const json::Reader &entry) {
  Case one;
  one.id = entry["id"].nonEmptyString();
  one.group = StringRef(one.id).split('-').first.str();
  if (entry.has("quality"))
    one.quality = entry["quality"].string();
  json::Reader measured = partOf(entry, "measured");
  one.iterationSeconds = numberOf(measured, "iteration_time_s");
  if (says(entry, "derived")) {
    auto derived = numberOf(partOf(entry, "derived"), "iteration_time_s");
    if (!one.iterationSeconds)
      one.iterationSeconds = derived;
  }
  one.peakMemoryBytes = measuredMemory(measured);
  auto refuse = [&](Error error) {
    one.unsupported = toString(std::move(error));
    return one;
  };
  Expected<std::string> cluster = clusterOfCase(entry["hardware"]);
  if (!cluster)
    return refuse(cluster.takeError());
  one.job.clusterText = *cluster;
  if (Error error =
          setStrategy(partOf(entry, "strategy"), entry["hardware"], one.job))
    return refuse(std::move(error));
  stackOfCase(entry["strategy"], entry["hardware"], one.job);
  if (Error error = modelOfCase(entry["model"], one.job))
    return refuse(std::move(error));
  return one;
}

Expected<std::vector<Case>> proteus::driver::readCases(StringRef text,
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
    // Without an id it is no case; other mistakes are its own, but in a file of
    // something else the first says enough.
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

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

std::optional<double> proteus::driver::errorOf(std::optional<double> predicted,
                                               std::optional<double> measured) {
  if (!predicted || !measured || *measured <= 0)
    return std::nullopt;
  return *predicted / *measured - 1;
}

/// Ranks from 1; equal values share the mean of theirs.
static std::vector<double> ranksOf(ArrayRef<double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t j = i;
    while (j < order.size() && values[order[j]] == values[order[i]])
      ++j;
    for (size_t k = i; k < j; ++k)
      ranks[order[k]] = (i + 1 + j) / 2.0;
    i = j;
  }
  return ranks;
}

static std::optional<double> spearmanOf(ArrayRef<double> a,
                                        ArrayRef<double> b) {
  if (a.size() < 3)
    return std::nullopt;
  std::vector<double> x = ranksOf(a), y = ranksOf(b);
  double mean = (a.size() + 1) / 2.0, xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (xx == 0 || yy == 0)
    return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

GroupScore proteus::driver::scoreOf(StringRef group,
                                    ArrayRef<const Case *> cases,
                                    ArrayRef<const CaseResult *> results) {
  GroupScore score;
  score.group = group.str();
  std::vector<double> errors, memory, predicted, measured;
  for (auto [one, result] : llvm::zip(cases, results)) {
    ++score.count;
    score.supported += result->supported;
    if (auto error = errorOf(result->seconds, one->iterationSeconds)) {
      errors.push_back(*error);
      predicted.push_back(*result->seconds);
      measured.push_back(*one->iterationSeconds);
    }
    if (auto error = errorOf(result->peakMemoryBytes, one->peakMemoryBytes))
      memory.push_back(std::abs(*error));
  }
  score.scored = errors.size();
  auto mean = [](ArrayRef<double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / values.size();
  };
  if (!errors.empty()) {
    score.bias = mean(errors);
    score.worst =
        *std::max_element(errors.begin(), errors.end(), [](double a, double b) {
          return std::abs(a) < std::abs(b);
        });
    for (double &error : errors)
      error = std::abs(error);
    score.mae = mean(errors);
    score.spearman = spearmanOf(predicted, measured);
  }
  if (!memory.empty())
    score.memoryMae = mean(memory);
  return score;
}
