//===- Loads.h - the links that algorithms load -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per algorithm: real bytes on every link, as multiples of the
// volume that docs/collectives.md defines for it.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_NETWORK_LOADS_H
#define PROTEUS_LIB_NETWORK_LOADS_H

#include "LoadBuilder.h"

namespace proteus::net {

/// Every member sends the volume to the next one, in rings that pass the nodes
/// in their order. Also what a reduction in the switch loads within one node.
LoadSet ringLoads(const Placement &placement);

/// Two binary trees over the nodes, each for half of the volume; chains inside
/// the nodes, up and down.
LoadSet treeLoads(const Placement &placement);

/// The switches add and multicast within the nodes: the volume on every port
/// of the node with fewest members. The trees between the nodes move the
/// volume divided by 1 + 1/members.
LoadSet inSwitchTreeLoads(const Placement &placement);

/// One member per node: each sends the parts of one tree per member at once. A
/// part travels by powers of two, the farthest first, so that most of the data
/// go to neighbours.
LoadSet parallelTreeLoads(const Placement &placement);

/// Every member sends an equal part of the volume to every other one.
LoadSet exchangeLoads(const Placement &placement);
/// Seconds that the links within a node need at least for one byte from each of
/// its members to each of the `others` of the node.
struct ExchangeInside {
  double seconds, others;
};
/// Of the shapes of nodes with several members.
std::vector<ExchangeInside> exchangeInsides(const Placement &placement);

/// The first member's data pass all others one after another.
LoadSet chainLoads(const Placement &placement);

/// The first member sends an equal part of the volume to every other one, or
/// (`toRoot`) receives it.
LoadSet scatterLoads(const Placement &placement, bool toRoot);

/// Every member sends the volume to the next one of the group.
LoadSet shiftLoads(const Placement &placement);

/// The first member sends the volume to the second.
LoadSet messageLoads(const Placement &placement);

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_LOADS_H
