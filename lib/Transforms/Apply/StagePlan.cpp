//===- StagePlan.cpp - layers of every stage ------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagePlan.h"

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include "llvm/ADT/StringExtras.h"

#include <tuple>

using namespace mlir;
using namespace proteus;

namespace {
/// A unit of the model that runs in a single stage: a layer, or an operation
/// outside of layers.
struct Unit {
  /// The operation; null for a layer.
  Operation *op = nullptr;
  /// The pattern of a layer; empty for an operation.
  StringRef layers;
  double work = 0;
};
} // namespace

/// Returns the number of points in the iteration space of a linear, and 0 for
/// any other operation. Frameworks that balance stages by work count only
/// linears.
static double linearWorkOf(nn::IterationSpaceOpInterface op) {
  if (!isa<nn::LinearOp, nn::ExpertLinearOp>(op.getOperation()))
    return 0;
  return static_cast<double>(op.getIterationSpace().numPoints());
}

/// Returns the layers that are cut into stages and all other operations, in the
/// order of the model. `work` returns the work of one run of an operation.
static SmallVector<Unit>
unitsOf(const ModelShape &model,
        function_ref<double(nn::IterationSpaceOpInterface)> work) {
  SmallVector<Unit> units;
  // Layers of the previous operation: their pattern, their repeat (null if they
  // are written out; a repeat inside of such a layer is a part of it), and the
  // index in the path (`*` in a repeat).
  std::tuple<StringRef, Operation *, StringRef> last;
  size_t count = 0;
  for (nn::IterationSpaceOpInterface op : model.getOperations()) {
    const ModelShape::Position *position = model.getPosition(op);
    if (!position ||
        !llvm::is_contained(model.getStageLayers(), position->layers)) {
      units.push_back({op, StringRef(), work(op)});
      count = 0;
      continue;
    }
    nn::RepeatOp repeat =
        position->index == "*" ? getOutermostRepeat(op) : nn::RepeatOp();
    std::tuple<StringRef, Operation *, StringRef> layers = {
        position->layers, repeat, position->index};
    if (count == 0 || layers != last) {
      count = repeat ? repeat.getCount() : 1;
      units.append(count, Unit{nullptr, position->layers, 0});
      last = layers;
    }
    for (Unit &unit : MutableArrayRef(units).take_back(count))
      unit.work += work(op) * countRuns(op) / static_cast<double>(count);
  }
  return units;
}

/// Returns a plan of `runs` runs, all without layers.
static StagePlan emptyPlan(const ModelShape &model, int64_t runs) {
  StagePlan stages;
  for (StringRef pattern : model.getStageLayers())
    stages.counts[pattern].assign(runs, 0);
  return stages;
}

/// Distributes the layers so that each run has about the same FLOPs. The
/// operations outside of layers count too. A layer belongs to the run in whose
/// share of the FLOPs its middle lies, unless a run would then be empty.
static StagePlan balanceLayers(const ModelShape &model, int64_t runs) {
  StagePlan stages = emptyPlan(model, runs);
  SmallVector<Unit> units = unitsOf(model, countFlops);
  double total = 0, before = 0;
  int64_t remaining = 0;
  for (const Unit &unit : units) {
    total += unit.work;
    remaining += !unit.op;
  }
  int64_t run = -1;
  for (const Unit &unit : units) {
    double middle = before + unit.work / 2;
    before += unit.work;
    if (unit.op)
      continue;
    auto wanted = static_cast<int64_t>(middle / total * runs);
    // The next run begins early if the remaining layers are otherwise too few
    // for the remaining runs.
    if (run < 0 || (run + 1 < runs && (wanted > run || remaining < runs - run)))
      ++run;
    --remaining;
    ++stages.counts[unit.layers][run];
  }
  return stages;
}

/// Distributes the layers of a single group equally. Layers of several groups,
/// such as those of an encoder and a decoder, differ, so distributes them by
/// their work instead.
static StagePlan countLayers(const ModelShape &model, int64_t runs) {
  if (model.getStageLayers().size() == 1)
    return StagePlan();
  return balanceLayers(model, runs);
}

/// Distributes the layers so that the operations before them count as one
/// layer, and the operations after them as another. With the partition
/// `divisible`, does so only if the number of runs divides the number of layers
/// plus two but not the number of layers, and otherwise returns the default
/// distribution.
static FailureOr<StagePlan> countEnds(const ModelShape &model,
                                      const plan::ResolvedPlan &plan) {
  SmallVector<Unit> layers = unitsOf(model, countFlops);
  llvm::erase_if(layers, [](const Unit &unit) { return unit.op; });
  auto count = static_cast<int64_t>(layers.size());
  int64_t runs = plan.pp * plan.virtualStages;
  if (plan.stagePartition == plan::StagePartition::Divisible &&
      (count % runs == 0 || (count + 2) % runs != 0))
    return countLayers(model, runs);
  StagePlan stages = emptyPlan(model, runs);
  const Unit *next = layers.begin();
  for (int64_t run = 0; run < runs; ++run) {
    int64_t own =
        dist::partSize(count + 2, runs, run) - (run == 0) - (run == runs - 1);
    if (own < 1)
      return model.getFunction().emitOpError("has ")
             << count << " layers '"
             << llvm::join(model.getStageLayers(), "' and '")
             << "', too few for " << runs
             << " runs if the first and the last have one layer less; use "
                "stage-partition=layers, or fewer stages";
    for (int64_t i = 0; i < own; ++i)
      ++stages.counts[(next++)->layers][run];
  }
  return stages;
}

/// Distributes the layers and the operations around them so that all stages
/// have about the same work in linears.
static FailureOr<StagePlan> balanceWork(const ModelShape &model,
                                        const plan::ResolvedPlan &plan) {
  int64_t number = plan.pp;
  func::FuncOp function = model.getFunction();
  if (plan.virtualStages > 1)
    return function.emitOpError(
        "stage-partition=work does not support chunks of stages; use "
        "virtual-stages=1, or stage-partition=layers");
  StagePlan stages = emptyPlan(model, number);
  SmallVector<Unit> units = unitsOf(model, linearWorkOf);
  double total = 0, done = 0;
  for (const Unit &unit : units)
    total += unit.work;
  int64_t stage = 0, lastOfLayers = 0;
  for (const Unit &unit : units) {
    if (unit.op) {
      stages.afterLayers[unit.op] = stage;
    } else {
      ++stages.counts[unit.layers][stage];
      lastOfLayers = stage;
    }
    done += unit.work;
    // `stage` ends with the unit at which `done`, the work so far, exceeds
    // (stage + 1) / number of the total.
    if (stage + 1 < number && done * number > total * (stage + 1))
      ++stage;
  }
  // If the loss is one stage after the head (the last linear), the head moves
  // to the stage of the loss. Otherwise the large logits would have to be sent.
  // The head stays if it is the first unit of its stage.
  size_t head = units.size();
  while (head > 0 && units[head - 1].op && units[head - 1].work == 0)
    --head;
  if (head-- > 1 && units[head].op) {
    const Unit &before = units[head - 1];
    int64_t place = stages.afterLayers[units[head].op];
    int64_t last = stages.afterLayers[units.back().op];
    if (last == place + 1 &&
        place == (before.op ? stages.afterLayers[before.op] : lastOfLayers))
      for (const Unit &unit : ArrayRef(units).drop_front(head))
        stages.afterLayers[unit.op] = last;
  }
  SmallVector<Operation *> follows;
  for (auto [op, place] : stages.afterLayers)
    if (place <= lastOfLayers)
      follows.push_back(op);
  for (Operation *op : follows)
    stages.afterLayers.erase(op);
  for (int64_t i = 0; i < number; ++i)
    if (llvm::all_of(stages.counts,
                     [&](const auto &entry) { return entry.second[i] == 0; }) &&
        llvm::none_of(stages.afterLayers,
                      [&](auto entry) { return entry.second == i; }))
      return function.emitOpError("stage-partition=work leaves stage ")
             << i << " of pp=" << number
             << " without work; use fewer stages, or stage-partition=layers";
  return stages;
}

FailureOr<StagePlan> proteus::planStages(const ModelShape &model,
                                         const plan::ResolvedPlan &plan) {
  if (plan.pp == 1)
    return StagePlan();
  switch (plan.stagePartition) {
  case plan::StagePartition::Layers:
    return countLayers(model, plan.pp * plan.virtualStages);
  case plan::StagePartition::Ends:
  case plan::StagePartition::Divisible:
    return countEnds(model, plan);
  case plan::StagePartition::Work:
    return balanceWork(model, plan);
  }
  llvm_unreachable("unknown partition of stages");
}
