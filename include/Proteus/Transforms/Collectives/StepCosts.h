//===- StepCosts.h - costs of layout changes on a cluster -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Costs of the steps that change a layout, such as all-gathers, on one mesh of
// one cluster. The cost of a collective depends on the shape of its group: the
// numbers of ranks, of nodes, and of ranks per node. insert-collectives passes
// these costs to the planner that finds the cheapest steps
// (`dist::planReshard`).
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COLLECTIVES_STEPCOSTS_H
#define PROTEUS_TRANSFORMS_COLLECTIVES_STEPCOSTS_H

#include "Proteus/Cost/CostModel.h"
#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include <map>
#include <memory>

namespace proteus {

/// Costs, in picoseconds, of the steps that change a layout. A step runs at the
/// same time in many groups of ranks, which may be distributed over the nodes
/// differently. The slowest group determines the cost.
class StepCosts {
public:
  StepCosts(const dist::Mesh &mesh, const machine::Cluster &cluster);

  /// Returns the time of a step in picoseconds. A slice takes no time, because
  /// it moves no data.
  uint64_t getCost(const dist::Step &step, const dist::StepVolume &volume);

  /// Returns the time, in picoseconds, to send `bytes` bytes along `axis`: from
  /// every rank at coordinate `from` to the rank at coordinate `to` with the
  /// same other coordinates. If at least one such pair spans two nodes, this is
  /// the time of a message between nodes, otherwise that of a message within a
  /// node.
  uint64_t getTransferCost(dist::Axis axis, int64_t from, int64_t to,
                           int64_t bytes);

  /// Returns the distinct shapes of the groups over `axes`, and caches them. If
  /// the nodes are equal blocks of the mesh (see `inNode`), all groups have the
  /// same shape, which follows from the sizes of the axes. Otherwise the node
  /// of every device is looked up.
  llvm::ArrayRef<cost::GroupShape> getGroupShapes(const dist::AxisList &axes);

private:
  cost::GroupShape shapeByStrides(const dist::AxisList &axes) const;
  std::vector<cost::GroupShape> shapesByDevices(const dist::AxisList &axes);

  dist::Mesh mesh;
  machine::Cluster cluster;
  std::unique_ptr<cost::CollectiveCostModel> model;
  /// For each device axis, the number of consecutive devices along it that
  /// share a node. On a mesh of dp = 4 by tp = 4 with 8 devices per node, these
  /// are 2 and 4: each node is a block of 2 by 4 devices. Empty if the nodes
  /// are not equal blocks of the mesh.
  llvm::SmallVector<int64_t> inNode;
  std::map<dist::AxisList, std::vector<cost::GroupShape>> shapes;
};

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COLLECTIVES_STEPCOSTS_H
