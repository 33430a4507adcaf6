//===- ParityCauses.cpp - causes of deviations from the reference ---------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Reference/Parity/Parity.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace llvm;
using namespace proteus::parity;

namespace {

/// Correction of the collectives of this simulator for the known differences
/// from the reference, with the causes of deviations.
class Explanation {
public:
  Explanation(const ReferenceRun &run, ParityResult &result)
      : run(run), strategy(run.strategy), result(result) {
    result.expected = result.ours.collectives;
  }

  void explainCollectives();
  void explainTime(const Timeline &timeline);
  void explainMemory();

private:
  /// Adds `count` tasks and `bytes` to a kind of collective in `expected`.
  void add(StringRef kind, int64_t count, double bytes, StringRef cause);
  int64_t dim(StringRef name) const;
  void explainLoss();
  void explainRowBiases();
  void explainZero();

  const ReferenceRun &run;
  const ReferenceStrategy &strategy;
  ParityResult &result;
};

} // namespace

void Explanation::add(StringRef kind, int64_t count, double bytes,
                      StringRef cause) {
  CollectiveSum &sum = result.expected[kind.str()];
  sum.count += count;
  sum.megabytes += bytes * 1e-6;
  if (sum.count == 0)
    result.expected.erase(kind.str());
  if (!is_contained(result.collectiveCauses, cause))
    result.collectiveCauses.push_back(cause.str());
}

int64_t Explanation::dim(StringRef name) const {
  auto found = run.dims.find(name.str());
  int64_t value = 0;
  if (found == run.dims.end() ||
      StringRef(found->second).getAsInteger(10, value))
    return 0;
  return value;
}

/// Explains the loss over a split vocabulary. Proteus exchanges maxima, sums
/// and the logits of the labels per token; the reference exchanges the loss of
/// each sample.
void Explanation::explainLoss() {
  if (strategy.tp == 1)
    return;
  double tokens = static_cast<double>(run.batch * dim("seq"));
  add("all_reduce", -2 * strategy.dp,
      4.0 * static_cast<double>(run.batch) - 3 * 4 * tokens, "loss");
}

/// Explains the gradients of biases that follow a row-split layer. These biases
/// are equal on all ranks of tp. The reference sums their gradients over these
/// ranks too, in one task per stage.
void Explanation::explainRowBiases() {
  if (strategy.tp == 1)
    return;
  double biases = 4.0 * 2 * static_cast<double>(dim("layers") * dim("hidden"));
  double ours = strategy.dp > 1 ? biases * static_cast<double>(strategy.tp) : 0;
  // With ZeRO-2, Proteus reduces these gradients in separate tasks, one for
  // each rank of tp.
  int64_t tasks =
      strategy.zero >= 2 && strategy.dp > 1 ? strategy.tp * strategy.pp : 0;
  add("all_reduce/grad", strategy.pp - tasks, biases - ours, "B8");
}

void Explanation::explainZero() {
  if (strategy.zero == 0 || strategy.dp == 1)
    return;
  // Proteus updates biases of row-split layers whole; the reference gathers
  // them.
  double biases = 4.0 * 2 * static_cast<double>(dim("layers") * dim("hidden"));
  add("all_gather", strategy.zero == 3 ? strategy.tp : 0,
      biases * static_cast<double>(strategy.tp), "biases");
  if (strategy.zero == 3)
    add("all_gather", strategy.tp,
        4.0 * static_cast<double>(dim("vocab_padded") * dim("hidden")),
        "tied table");
  auto scatters = result.expected.find("reduce_scatter/grad");
  if (strategy.zero >= 2 && run.megatron && scatters != result.expected.end())
    add("reduce_scatter/grad", 0, scatters->second.megabytes * 1e6, "H5");
}

void Explanation::explainCollectives() {
  // `expected` does not cover two kinds of run: those with messages in place of
  // collectives, and those in which the reference lost a reduction (B8).
  if (!strategy.collectives)
    result.collectiveCauses.push_back("messages");
  bool lost = run.isTransformer() && strategy.kind == "pp" && strategy.pp == 1;
  if (lost)
    result.collectiveCauses.push_back("B8");
  result.comparesCollectives = strategy.collectives && !lost;
  if (!result.comparesCollectives || !run.isTransformer())
    return;
  explainLoss();
  explainRowBiases();
  explainZero();
}

/// Smallest share of a step that counts as a cause of a deviation.
static constexpr double noticeable = 0.01;

void Explanation::explainTime(const Timeline &timeline) {
  std::vector<std::string> &causes = result.timeCauses;
  if (run.shareBandwidth) {
    // The reference gives all groups of a round the best bandwidth of any of
    // them.
    if (timeline.unequalGroups)
      causes.push_back("B5");
    if (timeline.contended > noticeable)
      causes.push_back("B6");
  }
  // The reference lengthens reductions after the last kernel as if they
  // overlapped with kernels. With kind "mp" it runs lookups in the order in
  // which it discovers them, which decides the kernels that overlap with their
  // exchange.
  if (run.overlapFactor * timeline.exposedReduction > noticeable ||
      strategy.kind == "mp")
    causes.push_back("B7");
  if (!result.comparesCollectives)
    causes.push_back(result.collectiveCauses.front());
  if (is_contained(result.collectiveCauses, "H5"))
    causes.push_back("H5");
  if (strategy.zero == 3 && strategy.dp > 1)
    causes.push_back("prefetch");
}

void Explanation::explainMemory() {
  // The reference counts residual gradients several times. Memory of networks
  // without residuals differs by the buffers of buckets.
  bool residual = run.isTransformer() || run.model == "resnet50";
  result.memoryCauses.push_back(residual ? "B2" : "buckets");
}

void proteus::parity::explain(const ReferenceRun &run, const Timeline &timeline,
                              ParityResult &result) {
  Explanation explanation(run, result);
  explanation.explainCollectives();
  explanation.explainTime(timeline);
  explanation.explainMemory();
}

//===----------------------------------------------------------------------===//
// Verdicts
//===----------------------------------------------------------------------===//

std::optional<double>
proteus::parity::deviation(std::optional<double> ours,
                           std::optional<double> original) {
  if (!ours || !original || *original <= 0)
    return std::nullopt;
  return *ours / *original - 1;
}

using Sums = std::map<std::string, CollectiveSum>;

static bool haveSameCounts(const Sums &ours, const Sums &original) {
  return ours.size() == original.size() &&
         llvm::all_of(ours, [&](const auto &entry) {
           auto found = original.find(entry.first);
           return found != original.end() &&
                  found->second.count == entry.second.count;
         });
}

/// Half of the unit to which the reference rounds volumes, 1000 bytes.
static constexpr double roundedMegabytes = 0.0005;

static double worstVolumeOf(const Sums &ours, const Sums &original) {
  double worst = 0;
  for (auto &[kind, sum] : ours) {
    auto found = original.find(kind);
    if (found == original.end() || found->second.megabytes <= 0)
      continue;
    double beyond =
        std::max(0.0, std::abs(sum.megabytes - found->second.megabytes) -
                          roundedMegabytes);
    worst = std::max(worst, beyond / found->second.megabytes);
  }
  return worst;
}

ParityVerdict proteus::parity::judge(const ReferenceRun &run,
                                     const ParityResult &result) {
  ParityVerdict verdict;
  verdict.touched =
      llvm::any_of(result.timeCauses, [](const std::string &cause) {
        return cause.front() == 'B';
      });
  if (!run.original || !result.error.empty())
    return verdict;
  const ParityFigures &original = *run.original;
  verdict.sameKindsAndCounts =
      haveSameCounts(result.ours.collectives, original.collectives);
  verdict.explainedCounts =
      !result.comparesCollectives ||
      haveSameCounts(result.expected, original.collectives);
  if (result.comparesCollectives)
    verdict.worstVolume = worstVolumeOf(result.expected, original.collectives);
  verdict.compute =
      deviation(result.ours.computeMilliseconds, original.computeMilliseconds);
  verdict.time = deviation(result.ours.iterationMilliseconds,
                           original.iterationMilliseconds);
  verdict.memory = deviation(result.ours.memoryMiB, original.memoryMiB);
  return verdict;
}
