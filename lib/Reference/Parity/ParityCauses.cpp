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

/// Corrects the collectives of this simulator for the known differences from
/// the reference, and collects the causes of deviations.
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
  /// Adds `count` collectives and `bytes` to the kind `kind` in `expected`, and
  /// `cause` to the causes. `count` and `bytes` may be negative. Removes the
  /// kind if its count becomes 0.
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

/// Corrects for the loss over a split vocabulary. For each token, this
/// simulator exchanges maxima, sums and the logits of the labels. The reference
/// exchanges only the loss of each sample.
void Explanation::explainLoss() {
  if (strategy.tp == 1)
    return;
  double tokens = static_cast<double>(run.batch * dim("seq"));
  add("all_reduce", -2 * strategy.dp,
      4.0 * static_cast<double>(run.batch) - 3 * 4 * tokens, "loss");
}

/// Corrects for the gradients of the biases of row-split linears. All ranks of
/// tp hold these biases whole. The reference also sums their gradients over the
/// ranks of tp, in one collective per stage.
void Explanation::explainRowBiases() {
  if (strategy.tp == 1)
    return;
  double biases = 4.0 * 2 * static_cast<double>(dim("layers") * dim("hidden"));
  double ours = strategy.dp > 1 ? biases * static_cast<double>(strategy.tp) : 0;
  // With ZeRO-2 and ZeRO-3, this simulator reduces these gradients in separate
  // collectives, one for each rank of tp.
  int64_t tasks =
      strategy.zero >= 2 && strategy.dp > 1 ? strategy.tp * strategy.pp : 0;
  add("all_reduce/grad", strategy.pp - tasks, biases - ours, "B8");
}

void Explanation::explainZero() {
  if (strategy.zero == 0 || strategy.dp == 1)
    return;
  // In this simulator, every rank updates the biases of row-split linears
  // whole. In the reference, ranks update parts of them and gather the results.
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
  // `expected` can't be computed for two kinds of runs: runs with messages
  // instead of collectives, and runs in which the reference lost a gradient
  // reduction (defect B8 in docs/reference.md).
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

/// Effects above this fraction of a step are reported as causes of deviations.
static constexpr double noticeable = 0.01;

void Explanation::explainTime(const Timeline &timeline) {
  std::vector<std::string> &causes = result.timeCauses;
  if (run.shareBandwidth) {
    // The reference gives all groups that start together the best bandwidth of
    // any of them.
    if (timeline.unequalGroups)
      causes.push_back("B5");
    if (timeline.contended > noticeable)
      causes.push_back("B6");
  }
  // The reference lengthens reductions after the last kernel as if they
  // overlapped with kernels. With kind "mp" it also runs lookups in the order
  // in which it discovers them. This order decides which kernels overlap with
  // the exchange of the results.
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
  // The reference counts the gradients of residual connections several times.
  // In networks without residual connections, the memory differs by the buffers
  // of buckets.
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

/// Largest rounding error of a volume in the reference, which rounds to 1000
/// bytes.
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
