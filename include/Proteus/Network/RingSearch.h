//===- RingSearch.h - rings through one node --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Search for the rings that a communication library such as NCCL forms through
// the devices of a node. The links of the node limit the number and the speed
// of the rings. Communicators and the reference's cost model use the result.
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
  NVLinkRelay = 2,  ///< NVLink through another device
  OneSwitch = 3,    ///< one PCIe switch
  SomeSwitches = 4, ///< several PCIe switches
  Bridge = 5,       ///< through a CPU
  System = 6,       ///< between CPUs
};

/// One ring, or the part of a ring in one of several nodes.
struct RingChannel {
  std::vector<uint32_t> order; ///< numbers of the devices in the node
  /// `index` of the NIC through which data enter and leave the node, or -1 if
  /// the ring uses no NIC.
  int32_t enter = -1, leave = -1;
  /// Links that carry the ring, as indices into the node graph, each with its
  /// load as a multiple of the ring's rate.
  std::vector<std::pair<uint32_t, double>> loads;
};

/// Rings that run at the same time, all with the same speed.
struct RingSet {
  std::vector<RingChannel> channels;
  double speed = 0;                   ///< bytes/s of one channel
  PathClass intra = PathClass::Local; ///< worst class allowed between devices
  PathClass inter = PathClass::Local; ///< the same between devices and NICs
  bool equalChannels = true;          ///< true if all channels have one order
  /// True if a ring may leave the node through another NIC than it enters.
  bool crossNIC = false;

  double bandwidth() const { return speed * channels.size(); }
};

/// Finds rings through the devices with the numbers `local` (ascending) of a
/// node. With `acrossNodes`, each ring enters and leaves the node through NICs.
/// If no ring fits, returns one slow channel. Returns no channel only if
/// `local` is empty.
RingSet findRings(const machine::NodeGraph &graph,
                  llvm::ArrayRef<uint32_t> local, bool acrossNodes);

} // namespace proteus::net

#endif // PROTEUS_NETWORK_RINGSEARCH_H
