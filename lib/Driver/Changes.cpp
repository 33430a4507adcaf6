//===- Changes.cpp - changes of a job that may help -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Driver/Advice.h"

#include "Proteus/Plan/PlanFields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;
using namespace proteus::jobs;
using plan::ParallelPlan;

std::vector<plan::ParallelPlan>
proteus::driver::smallerPlans(const Job &job, const Outcome &outcome) {
  std::vector<plan::ParallelPlan> result;
  auto propose = [&](auto change) {
    plan::ParallelPlan one = job.plan;
    change(one);
    result.push_back(one);
  };
  for (const sim::MemoryKnob &knob : outcome.figures.memory.knobs) {
    StringRef name = knob.name;
    if (name.consume_front("zero_")) {
      int64_t stage = 0;
      if (!name.getAsInteger(10, stage))
        propose([&](plan::ParallelPlan &p) {
          p.zero = static_cast<plan::ZeroStage>(stage);
        });
    } else if (name == "recompute") {
      propose(
          [](plan::ParallelPlan &p) { p.recompute = plan::Recompute::Full; });
    } else if (name == "tensor_parallel") {
      propose([](plan::ParallelPlan &p) {
        p.tp = p.tp.value_or(1) * 2;
        p.dp.reset();
      });
    } else if (name == "pipeline_parallel") {
      propose([](plan::ParallelPlan &p) {
        p.pp = p.pp.value_or(1) * 2;
        p.dp.reset();
      });
    } else if (name == "micro_batch" &&
               job.plan.microBatch.value_or(1) % 2 == 0) {
      propose([](plan::ParallelPlan &p) {
        p.microBatch = *p.microBatch / 2;
        p.accumulation.reset();
      });
    } else if (name == "offload_optimizer") {
      propose([](plan::ParallelPlan &p) { p.offloadState = true; });
    }
  }
  // Also combine ZeRO with full recomputation, because each of them alone may
  // not free enough memory.
  plan::ParallelPlan all = job.plan;
  if (all.zero.value_or(plan::ZeroStage::None) == plan::ZeroStage::None)
    all.zero = plan::ZeroStage::States;
  all.recompute = plan::Recompute::Full;
  result.push_back(all);
  all.zero = plan::ZeroStage::Parameters;
  if (all.pp.value_or(1) == 1)
    result.push_back(all);
  return result;
}

/// Returns the flags that turn the job `given` of the user into `changed`.
static std::string flagsOf(const Job &given, const Job &changed) {
  std::vector<std::string> words;
  for (const plan::Field &field : plan::fields()) {
    std::optional<std::string> before = field.get(given.plan),
                               after = field.get(changed.plan);
    if (before == after)
      continue;
    if (!after)
      words.push_back("no --" + field.flag);
    else if (*after == "true" && field.kind == plan::Field::Kind::Switch)
      words.push_back("--" + field.flag);
    else
      words.push_back("--" + field.flag + " " + *after);
  }
  if (changed.gpus != given.gpus)
    words.push_back("--gpus " + std::to_string(*changed.gpus));
  if (changed.cudaGraphs && !given.cudaGraphs)
    words.push_back("--cuda-graphs");
  return join(words, " ");
}

namespace {

/// Collects changes of one job, by the cost that they reduce.
class Changes {
public:
  Changes(const Job &given, const Outcome &outcome)
      : given(given), outcome(outcome), job(outcome.job),
        plan(plan::resolve(job.plan)), gpus(outcome.workload.info.devices),
        perNode(outcome.workload.cluster.devicesPerNode()) {}

  /// Adds the changes that reduce the cost with this name.
  void addFor(StringRef cost);
  /// Adds the changes that may help whatever the costs are.
  void addUsual();
  /// Adds the changes that reduce memory.
  void addSmaller();
  /// Ends the list of a cost.
  void endCost() {
    lists.push_back(std::move(current));
    current.clear();
  }
  /// Returns the changes: the first of each list, then the second of each list,
  /// and so on. Leaves out repetitions.
  std::vector<std::vector<Change>> take();

private:
  using Edit = function_ref<void(Job &)>;
  std::optional<Change> make(Edit edit) const;
  void add(Edit edit) {
    if (std::optional<Change> change = make(edit))
      current.push_back({std::move(*change)});
  }
  void addForGradients();
  void addForTensors();
  void addForBubble();
  void halve(std::optional<int64_t> ParallelPlan::*degree, int64_t value);
  void doubleMicroBatch();
  bool keepSizes(Job &changed) const;
  int64_t replicas() const { return gpus / (plan.tp * plan.pp * plan.cp); }

  const Job &given;
  const Outcome &outcome;
  const Job &job;
  plan::ResolvedPlan plan;
  int64_t gpus, perNode;
  std::vector<std::vector<Change>> current;
  std::vector<std::vector<std::vector<Change>>> lists;
};

} // namespace

/// Keeps the number of devices and the global batch of a changed job: adapts
/// `dp` and the number of micro-batches. Returns false if that is impossible.
bool Changes::keepSizes(Job &changed) const {
  plan::ResolvedPlan now = plan::resolve(changed.plan);
  int64_t replica = now.tp * now.pp * now.cp;
  if (gpus % replica != 0)
    return false;
  int64_t dp = gpus / replica;
  if (replica != plan.tp * plan.pp * plan.cp) {
    changed.gpus = gpus;
    if (changed.plan.dp)
      changed.plan.dp = dp;
  }
  int64_t batch = outcome.workload.info.globalBatch;
  if (batch % (now.microBatch * dp) != 0)
    return false;
  int64_t count = batch / (now.microBatch * dp);
  if (changed.plan.accumulation || (!changed.globalBatch && count != 1))
    changed.plan.accumulation = count;
  return true;
}

/// Returns the job after `edit`, or nullopt if it is the same or has other
/// sizes.
std::optional<Change> Changes::make(Edit edit) const {
  Change change = {"", job};
  edit(change.job);
  if (!keepSizes(change.job))
    return std::nullopt;
  // Folding changes no figure, and makes the simulation fast.
  change.job.fold = plan::Fold::All;
  change.flags = flagsOf(given, change.job);
  if (flagsOf(job, change.job).empty())
    return std::nullopt;
  return change;
}

void Changes::halve(std::optional<int64_t> ParallelPlan::*degree,
                    int64_t value) {
  if (value % 2 == 0)
    add([&](Job &j) { j.plan.*degree = value / 2; });
}

void Changes::doubleMicroBatch() {
  add([&](Job &j) { j.plan.microBatch = 2 * plan.microBatch; });
}

/// Adds changes for communication over dp: of gradients, and of parameters and
/// states that ZeRO shards.
void Changes::addForGradients() {
  using plan::ZeroStage;
  int64_t dp = replicas();
  // Devices of a tensor-parallel and context-parallel group are neighbours.
  int64_t inNode = perNode / (plan.tp * plan.cp);
  if (plan.zero != ZeroStage::None && inNode > 1 && inNode < dp &&
      dp % inNode == 0 && plan.zeroGroup.value_or(dp) > inNode)
    add([&](Job &j) { j.plan.zeroGroup = inNode; });
  if (plan.zero == ZeroStage::Parameters) {
    add([](Job &j) { j.plan.zero = ZeroStage::Gradients; });
    add([](Job &j) { j.plan.zero = ZeroStage::States; });
    if (plan.reshardAfterForward)
      add([](Job &j) { j.plan.reshardAfterForward = false; });
    if (!plan.prefetch)
      add([](Job &j) { j.plan.prefetch = 2; });
  } else if (plan.zero != ZeroStage::None) {
    add([](Job &j) { j.plan.overlapParameters = true; });
  }
  if (plan.zero == ZeroStage::Gradients)
    add([](Job &j) { j.plan.zero = ZeroStage::States; });
  if (plan.zero < ZeroStage::Gradients)
    add([](Job &j) {
      j.plan.gradientReduction = plan::GradientReduction::Overlapped;
    });
  doubleMicroBatch();
}

void Changes::addForTensors() {
  if (!plan.sequenceParallel)
    add([](Job &j) { j.plan.sequenceParallel = true; });
  halve(&ParallelPlan::tp, plan.tp);
  if (plan.tensorOverlap != plan::TensorOverlap::Chunked)
    add([](Job &j) { j.plan.tensorOverlap = plan::TensorOverlap::Chunked; });
}

void Changes::addForBubble() {
  if (plan.pp == 1)
    return;
  if (plan.microBatch % 2 == 0)
    add([&](Job &j) { j.plan.microBatch = plan.microBatch / 2; });
  // The number of chunks must divide the layers of a stage, so the next larger
  // numbers are alternatives.
  if (plan.schedule != plan::ScheduleOrder::ZeroBubble &&
      plan.schedule != plan::ScheduleOrder::GPipe) {
    std::vector<Change> alternatives;
    for (int64_t more = 1; more <= 4; ++more)
      if (std::optional<Change> change = make([&](Job &j) {
            j.plan.virtualStages = plan.virtualStages + more;
          }))
        alternatives.push_back(std::move(*change));
    if (!alternatives.empty())
      current.push_back(std::move(alternatives));
  }
  if (plan.virtualStages == 1)
    add([](Job &j) { j.plan.schedule = plan::ScheduleOrder::ZeroBubble; });
  halve(&ParallelPlan::pp, plan.pp);
}

void Changes::addFor(StringRef cost) {
  SmallVector<StringRef> axes;
  cost.split(" over ").second.split(axes, ' ');
  if (cost == "pipeline bubble") {
    addForBubble();
  } else if (cost == "pipeline transfers") {
    if (!plan.overlapMessages)
      add([](Job &j) { j.plan.overlapMessages = true; });
    if (!plan.scatterMessages && plan.tp > 1)
      add([](Job &j) { j.plan.scatterMessages = true; });
    halve(&ParallelPlan::pp, plan.pp);
  } else if (cost == "recomputation") {
    add([](Job &j) { j.plan.recompute = plan::Recompute::None; });
    if (plan.recompute == plan::Recompute::Full)
      add([](Job &j) { j.plan.recompute = plan::Recompute::Selective; });
  } else if (cost == "optimizer") {
    if (plan.zero == plan::ZeroStage::None && replicas() > 1)
      add([](Job &j) { j.plan.zero = plan::ZeroStage::States; });
  } else if (cost == "host launches") {
    add([](Job &j) { j.cudaGraphs = true; });
    doubleMicroBatch();
  } else if (is_contained(axes, "tp")) {
    addForTensors();
  } else if (is_contained(axes, "ep")) {
    halve(&ParallelPlan::ep, plan.ep);
    doubleMicroBatch();
  } else if (is_contained(axes, "cp")) {
    for (plan::ContextKind kind :
         {plan::ContextKind::Ring, plan::ContextKind::AllGather,
          plan::ContextKind::Ulysses})
      if (kind != plan.contextKind)
        add([&](Job &j) { j.plan.contextKind = kind; });
    halve(&ParallelPlan::cp, plan.cp);
  } else if (is_contained(axes, "dp")) {
    addForGradients();
  } else if (axes.size() == 1 && axes.front().empty()) {
    // Copies between device and host.
    for (auto offload :
         {&ParallelPlan::offloadState, &ParallelPlan::offloadWeight,
          &ParallelPlan::offloadActivation})
      if ((job.plan.*offload).value_or(false))
        add([&](Job &j) { j.plan.*offload = false; });
  }
}

void Changes::addUsual() {
  doubleMicroBatch();
  halve(&ParallelPlan::tp, plan.tp);
  halve(&ParallelPlan::pp, plan.pp);
  if (plan.recompute == plan::Recompute::Full)
    add([](Job &j) { j.plan.recompute = plan::Recompute::Selective; });
}

void Changes::addSmaller() {
  for (const ParallelPlan &smaller : smallerPlans(job, outcome))
    add([&](Job &j) { j.plan = smaller; });
}

std::vector<std::vector<Change>> Changes::take() {
  std::vector<std::vector<Change>> result;
  StringSet<> known;
  size_t longest = 0;
  for (const auto &list : lists)
    longest = std::max(longest, list.size());
  for (size_t i = 0; i < longest; ++i)
    for (auto &list : lists)
      if (i < list.size() && known.insert(list[i].front().flags).second)
        result.push_back(std::move(list[i]));
  return result;
}

std::vector<std::vector<Change>>
proteus::driver::changesFor(const Job &given, const Outcome &outcome) {
  Changes changes(given, outcome);
  if (!outcome.figures.memory.fits()) {
    changes.addSmaller();
    changes.endCost();
    return changes.take();
  }
  constexpr double least = 0.01;
  for (const Cost &cost : costsOf(outcome)) {
    if (cost.share < least)
      break;
    changes.addFor(cost.name);
    changes.endCost();
  }
  std::vector<std::vector<Change>> result = changes.take();
  Changes usual(given, outcome);
  usual.addUsual();
  usual.endCost();
  StringSet<> known;
  for (const std::vector<Change> &alternatives : result)
    for (const Change &change : alternatives)
      known.insert(change.flags);
  for (std::vector<Change> &alternatives : usual.take())
    if (known.insert(alternatives.front().flags).second)
      result.push_back(std::move(alternatives));
  return result;
}
