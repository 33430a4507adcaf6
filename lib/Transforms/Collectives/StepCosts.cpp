//===- StepCosts.cpp - costs of layout changes on a cluster ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Collectives/StepCosts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace proteus;
using dist::Axis;
using dist::AxisList;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Returns, for each device axis, the number of consecutive devices along it
/// that share a node. Returns an empty list if the nodes are not equal blocks
/// of the mesh.
static SmallVector<int64_t> neighboursInNode(const dist::Mesh &mesh,
                                             int64_t devicesPerNode) {
  if (!mesh.devices.empty())
    return {};
  SmallVector<int64_t> inNode(mesh.sizes.size());
  int64_t left = devicesPerNode;
  for (size_t i = mesh.sizes.size(); i-- > 0;) {
    int64_t size = mesh.sizes[i];
    if (left % size == 0)
      inNode[i] = size;
    else if (size % left == 0)
      inNode[i] = left;
    else
      return {};
    left /= inNode[i];
  }
  return inNode;
}

StepCosts::StepCosts(const dist::Mesh &mesh, const machine::Cluster &cluster)
    : mesh(mesh), cluster(cluster), model(cost::createAlphaBetaModel(cluster)),
      // If there are several kinds of nodes, the list stays empty, so that the
      // node of every device is looked up.
      inNode(cluster.hasOneKind()
                 ? neighboursInNode(mesh, cluster.devicesPerNode())
                 : SmallVector<int64_t>()) {}

cost::GroupShape StepCosts::shapeByStrides(const AxisList &axes) const {
  cost::GroupShape shape;
  for (Axis axis : axes) {
    int64_t size = mesh.getSize(axis), inside = inNode[axis - 1];
    shape.ranks *= size;
    shape.ranksPerNode *= inside;
    shape.nodes *= size / inside;
  }
  return shape;
}

std::vector<cost::GroupShape> StepCosts::shapesByDevices(const AxisList &axes) {
  std::map<SmallVector<int64_t>, SmallVector<int64_t>> groups;
  for (int64_t position = 0; position < mesh.getNumDevices(); ++position) {
    SmallVector<int64_t> key = mesh.getCoordinates(position);
    int64_t device = mesh.getDevice(key);
    for (Axis axis : axes)
      key[axis - 1] = 0;
    groups[key].push_back(device);
  }
  std::vector<cost::GroupShape> distinct;
  for (auto &[key, devices] : groups) {
    cost::GroupShape shape = cost::shapeOf(cluster, devices);
    if (!llvm::is_contained(distinct, shape))
      distinct.push_back(shape);
  }
  return distinct;
}

ArrayRef<cost::GroupShape> StepCosts::getGroupShapes(const AxisList &axes) {
  AxisList key(axes);
  llvm::sort(key);
  auto [entry, isNew] = shapes.try_emplace(key);
  if (isNew)
    entry->second = inNode.empty()
                        ? shapesByDevices(key)
                        : std::vector<cost::GroupShape>{shapeByStrides(key)};
  return entry->second;
}

static cost::CollectiveKind kindOf(dist::StepKind kind) {
  switch (kind) {
  case dist::StepKind::Scatter:
    return cost::CollectiveKind::Scatter;
  case dist::StepKind::ReduceScatter:
    return cost::CollectiveKind::ReduceScatter;
  case dist::StepKind::AllReduce:
    return cost::CollectiveKind::AllReduce;
  case dist::StepKind::Permute:
    return cost::CollectiveKind::Permute;
  case dist::StepKind::AllToAll:
    return cost::CollectiveKind::AllToAll;
  case dist::StepKind::AllGather:
    return cost::CollectiveKind::AllGather;
  case dist::StepKind::Broadcast:
    return cost::CollectiveKind::Broadcast;
  case dist::StepKind::Slice:
    break;
  }
  llvm_unreachable("a slice is no collective");
}

uint64_t StepCosts::getCost(const dist::Step &step,
                            const dist::StepVolume &volume) {
  if (step.kind == dist::StepKind::Slice)
    return 0;
  // An all-reduce costs as much as a reduce-scatter and an all-gather together.
  // The costs of these two are rounded and then added, so that the planner
  // never finds the two separate steps cheaper than the all-reduce.
  if (step.kind == dist::StepKind::AllReduce)
    return getCost({dist::StepKind::ReduceScatter, step.axes}, volume) +
           getCost({dist::StepKind::AllGather, step.axes}, volume);
  cost::Time slowest = 0;
  for (const cost::GroupShape &shape : getGroupShapes(step.axes))
    slowest = std::max(
        slowest,
        model->cost({kindOf(step.kind), volume.bufferBytes, shape}).time);
  return slowest;
}

uint64_t StepCosts::getTransferCost(Axis axis, int64_t from, int64_t to,
                                    int64_t bytes) {
  bool leavesNode = false;
  if (!inNode.empty()) {
    leavesNode = from / inNode[axis - 1] != to / inNode[axis - 1];
  } else {
    for (int64_t position = 0; position < mesh.getNumDevices(); ++position) {
      SmallVector<int64_t> sender = mesh.getCoordinates(position);
      if (sender[axis - 1] != from)
        continue;
      SmallVector<int64_t> receiver = sender;
      receiver[axis - 1] = to;
      leavesNode |= cluster.nodeOf(mesh.getDevice(sender)) !=
                    cluster.nodeOf(mesh.getDevice(receiver));
    }
  }
  cost::GroupShape pair;
  pair.ranks = 2;
  pair.nodes = leavesNode ? 2 : 1;
  pair.ranksPerNode = leavesNode ? 1 : 2;
  return model->cost({cost::CollectiveKind::SendRecv, bytes, pair}).time;
}
