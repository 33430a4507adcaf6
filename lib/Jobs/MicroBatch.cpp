//===- MicroBatch.cpp - choice of an open micro-batch ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicroBatch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::jobs;

namespace {

/// Simulates candidates, each at most once.
class Candidates {
public:
  Candidates(const Job &job, int64_t samples, Simulation simulate)
      : job(job), simulate(simulate) {
    for (int64_t size = 1; samples % size == 0; size *= 2)
      sizes.push_back(size);
    outcomes.resize(sizes.size());
  }

  /// Returns true if the job can be simulated with candidate `i` and fits.
  bool fits(size_t i) {
    if (!outcomes[i]) {
      Job other = job;
      other.plan.microBatch = sizes[i];
      Expected<Outcome> outcome = simulate(other);
      if (!outcome) {
        consumeError(outcome.takeError());
        return false;
      }
      outcomes[i] = std::move(*outcome);
    }
    return outcomes[i]->figures.memory.fits();
  }
  double seconds(size_t i) const {
    return outcomes[i]->figures.iterationSeconds;
  }
  /// Returns the numbers of the candidates that fit, up to the first that does
  /// not: a larger micro-batch needs more memory.
  std::vector<size_t> allThatFit() {
    std::vector<size_t> found;
    for (size_t i = 0; i < sizes.size() && fits(i); ++i)
      found.push_back(i);
    return found;
  }
  /// Returns the number of the largest candidate that fits, or nullopt.
  std::optional<size_t> largestThatFits() {
    if (fits(sizes.size() - 1))
      return sizes.size() - 1;
    size_t fitting = 0, tooLarge = sizes.size() - 1;
    if (tooLarge == 0 || !fits(0))
      return std::nullopt;
    while (tooLarge - fitting > 1) {
      size_t middle = (fitting + tooLarge) / 2;
      (fits(middle) ? fitting : tooLarge) = middle;
    }
    return fitting;
  }

  std::vector<int64_t> sizes; ///< ascending
  std::vector<std::optional<Outcome>> outcomes;

private:
  const Job &job;
  Simulation simulate;
};

} // namespace

MicroBatchChoice proteus::jobs::chooseMicroBatch(const Job &job,
                                                 int64_t samples,
                                                 Simulation simulate) {
  MicroBatchChoice choice;
  Candidates candidates(job, samples, simulate);
  std::string ofReplica =
                  "the " + std::to_string(samples) + " samples of a replica",
              start = "the micro-batch is not stated: ";
  if (candidates.sizes.size() == 1) {
    if (samples > 1)
      choice.remark =
          start + "it is 1, the only power of two that divides " + ofReplica;
    return choice;
  }
  std::optional<size_t> best;
  std::string reason;
  if (job.plan.pp.value_or(1) > 1) {
    std::vector<size_t> fitting = candidates.allThatFit();
    if (!fitting.empty())
      best = *llvm::min_element(fitting, [&](size_t a, size_t b) {
        return candidates.seconds(a) < candidates.seconds(b);
      });
    reason = "the fastest power of two, of " + std::to_string(fitting.size()) +
             " that divide " + ofReplica + " and fit in memory";
  } else {
    best = candidates.largestThatFits();
    reason = "the largest power of two that divides " + ofReplica +
             " and fits in memory";
  }
  if (!best) {
    choice.remark = start + "it is 1, because no size fits in memory";
    choice.outcome = std::move(candidates.outcomes.front());
    return choice;
  }
  choice.microBatch = candidates.sizes[*best];
  choice.remark =
      start + "it is " + std::to_string(choice.microBatch) + ", " + reason;
  choice.outcome = std::move(candidates.outcomes[*best]);
  return choice;
}
