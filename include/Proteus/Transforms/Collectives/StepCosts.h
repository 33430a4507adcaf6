//===- StepCosts.h - costs of layout changes on a cluster -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Costs of the steps that change a layout, on one mesh of one cluster. The cost
// of a collective depends on the shape of its group: the number of nodes it
// spans and of ranks on each. This class derives the shape from the strides of
// the mesh. insert-collectives passes the costs to the planner of layouts.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COLLECTIVES_STEPCOSTS_H
#define PROTEUS_TRANSFORMS_COLLECTIVES_STEPCOSTS_H

#include "Proteus/Cost/CostModel.h"
#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include <map>
#include <memory>

namespace proteus {

/// Costs of steps, in picoseconds, on one mesh of one cluster. The groups of a
/// step run at the same time and may lie differently on the nodes, so the
/// slowest group determines the cost.
class StepCosts {
public:
  StepCosts(const dist::Mesh &mesh, const machine::Cluster &cluster);

  /// Returns the time of a step in picoseconds; 0 for a slice.
  uint64_t getCost(const dist::Step &step, const dist::StepVolume &volume);

  /// Returns the time, in picoseconds, of a message of `bytes` bytes from a
  /// rank at coordinate `from` of `axis` to its counterpart at `to`. The
  /// message counts as one between nodes if any such pair of ranks is on two
  /// nodes.
  uint64_t getTransferCost(dist::Axis axis, int64_t from, int64_t to,
                           int64_t bytes);

  /// Returns the distinct shapes of the groups over `axes`. Cached. If nodes
  /// are aligned with the mesh, all groups have the same shape, which follows
  /// from the sizes of the axes; otherwise the node of every device is looked
  /// up.
  llvm::ArrayRef<cost::GroupShape> getGroupShapes(const dist::AxisList &axes);

private:
  cost::GroupShape shapeByStrides(const dist::AxisList &axes) const;
  std::vector<cost::GroupShape> shapesByDevices(const dist::AxisList &axes);

  dist::Mesh mesh;
  machine::Cluster cluster;
  std::unique_ptr<cost::CollectiveCostModel> model;
  /// Per device axis, number of neighbours along it that share a node; empty if
  /// nodes are not aligned with the mesh.
  llvm::SmallVector<int64_t> inNode;
  std::map<dist::AxisList, std::vector<cost::GroupShape>> shapes;
};

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COLLECTIVES_STEPCOSTS_H
