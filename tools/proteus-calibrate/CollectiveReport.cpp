//===- CollectiveReport.cpp - errors of predicted collectives -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace llvm;
using namespace proteus;
using namespace proteus::calibrate;
using machine::CollectiveConstants;

/// Largest errors that documentation promises for a fitted machine.
static constexpr double smallTarget = 0.30, aboveTarget = 0.10,
                        largeTarget = 0.05;

Samples proteus::calibrate::samplesOf(const Measured &machine, Block block) {
  Samples samples;
  for (const Sample &sample : machine.getSamples())
    if (blockOf(sample.kind) == block)
      samples.push_back(sample);
  return samples;
}

std::vector<double>
proteus::calibrate::predict(Measured &machine,
                            const CollectiveConstants &constants,
                            ArrayRef<Sample> samples) {
  CollectiveConstants kept = machine.constants();
  machine.constants() = constants;
  std::vector<double> seconds;
  for (const Sample &sample : samples)
    seconds.push_back(machine.seconds(sample));
  machine.constants() = kept;
  return seconds;
}

SizeErrors
proteus::calibrate::errorsWith(Measured &machine, Block block,
                               const CollectiveConstants &constants) {
  Samples samples = samplesOf(machine, block);
  return errorsOf(samples, predict(machine, constants, samples));
}

/// Returns the errors of samples that a fit has not seen. In each of `folds`
/// folds, the fit leaves out the samples for which `isUnseen` holds.
static SizeErrors
errorsUnseen(Measured &machine, Block block, const CollectiveConstants &start,
             bool few, int64_t folds,
             function_ref<bool(const Sample &, int64_t)> isUnseen) {
  Samples unseen;
  std::vector<double> seconds;
  for (int64_t fold = 0; fold < folds; ++fold) {
    CollectiveConstants constants = fitBlock(
        block, start, {&machine},
        [&](const Sample &sample) { return !isUnseen(sample, fold); }, few);
    Samples rows;
    for (const Sample &sample : samplesOf(machine, block))
      if (isUnseen(sample, fold))
        rows.push_back(sample);
    llvm::append_range(seconds, predict(machine, constants, rows));
    llvm::append_range(unseen, rows);
  }
  return errorsOf(unseen, seconds);
}

Judgement proteus::calibrate::judge(Measured &machine, Block block,
                                    const CollectiveConstants &start,
                                    bool few) {
  Samples samples = samplesOf(machine, block);
  Judgement result;
  result.fit = errorsWith(
      machine, block,
      fitBlock(
          block, start, {&machine}, [](const Sample &) { return true; }, few));
  std::set<int64_t> octaves, sizes;
  for (const Sample &sample : samples) {
    octaves.insert(octaveOf(sample.bytes));
    sizes.insert(sample.ranks);
  }
  // Leave out every second of the octaves that have rows.
  if (octaves.size() > 3)
    result.octaves = errorsUnseen(
        machine, block, start, few, 2, [&](const Sample &sample, int64_t fold) {
          auto place = octaves.find(octaveOf(sample.bytes));
          return std::distance(octaves.begin(), place) % 2 == fold;
        });
  if (sizes.size() < 3)
    return result;
  std::vector<int64_t> inner(std::next(sizes.begin()), std::prev(sizes.end()));
  result.groups = errorsUnseen(machine, block, start, few,
                               static_cast<int64_t>(inner.size()),
                               [&](const Sample &sample, int64_t fold) {
                                 return sample.ranks == inner[fold];
                               });
  return result;
}

static std::string percent(double error) {
  return error < 0 ? "   -" : formatv("{0,4:f1}", 100 * error).str();
}

std::string proteus::calibrate::inPercent(const SizeErrors &errors) {
  return percent(errors.small) + "/" + percent(errors.above) + "/" +
         percent(errors.large);
}

std::string proteus::calibrate::missed(const SizeErrors &errors) {
  std::string text;
  auto add = [&](double error, double target, StringRef what) {
    if (error > target)
      text += (text.empty() ? "" : ", ") + what.str();
  };
  add(errors.small, smallTarget, "< 1 MiB");
  add(errors.above, aboveTarget, ">= 1 MiB");
  add(errors.large, largeTarget, ">= 16 MiB");
  return text;
}
