//===- Rates.cpp - higher rates of devices and links ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "ScaledCluster.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::fuzz;

namespace {
/// A rule that multiplies one kind of rates.
struct RateRule {
  const char *name;
  const char *rate; ///< as in `writeCluster`
  /// True for a theorem: flows do not share links, and kernels and
  /// communication do not slow each other. Tasks then have fixed times and
  /// start in a fixed order, so that the end of each task is a maximum of sums
  /// of these times. Files state the links of planning, and the library takes
  /// the faster of its algorithms.
  bool isExact;
};
} // namespace

static constexpr RateRule rows[] = {
    {"rate-compute", "compute", true},    {"rate-memory", "memory", true},
    {"rate-nvlink", "nvlink", true},      {"rate-pcie", "pcie", true},
    {"rate-network", "network", true},    {"rate-host", "host", true},
    {"shared-compute", "compute", false}, {"shared-links", "links", false},
};

/// Returns the name of the preset and the number of nodes that a job uses.
static std::pair<std::string, int64_t> clusterOf(const JobCase &job) {
  auto [name, nodes] = job.get("cluster").split(':');
  int64_t number = 1;
  if (!nodes.empty()) {
    nodes.getAsInteger(10, number);
    return {name.str(), number};
  }
  Expected<machine::Cluster> one = machine::parseClusterPreset(name);
  if (!one) {
    consumeError(one.takeError());
    return {"", 0};
  }
  int64_t perNode = one->devicesPerNode();
  number = std::max<int64_t>(1, job.getInteger("gpus", 1) / perNode);
  return {name.str(), number};
}

/// Returns a job on the file of its cluster, and on the file with other rates.
/// Returns nullopt if the cluster has no such rates.
static std::optional<Pair> scaledPair(const JobCase &job, StringRef rate,
                                      double factor, StringRef directory) {
  auto [preset, nodes] = clusterOf(job);
  // The rules of the published Proteus read only the links of planning.
  if (!machine::isClusterPreset(preset) || job.get("fidelity") == "paper")
    return std::nullopt;
  std::string base = cantFail(writeCluster(preset, nodes, "", 1, directory));
  std::string faster =
      cantFail(writeCluster(preset, nodes, rate, factor, directory));
  if (faster.empty())
    return std::nullopt;
  return Pair{job.with("cluster", base), job.with("cluster", faster)};
}

static Rule makeRateRule(const RateRule &row) {
  Rule rule;
  rule.name = row.name;
  rule.derive = [row](const JobCase &job,
                      StringRef directory) -> std::optional<Pair> {
    JobCase same =
        row.isExact ? job.with("share", "off").with("overlap", "off") : job;
    return scaledPair(same, row.rate, 2, directory);
  };
  rule.compare = [row](const Evaluated &base, const Evaluated &variant) {
    return compareTimes(base, variant, row.isExact ? 0 : anomaly);
  };
  return rule;
}

/// All links 16 times as fast: communication that a device waits for gets
/// shorter. One kind of links alone need not matter, if another kind on the
/// same routes is as slow.
static Rule fastLinks() {
  Rule rule;
  rule.name = "links-matter";
  rule.derive = [](const JobCase &job,
                   StringRef directory) -> std::optional<Pair> {
    // The launches of the host would hide shorter communication.
    return scaledPair(job.with("cuda-graphs", "true"), "links", 16, directory);
  };
  rule.compare = [](const Evaluated &base,
                    const Evaluated &variant) -> std::optional<Finding> {
    const sim::SimulationResult &result = base.outcome->result;
    const sim::Breakdown &parts =
        result.classes[result.slowestClass()].breakdown;
    // Less may be the latency of many small messages.
    if (5 * parts.exposedCommunication < base.getTime() ||
        variant.getTime() < base.getTime())
      return std::nullopt;
    return Finding{1, "links that are 16 times as fast save no time"};
  };
  return rule;
}

/// The peak rates of the datasheet are lower bounds of the fitted times, with
/// two exceptions. Fitted updates of many small parameters have the overhead of
/// a kernel only once, so the rule leaves updates out. Fitted convolutions in
/// fp32 may use Winograd's algorithm, which multiplies less than the peak rate
/// counts, so the rule leaves out images in fp32.
static Rule roofline() {
  Rule rule;
  rule.name = "rate-roofline";
  rule.derive = [](const JobCase &job, StringRef) -> std::optional<Pair> {
    if (job.get("fidelity") == "paper" ||
        (job.get("precision") == "fp32" && readsImages(job)))
      return std::nullopt;
    JobCase same = job.with("share", "off").with("overlap", "off");
    return Pair{same.with("kernels", "fitted"),
                same.with("kernels", "roofline")};
  };
  rule.compare = [](const Evaluated &base, const Evaluated &variant) {
    return compareTimesWithout(Kernels::Updates, base, variant,
                               /*tolerance=*/0.02);
  };
  return rule;
}

void proteus::fuzz::addRateRules(std::vector<Rule> &list) {
  for (const RateRule &row : rows)
    list.push_back(makeRateRule(row));
  list.push_back(fastLinks());
  list.push_back(roofline());
}
