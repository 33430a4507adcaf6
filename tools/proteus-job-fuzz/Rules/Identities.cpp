//===- Identities.cpp - jobs with the same figures ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"
#include "Rules.h"

#include "Proteus/Plan/PlanFields.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::fuzz;

/// Returns a report without the job that it restates. Jobs in other words have
/// the same figures, but other origins of values.
static std::string withoutJob(StringRef report) {
  auto [before, rest] = report.split("\n  \"job\": {");
  return (before + rest.split("\n  }").second).str();
}

/// Returns the first line in which the figures of two reports differ.
static std::optional<Finding> compareReports(const Evaluated &base,
                                             const Evaluated &variant) {
  std::string figures = withoutJob(base.report);
  std::string others = withoutJob(variant.report);
  StringRef left = figures, right = others;
  while (left != right) {
    auto [a, restOfLeft] = left.split('\n');
    auto [b, restOfRight] = right.split('\n');
    if (a != b)
      return Finding{1, ("the report has '" + a.trim() +
                         "', that of the "
                         "variant '" +
                         b.trim() + "'")
                            .str()};
    left = restOfLeft;
    right = restOfRight;
  }
  return std::nullopt;
}

/// The same job a second time: no figure depends on an address, on the order of
/// a hash table or on memory that is not set.
static Rule repeated() {
  Rule rule;
  rule.name = "repeated";
  rule.derive = [](const JobCase &job, StringRef) -> std::optional<Pair> {
    return Pair{job, job};
  };
  // The evaluator would return the result of the base.
  rule.run = [](const JobCase &job, StringRef) { return evaluate(job); };
  rule.compare = compareReports;
  rule.mustRun = true;
  return rule;
}

/// The flags in the reverse order, and by their other names: a job is a set of
/// decisions.
static Rule reordered() {
  Rule rule;
  rule.name = "flag-order";
  rule.derive = [](const JobCase &job, StringRef) -> std::optional<Pair> {
    Pair pair{job, job};
    std::reverse(pair.variant.flags.begin(), pair.variant.flags.end());
    for (auto &[flag, value] : pair.variant.flags)
      if (const plan::Field *field = plan::findByFlag(flag))
        if (!field->aliases.empty())
          flag = field->aliases.back();
    return pair;
  };
  rule.compare = compareReports;
  rule.mustRun = true;
  return rule;
}

static FoldedRun runOf(const Evaluated &job) {
  FoldedRun run;
  run.workload = job.outcome->workload;
  run.result = job.outcome->result;
  return run;
}

/// All ranks, without replayed sections and skipped periods: folding changes no
/// figure of any rank.
static Rule folded() {
  Rule rule;
  rule.name = "folded";
  rule.derive = [](const JobCase &job, StringRef) -> std::optional<Pair> {
    // Larger jobs take too long.
    if (job.getInteger("gpus", 1) > 32)
      return std::nullopt;
    return Pair{job.with("fold", "none"), job.with("fold", "all")};
  };
  rule.compare = [](const Evaluated &base,
                    const Evaluated &variant) -> std::optional<Finding> {
    std::string difference = compare(runOf(base), runOf(variant));
    if (difference.empty())
      return std::nullopt;
    return Finding{1, difference};
  };
  rule.mustRun = true;
  return rule;
}

/// `proteus emit` prints the whole job: proteus-opt writes the same report for
/// it.
static Rule emitted() {
  Rule rule;
  rule.name = "emitted";
  rule.derive = [](const JobCase &job, StringRef) -> std::optional<Pair> {
    // The emitted module is that of the mean length. The driver takes the
    // memory from a second run.
    if (job.has("mean-tokens"))
      return std::nullopt;
    return Pair{job, job};
  };
  rule.run = evaluateEmitted;
  rule.compare = compareReports;
  rule.mustRun = true;
  return rule;
}

void proteus::fuzz::addIdentities(std::vector<Rule> &list) {
  list.push_back(repeated());
  list.push_back(reordered());
  list.push_back(folded());
  list.push_back(emitted());
}
