//===- Advice.cpp - simulated changes of a job ----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Driver/Advice.h"

#include "Proteus/Support/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>
#include <tuple>

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;
using namespace proteus::jobs;

std::vector<Cost> proteus::driver::costsOf(const Outcome &outcome) {
  const sim::ClassResult &slowest =
      outcome.result.classes[outcome.result.slowestClass()];
  double total = cost::toSeconds(outcome.result.run.iterationTime);
  std::vector<Cost> costs;
  auto add = [&](StringRef name, sim::Time time) {
    double seconds = cost::toSeconds(time);
    if (seconds > 0 && total > 0)
      costs.push_back({name.str(), seconds, seconds / total});
  };
  const sim::Breakdown &parts = slowest.breakdown;
  for (const sim::ExposedCommunication &row : slowest.exposedByKind)
    add(row.kind, row.time);
  add("pipeline bubble", parts.bubble);
  add("pipeline transfers", parts.exposedPipeline);
  add("recomputation", parts.recompute);
  add("optimizer", parts.optimizer);
  add("host launches", parts.host);
  llvm::sort(costs, [](const Cost &a, const Cost &b) {
    return std::tie(b.seconds, a.name) < std::tie(a.seconds, b.name);
  });
  return costs;
}

/// Returns the samples per second, or the steps if the job has no samples.
static double rateOf(const Outcome &outcome) {
  return outcome.figures.samplesPerSecond.value_or(
      1 / outcome.figures.iterationSeconds);
}

/// Simulates the first of the alternatives that can be simulated, and returns
/// its number and its outcome.
static std::optional<std::pair<size_t, Outcome>>
simulateOne(mlir::MLIRContext &context, ArrayRef<Change> alternatives) {
  for (auto [i, change] : llvm::enumerate(alternatives)) {
    Expected<Outcome> outcome = run(context, change.job);
    if (outcome)
      return std::pair(i, std::move(*outcome));
    consumeError(outcome.takeError());
  }
  return std::nullopt;
}

AdviceList proteus::driver::adviseOn(mlir::MLIRContext &context,
                                     const Job &given, const Outcome &outcome,
                                     size_t most) {
  constexpr double least = 0.01;
  bool fits = outcome.figures.memory.fits();
  AdviceList list;
  size_t simulated = 0, refused = 0;
  for (ArrayRef<Change> alternatives : changesFor(given, outcome)) {
    if (simulated == most || refused > most)
      break;
    auto found = simulateOne(context, alternatives);
    // A strategy tree or the sizes of the model may not permit a change.
    ++(found ? simulated : refused);
    if (!found)
      continue;
    auto &[number, changed] = *found;
    Advice advice;
    advice.flags = alternatives[number].flags;
    advice.seconds = changed.figures.iterationSeconds;
    advice.gain = rateOf(changed) / rateOf(outcome) - 1;
    advice.needed = changed.figures.memory.needed;
    advice.capacity = changed.figures.memory.budget.capacity;
    if (!changed.figures.memory.fits())
      list.tooLarge.push_back(std::move(advice.flags));
    else if (fits && advice.gain <= least)
      list.notFaster.push_back(std::move(advice.flags));
    else
      list.helpful.push_back(std::move(advice));
  }
  llvm::sort(list.helpful, [](const Advice &a, const Advice &b) {
    return std::tie(b.gain, a.flags) < std::tie(a.gain, b.flags);
  });
  return list;
}

/// Smallest share of the step of a cost that is printed.
static constexpr double leastPrinted = 0.001;

static void printCosts(raw_ostream &os, ArrayRef<Cost> costs) {
  os << "\nthe largest costs apart from kernels\n";
  Table table({"cost", "time (ms)", "share (%)"});
  constexpr size_t most = 3;
  for (const Cost &cost : costs.take_front(most))
    if (cost.share >= leastPrinted)
      table.add({cost.name, fixed(cost.seconds * 1e3, 3),
                 fixed(cost.share * 100, 1)});
  table.print(os);
}

void proteus::driver::printAdvice(raw_ostream &os, mlir::MLIRContext &context,
                                  const Job &given, const Outcome &outcome,
                                  AdviceMode mode) {
  if (std::vector<Cost> costs = costsOf(outcome);
      !costs.empty() && costs.front().share >= leastPrinted)
    printCosts(os, costs);
  if (mode == AdviceMode::Off)
    return;
  // A few changes of the largest costs, so that the command stays fast.
  constexpr size_t few = 3;
  AdviceList list = adviseOn(
      context, given, outcome,
      mode == AdviceMode::All ? std::numeric_limits<size_t>::max() : few);
  if (list.isEmpty())
    return;
  bool fits = outcome.figures.memory.fits();
  if (!list.helpful.empty()) {
    os << (fits ? "\nfaster with one change, each simulated\n"
                : "\nfits with one change, each simulated\n");
    Table table({"change", "step (ms)", "samples/s (%)", "memory (GB)"});
    for (const Advice &advice : list.helpful)
      table.add({advice.flags, fixed(advice.seconds * 1e3, 1),
                 (advice.gain < 0 ? "" : "+") + fixed(advice.gain * 100, 1),
                 fixed(static_cast<double>(advice.needed) / 1e9, 1) + " of " +
                     fixed(static_cast<double>(advice.capacity) / 1e9, 1)});
    table.print(os);
  }
  auto printOthers = [&](StringRef what, ArrayRef<std::string> flags) {
    if (!flags.empty())
      os << "  " << what << ": " << join(flags, ", ") << "\n";
  };
  if (list.helpful.empty())
    os << (fits ? "\nno change that was simulated is faster\n"
                : "\nno change that was simulated fits\n");
  printOthers("not 1 % faster", list.notFaster);
  printOthers("does not fit", list.tooLarge);
}
