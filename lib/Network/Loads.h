//===- Loads.h - link loads of algorithms -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per algorithm. It returns the bytes that the algorithm sends
// over each link, as multiples of the volume that docs/collectives.md defines
// for the algorithm. Communicators use them in plans.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_NETWORK_LOADS_H
#define PROTEUS_LIB_NETWORK_LOADS_H

#include "LoadBuilder.h"

namespace proteus::net {

/// Returns the loads of rings: every member sends the volume to the next one.
/// Rings pass the nodes in ascending order. A reduction in the switch within
/// one node has the same loads.
LoadSet ringLoads(const Placement &placement);

/// Returns the loads of two binary trees over the nodes, each for half of the
/// volume, with chains inside the nodes in both directions.
LoadSet treeLoads(const Placement &placement);

/// Returns the loads of an all-reduce in which switches add and multicast
/// within the nodes, with trees between the nodes. Every port in the node with
/// the fewest members carries the volume. The trees move the volume divided by
/// 1 + 1/members, with the members of that node.
LoadSet inSwitchTreeLoads(const Placement &placement);

/// Returns the loads of parallel trees (PAT): one tree per member, with one
/// member per node. Every part moves by distances that are powers of two, the
/// largest first. Most of the data therefore go to neighbouring nodes.
LoadSet parallelTreeLoads(const Placement &placement);

/// Returns the loads of an all-to-all: every member sends an equal part of the
/// volume to every other one.
LoadSet exchangeLoads(const Placement &placement);
/// The traffic of an all-to-all inside a node. The links of the node take at
/// least `seconds` to carry one byte from each of its members to each of the
/// `others`, the number of other members in the node.
struct ExchangeInside {
  double seconds, others;
};
/// Returns the traffic inside the nodes, for each shape with several members.
std::vector<ExchangeInside> exchangeInsides(const Placement &placement);

/// Returns the loads of a broadcast: the data of the first member pass all
/// other members one after another.
LoadSet chainLoads(const Placement &placement);

/// Returns the loads of a scatter: the first member sends an equal part of the
/// volume to every other member. With `toRoot`, returns those of a gather: it
/// receives the parts.
LoadSet scatterLoads(const Placement &placement, bool toRoot);

/// Returns the loads of a shift: every member sends the volume to the next one
/// of the group.
LoadSet shiftLoads(const Placement &placement);

/// Returns the loads of a message of the first member to the second.
LoadSet messageLoads(const Placement &placement);

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_LOADS_H
