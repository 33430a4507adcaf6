//===- Loads.h - link loads of algorithms -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that return the loads of an algorithm on links, one function per
// algorithm. A load is the bytes that the algorithm sends over a link, as a
// multiple of the volume that docs/collectives.md defines for the algorithm.
// Communicators use the loads in their plans.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_NETWORK_LOADS_H
#define PROTEUS_LIB_NETWORK_LOADS_H

#include "LoadBuilder.h"

namespace proteus::net {

/// Returns the loads of rings, in which every member sends the volume to the
/// next member. Rings pass the nodes in ascending order. For groups in one
/// node, an in-switch reduction has the same loads.
LoadSet ringLoads(const Placement &placement);

/// Returns the loads of two binary trees over the nodes. Each tree carries half
/// of the volume. Inside a node, all data move along a chain of the members and
/// back.
LoadSet treeLoads(const Placement &placement);

/// Returns the loads of an all-reduce in which switches add and multicast
/// within the nodes, and trees connect the nodes. For an all-reduce of S bytes
/// the volume is S * (1 + 1/m), where m is the smallest number of members in a
/// node. In a node with m members, each member sends and receives this volume
/// over its NVLinks. The trees between nodes carry S bytes.
LoadSet inSwitchTreeLoads(const Placement &placement);

/// Returns the loads of parallel trees (PAT), one tree per member, in a group
/// with one member per node. Data move by distances that are powers of two, the
/// largest first. For example, data for the node at distance 6 move by 4 and
/// then by 2. Most hops therefore have a short distance.
LoadSet parallelTreeLoads(const Placement &placement);

/// Returns the loads of an all-to-all: every member sends an equal part of the
/// volume to every other member.
LoadSet exchangeLoads(const Placement &placement);
/// The traffic of an all-to-all inside a node. Every member has `others` other
/// members in its node. If every member sends one byte to each of these others,
/// the links of the node need at least `seconds` to carry all bytes.
struct ExchangeInside {
  double seconds, others;
};
/// Returns the traffic inside the nodes: one entry for each node shape with
/// several members.
std::vector<ExchangeInside> exchangeInsides(const Placement &placement);

/// Returns the loads of a broadcast, in which the data of the first member pass
/// all other members one after another.
LoadSet chainLoads(const Placement &placement);

/// Returns the loads of a scatter, in which the first member sends an equal
/// part of the volume to every other member. With `toRoot`, returns the loads
/// of a gather, in which the first member receives a part from every other
/// member.
LoadSet scatterLoads(const Placement &placement, bool toRoot);

/// Returns the loads of a shift, in which every member sends the volume to the
/// next member of the group.
LoadSet shiftLoads(const Placement &placement);

/// Returns the loads of a message from the first member to the second.
LoadSet messageLoads(const Placement &placement);

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_LOADS_H
