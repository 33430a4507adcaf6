//===- GroupFamilies.cpp - who communicates with whom ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupFamilies.h"

#include "Proteus/Dialect/Dist/Layout.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;

static cost::CollectiveKind kindOf(dist::CollectiveKind kind) {
  switch (kind) {
  case dist::CollectiveKind::AllReduce:
    return cost::CollectiveKind::AllReduce;
  case dist::CollectiveKind::AllGather:
    return cost::CollectiveKind::AllGather;
  case dist::CollectiveKind::ReduceScatter:
    return cost::CollectiveKind::ReduceScatter;
  case dist::CollectiveKind::AllToAll:
    return cost::CollectiveKind::AllToAll;
  case dist::CollectiveKind::Send:
  case dist::CollectiveKind::Recv:
    return cost::CollectiveKind::SendRecv;
  case dist::CollectiveKind::Permute:
    return cost::CollectiveKind::Permute;
  case dist::CollectiveKind::Broadcast:
    return cost::CollectiveKind::Broadcast;
  case dist::CollectiveKind::Scatter:
    return cost::CollectiveKind::Scatter;
  case dist::CollectiveKind::Gather:
    return cost::CollectiveKind::Gather;
  case dist::CollectiveKind::Shift:
    return cost::CollectiveKind::Shift;
  }
  llvm_unreachable("unknown collective");
}

uint32_t GroupFamilies::familyOf(Operation *op, int64_t stage) {
  sim::GroupFamily family;
  if (auto send = dyn_cast<dist::SendOp>(op)) {
    family.axes = {*pipelineAxis - 1};
    family.places = {stage, static_cast<int64_t>(send.getStage())};
  } else if (auto recv = dyn_cast<dist::RecvOp>(op)) {
    family.axes = {*pipelineAxis - 1};
    family.places = {static_cast<int64_t>(recv.getStage()), stage};
  } else if (auto reduction = dyn_cast<dist::StageReduceOp>(op)) {
    family.axes = {*pipelineAxis - 1};
    family.places.assign(reduction.getStages().begin(),
                         reduction.getStages().end());
  } else {
    auto collective = cast<dist::CollectiveOpInterface>(op);
    dist::AxisList axes = *dist::getAxes(mesh, collective.getAxes());
    for (Axis axis : axes)
      family.axes.push_back(axis - 1);
  }
  auto [entry, isNew] = familyNumbers.try_emplace(
      std::pair(family.axes, family.places), families.size());
  if (isNew)
    families.push_back(std::move(family));
  return entry->second;
}

static int64_t bytesOf(const FlatTask &task) {
  if (auto fused = dyn_cast<dist::FusedReduceOp>(task.op))
    return fused.getBucketBytes(task.bucket);
  if (auto fused = dyn_cast<dist::FusedGatherOp>(task.op))
    return fused.getBucketBytes(task.bucket);
  return cast<dist::CollectiveOpInterface>(task.op).getBufferBytes();
}

FamilyCollective GroupFamilies::find(const FlatTask &task, int64_t stage) {
  auto [entry, isNew] = known.try_emplace({task.op, task.bucket});
  if (!isNew)
    return entry->second;
  uint32_t family = familyOf(task.op, stage);
  sim::GroupCollective collective;
  collective.bytes = bytesOf(task);
  collective.kind =
      kindOf(cast<dist::CollectiveOpInterface>(task.op).getCollectiveKind());
  std::vector<sim::GroupCollective> &all = families[family].collectives;
  auto [number, isNewKind] =
      collectiveNumbers.try_emplace({family, collective}, all.size());
  if (isNewKind)
    all.push_back(collective);
  return entry->second = {family, number->second};
}
