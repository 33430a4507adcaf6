//===- StepCosts.h - what a change of layout costs on a cluster -*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The planner of layouts asks what a step costs; a cluster knows what a
// collective costs. Between them lies the question how the groups of a step lie
// on the nodes, which is answered from the strides of the mesh.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COLLECTIVES_STEPCOSTS_H
#define PROTEUS_TRANSFORMS_COLLECTIVES_STEPCOSTS_H

#include "Proteus/Cost/CostModel.h"
#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include <map>
#include <memory>

namespace proteus {

/// Costs of steps in picoseconds on one mesh of one cluster. Groups that lie
/// differently on the nodes run side by side, so the slowest counts.
class StepCosts {
public:
  StepCosts(const dist::Mesh &mesh, const machine::Cluster &cluster);

  /// The time of a step; a slice takes none.
  uint64_t getCost(const dist::Step &step, const dist::StepVolume &volume);

  /// The time of a message of `bytes` from every rank at coordinate `from` of
  /// `axis` to the one at `to`.
  uint64_t getTransferCost(dist::Axis axis, int64_t from, int64_t to,
                           int64_t bytes);

  /// How the groups over `axes` lie on the nodes, each way once. Cached. Where
  /// nodes are aligned with the mesh, all groups lie alike and no device is
  /// looked at; else all are.
  llvm::ArrayRef<cost::GroupShape> getGroupShapes(const dist::AxisList &axes);

private:
  cost::GroupShape shapeByStrides(const dist::AxisList &axes) const;
  std::vector<cost::GroupShape> shapesByDevices(const dist::AxisList &axes);

  dist::Mesh mesh;
  machine::Cluster cluster;
  std::unique_ptr<cost::CollectiveCostModel> model;
  /// Per device axis, how many neighbours on it share a node; empty if nodes
  /// are not aligned with the mesh.
  llvm::SmallVector<int64_t> inNode;
  std::map<dist::AxisList, std::vector<cost::GroupShape>> shapes;
};

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COLLECTIVES_STEPCOSTS_H
