//===- StagePlan.cpp - layers of every stage ------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagePlan.h"

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

using namespace mlir;
using namespace proteus;

namespace {
/// A unit of the model that runs in a single stage: a layer, or an operation
/// outside of layers.
struct Unit {
  /// The operation; null for a layer.
  Operation *op = nullptr;
  double work = 0;
};
} // namespace

/// Returns the number of points in the iteration space of a linear, and 0 for
/// any other operation. Frameworks that balance stages by work count only
/// linears.
static double workOf(nn::IterationSpaceOpInterface op) {
  if (!isa<nn::LinearOp, nn::ExpertLinearOp>(op.getOperation()))
    return 0;
  return static_cast<double>(op.getIterationSpace().numPoints());
}

/// Returns the layers and the operations outside of layers, in the order of the
/// model.
static SmallVector<Unit> unitsOf(const ModelShape &model) {
  SmallVector<Unit> units;
  // The layer or layers to which the previous operation belongs: a repeat, or
  // the index of a layer that is written out.
  std::pair<Operation *, StringRef> last;
  size_t count = 0;
  for (nn::IterationSpaceOpInterface op : model.getOperations()) {
    const ModelShape::Position *position = model.getPosition(op);
    if (!position || position->layers != model.getMainLayers()) {
      units.push_back({op, workOf(op)});
      count = 0;
      continue;
    }
    auto repeat = op->getParentOfType<nn::RepeatOp>();
    std::pair<Operation *, StringRef> layers = {repeat, position->index};
    if (count == 0 || layers != last) {
      count = repeat ? repeat.getCount() : 1;
      units.append(count, Unit());
      last = layers;
    }
    for (Unit &unit : MutableArrayRef(units).take_back(count))
      unit.work += workOf(op);
  }
  return units;
}

/// Distributes the layers so that the operations before them count as one
/// layer, and the operations after them as another. With the partition
/// `divisible`, does so only if the number of runs divides the number of layers
/// plus two but not the number of layers, and otherwise returns the default
/// distribution.
static FailureOr<StagePlan> countEnds(const ModelShape &model,
                                      const plan::ResolvedPlan &plan) {
  StagePlan stages;
  int64_t count = model.getLayers(model.getMainLayers()).indices.size();
  int64_t runs = plan.pp * plan.virtualStages;
  if (plan.stagePartition == plan::StagePartition::Divisible &&
      (count % runs == 0 || (count + 2) % runs != 0))
    return stages;
  for (int64_t run = 0; run < runs; ++run)
    stages.counts.push_back(dist::partSize(count + 2, runs, run));
  --stages.counts.front();
  --stages.counts.back();
  if (stages.counts.back() < 1 || stages.counts.front() < 1)
    return model.getFunction().emitOpError("has ")
           << count << " layers '" << model.getMainLayers() << "', too few for "
           << runs
           << " runs if the first and the last have one layer less; use "
              "stage-partition=layers, or fewer stages";
  return stages;
}

/// Distributes the layers and the operations around them so that all stages
/// have about the same work in linears.
static FailureOr<StagePlan> balanceWork(const ModelShape &model,
                                        const plan::ResolvedPlan &plan) {
  StagePlan stages;
  int64_t number = plan.pp;
  func::FuncOp function = model.getFunction();
  if (plan.virtualStages > 1)
    return function.emitOpError(
        "stage-partition=work does not support chunks of stages; use "
        "virtual-stages=1, or stage-partition=layers");
  SmallVector<Unit> units = unitsOf(model);
  double total = 0, done = 0;
  for (const Unit &unit : units)
    total += unit.work;
  stages.counts.assign(number, 0);
  int64_t stage = 0, lastOfLayers = 0;
  for (const Unit &unit : units) {
    if (unit.op) {
      stages.afterLayers[unit.op] = stage;
    } else {
      ++stages.counts[stage];
      lastOfLayers = stage;
    }
    done += unit.work;
    // `stage` ends with the unit at which `done`, the work so far, exceeds
    // (stage + 1) / number of the total.
    if (stage + 1 < number && done * number > total * (stage + 1))
      ++stage;
  }
  // If the loss is in the stage after the head (the last linear), the head
  // moves to the stage of the loss, because logits are large and would have to
  // be sent. The head stays if it is the first unit of its stage.
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
    if (stages.counts[i] == 0 &&
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
    return StagePlan();
  case plan::StagePartition::Ends:
  case plan::StagePartition::Divisible:
    return countEnds(model, plan);
  case plan::StagePartition::Work:
    return balanceWork(model, plan);
  }
  llvm_unreachable("unknown partition of stages");
}
