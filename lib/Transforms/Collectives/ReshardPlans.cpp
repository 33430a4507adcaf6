//===- ReshardPlans.cpp - cheapest steps between layouts ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReshardPlans.h"
#include "LayoutUtils.h"

#include "Proteus/Transforms/Common/Annotations.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;
using dist::LayoutAttr;

ReshardPlans::ReshardPlans(func::FuncOp function, dist::MeshAttr mesh,
                           const StageMap &stages,
                           const machine::Cluster &cluster)
    : mesh(mesh), stages(stages), costs(mesh.getValue(), cluster),
      slicesTransfers(function->hasAttr(kScatterGatherAttr)) {}

FailureOr<ReshardPlans::Plan> ReshardPlans::planTensor(LayoutAttr from,
                                                       LayoutAttr to,
                                                       RankedTensorType type,
                                                       std::string &reason) {
  auto bare = RankedTensorType::get(type.getShape(), type.getElementType());
  std::tuple<Attribute, Attribute, Type> key(from, to, bare);
  if (auto known = plans.find(key); known != plans.end())
    return known->second;
  auto cost = [&](const dist::Step &step, const dist::StepVolume &volume) {
    return costs.getCost(step, volume);
  };
  auto steps = dist::planReshard(from, to, bare, cost, &reason);
  if (succeeded(steps))
    plans[key] = *steps;
  return steps;
}

FailureOr<ReshardPlans::Plan>
ReshardPlans::planStack(RankedTensorType type, LayoutAttr from, LayoutAttr to,
                        unsigned stacks, std::string &reason) {
  if (stacks == 0)
    return planTensor(from, to, type, reason);
  auto slice = RankedTensorType::get(type.getShape().drop_front(),
                                     type.getElementType());
  auto steps = planStack(slice, withoutLeading(from), withoutLeading(to),
                         stacks - 1, reason);
  if (succeeded(steps))
    for (dist::ReshardStep &step : *steps) {
      step.result = withLeading(step.result);
      for (std::optional<unsigned> *dim :
           {&step.step.fromDim, &step.step.toDim})
        if (*dim)
          ++**dim;
      if (step.step.kind == dist::StepKind::Permute)
        step.step.placed.insert(step.step.placed.begin(), AxisList());
    }
  return steps;
}

FailureOr<ReshardPlans::Plan> ReshardPlans::plan(Value value, LayoutAttr from,
                                                 LayoutAttr to,
                                                 std::string &reason) {
  return planStack(dist::tensorTypeOf(value), from, to, countStacks(value),
                   reason);
}

LayoutAttr ReshardPlans::stackLayout(Value value, LayoutAttr wanted) {
  LayoutAttr from = accumulated(layoutOf(value));
  std::string reason;
  auto steps = plan(value, from, wanted, reason);
  if (failed(steps))
    return from;
  for (const dist::ReshardStep &step : *steps) {
    if (step.step.kind != dist::StepKind::AllReduce &&
        step.step.kind != dist::StepKind::ReduceScatter)
      break;
    from = step.result;
  }
  return from;
}

uint64_t ReshardPlans::costOf(RankedTensorType type, LayoutAttr from,
                              ArrayRef<dist::ReshardStep> steps) {
  uint64_t total = 0;
  for (const dist::ReshardStep &step : steps) {
    total += costs.getCost(
        step.step,
        dist::stepVolume(mesh.getValue(), type.getShape(),
                         dist::elementBits(type.getElementType()),
                         from.getValue(), step.result.getValue(), step.step));
    from = step.result;
  }
  return total;
}

LayoutAttr ReshardPlans::transferLayout(Value value, LayoutAttr target) {
  const dist::Layout &own = layoutOf(value).getValue();
  if (!slicesTransfers || target.isPartial())
    return target;
  RankedTensorType type = dist::tensorTypeOf(value);
  int64_t from = *own.getFixedCoordinate(*stages.getAxis());
  int64_t to = *target.getValue().getFixedCoordinate(*stages.getAxis());
  // Returns the total time if the value is sent in layout `there`: conversion
  // to `there`, message, and conversion to `target`. Returns nullopt if one of
  // the conversions is impossible.
  auto costThrough = [&](LayoutAttr there) -> std::optional<uint64_t> {
    LayoutAttr here = stages.onStage(there, from);
    std::string reason;
    auto before = planTensor(layoutOf(value), here, type, reason);
    auto after = planTensor(there, target, type, reason);
    if (failed(before) || failed(after))
      return std::nullopt;
    int64_t bytes = dist::localBytes(dist::withLayout(type, there));
    return costOf(type, layoutOf(value), *before) +
           costs.getTransferCost(*stages.getAxis(), from, to, bytes) +
           costOf(type, there, *after);
  };
  AxisList replicas;
  for (Axis axis = 1; axis < mesh.getValue().getNumAxes(); ++axis)
    if (mesh.getValue().getSize(axis) > 1 &&
        target.getValue().isReplicated(axis))
      replicas.push_back(axis);
  LayoutAttr best = target;
  std::optional<uint64_t> least = costThrough(target);
  // The leading dimensions of stacks are never sharded, so begin after them.
  for (int64_t dim = countStacks(value); dim < type.getRank(); ++dim)
    for (unsigned chosen = 1; chosen < (1u << replicas.size()); ++chosen) {
      dist::Layout sliced = target.getValue();
      for (auto [i, axis] : llvm::enumerate(replicas))
        if (chosen & (1u << i))
          sliced.dims[dim].push_back(axis);
      if (sliced.checkShape(mesh.getValue(), type.getShape()))
        continue;
      auto candidate = LayoutAttr::get(mesh, sliced);
      std::optional<uint64_t> cost = costThrough(candidate);
      if (cost && (!least || *cost < *least)) {
        least = cost;
        best = candidate;
      }
    }
  return best;
}
