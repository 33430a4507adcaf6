//===- Rules.cpp - parts that rules share ---------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include "Proteus/Models/BuildModel.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::fuzz;

ArrayRef<Rule> proteus::fuzz::rules() {
  static const std::vector<Rule> list = [] {
    std::vector<Rule> all;
    addIdentities(all);
    addMemoryRules(all);
    addOverlapRules(all);
    addRateRules(all);
    return all;
  }();
  return list;
}

const Rule *proteus::fuzz::findRule(StringRef name) {
  for (const Rule &rule : rules())
    if (rule.name == name)
      return &rule;
  return nullptr;
}

/// Returns a violation if `variant` exceeds `base` by more than `tolerance`.
static std::optional<Finding> atMost(int64_t base, int64_t variant,
                                     double tolerance, StringRef figure,
                                     StringRef unit) {
  if (static_cast<double>(variant) <=
      static_cast<double>(base) * (1 + tolerance))
    return std::nullopt;
  Finding finding;
  finding.excess = base == 0 ? 1
                             : static_cast<double>(variant - base) /
                                   static_cast<double>(base);
  finding.text = formatv("{0} {1} {2}, in the variant {3} {2} (+{4:f3} %)",
                         figure, base, unit, variant, finding.excess * 100);
  return finding;
}

std::optional<Finding> proteus::fuzz::compareTimes(const Evaluated &base,
                                                   const Evaluated &variant,
                                                   double tolerance) {
  return atMost(base.getTime(), variant.getTime(), tolerance, "time", "ps");
}

/// Returns the time of kernels on the slowest device.
static int64_t kernelTime(Kernels kernels, const Evaluated &job) {
  const sim::SimulationResult &result = job.outcome->result;
  const sim::Breakdown &parts = result.classes[result.slowestClass()].breakdown;
  return kernels == Kernels::All ? parts.busy() : parts.optimizer;
}

std::optional<Finding>
proteus::fuzz::compareTimesWithout(Kernels kernels, const Evaluated &base,
                                   const Evaluated &variant, double tolerance) {
  int64_t longer = std::max<int64_t>(0, kernelTime(kernels, variant) -
                                            kernelTime(kernels, base));
  return atMost(base.getTime(), variant.getTime() - longer, tolerance,
                "time without longer kernels", "ps");
}

std::optional<Finding> proteus::fuzz::compareMemory(const Evaluated &base,
                                                    const Evaluated &variant) {
  return atMost(base.getMemory(), variant.getMemory(), 0, "memory", "bytes");
}

Rule proteus::fuzz::makeRule(const FlagRule &row) {
  Rule rule;
  rule.name = row.name;
  rule.derive = [row](const JobCase &job, StringRef) -> std::optional<Pair> {
    // The published Proteus has rules of its own.
    if (job.get("fidelity") == "paper" || (row.applies && !row.applies(job)))
      return std::nullopt;
    Pair pair{job, job};
    for (const auto &[flag, value] : parseCase(row.base).flags)
      pair.base.set(flag, value);
    for (const auto &[flag, value] : parseCase(row.variant).flags)
      pair.variant.set(flag, value);
    return pair;
  };
  if (row.figure == FlagRule::Memory)
    rule.compare = compareMemory;
  else
    rule.compare = [tolerance = row.tolerance](const Evaluated &base,
                                               const Evaluated &variant) {
      return compareTimes(base, variant, tolerance);
    };
  return rule;
}

/// Returns the dimensions of the model of a job; none if it has no such model.
static std::vector<std::pair<std::string, std::string>>
dimensionsOf(const JobCase &job) {
  models::ModelRequest request;
  request.model = job.get("model").str();
  for (const auto &[flag, value] : job.flags)
    if (flag == "set")
      request.overrides.push_back(value);
  Expected<models::ModelDescription> model = models::describe(request);
  if (!model) {
    consumeError(model.takeError());
    return {};
  }
  return {model->dimensions.begin(), model->dimensions.end()};
}

int64_t proteus::fuzz::getLayers(const JobCase &job) {
  int64_t layers = 0;
  for (const auto &[name, value] : dimensionsOf(job))
    if (name == "layers")
      StringRef(value).getAsInteger(10, layers);
  return layers;
}

bool proteus::fuzz::readsImages(const JobCase &job) {
  return llvm::any_of(dimensionsOf(job), [](const auto &dimension) {
    return dimension.first == "image";
  });
}

bool proteus::fuzz::keepsActivations(const JobCase &job) {
  return job.get("offload-activation") != "true";
}
bool proteus::fuzz::hasPlainStages(const JobCase &job) {
  return hasStages(job) && !job.has("vpp");
}
bool proteus::fuzz::hasReplicas(const JobCase &job) {
  return job.getReplicas() > 1;
}
bool proteus::fuzz::hasStages(const JobCase &job) {
  return job.getInteger("pp", 1) > 1;
}
bool proteus::fuzz::hasTensorRanks(const JobCase &job) {
  return job.getInteger("tp", 1) > 1;
}
