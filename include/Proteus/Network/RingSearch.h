//===- RingSearch.h - rings through one node --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search for the rings that a communication library such as NCCL forms
// through the devices of a node. The bandwidth of the links limits the number
// and the speed of the rings. The communicators and the cost model of the
// reference use the rings.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_NETWORK_RINGSEARCH_H
#define PROTEUS_NETWORK_RINGSEARCH_H

#include "Proteus/Machine/NodeGraph.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace proteus::net {

/// Classes of routes inside a node, best first. The worst hop of a route
/// determines its class.
enum class PathClass : uint8_t {
  Local = 0,
  NVLink = 1,
  NVLinkRelay = 2,  ///< over NVLink through another device
  OneSwitch = 3,    ///< through one PCIe switch
  SomeSwitches = 4, ///< through several PCIe switches
  Bridge = 5,       ///< through a CPU
  System = 6,       ///< between CPUs
};

/// One ring inside a node, or the part of a ring across nodes that is inside
/// one node.
struct RingChannel {
  std::vector<uint32_t> order; ///< devices in ring order, by number in the node
  /// Numbers of the NICs through which data enter and leave the node. They are
  /// -1 if the ring stays inside the node or the node has no NIC.
  int32_t enter = -1, leave = -1;
  /// Links that carry the ring, and their loads. A link is an index into
  /// NodeGraph::links. A load is a multiple of the ring's rate.
  std::vector<std::pair<uint32_t, double>> loads;
};

/// Rings that run at the same time and at the same speed.
struct RingSet {
  std::vector<RingChannel> channels;
  double speed = 0;                   ///< rate of one channel in bytes/s
  PathClass intra = PathClass::Local; ///< worst class allowed between devices
  PathClass inter =
      PathClass::Local; ///< worst class allowed between devices and NICs
  bool equalChannels =
      true; ///< true if all channels have the same order of devices
  /// True if a ring may enter the node through one NIC and leave it through
  /// another NIC.
  bool crossNIC = false;

  double bandwidth() const { return speed * channels.size(); }
};

/// Finds rings through some devices of a node. `local` contains the numbers of
/// the devices in ascending order. With `acrossNodes`, each ring enters and
/// leaves the node through NICs. If the search finds no ring, for example
/// because the links have too little bandwidth, returns one slow ring. If
/// `local` is empty, returns no ring.
RingSet findRings(const machine::NodeGraph &graph,
                  llvm::ArrayRef<uint32_t> local, bool acrossNodes);

} // namespace proteus::net

#endif // PROTEUS_NETWORK_RINGSEARCH_H
