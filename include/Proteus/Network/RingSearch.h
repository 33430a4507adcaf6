//===- RingSearch.h - rings through one node --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the rings that a communication library lays through the devices of a
// node: as many as the links carry, each with its own share of them.
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

/// How two devices of a node reach each other: the worst thing on the way.
enum class PathClass : uint8_t {
  Local = 0,
  NVLink = 1,
  NVLinkRelay = 2,  ///< NVLink through another device
  OneSwitch = 3,    ///< one PCIe switch
  SomeSwitches = 4, ///< several PCIe switches
  Bridge = 5,       ///< through a CPU
  System = 6,       ///< between CPUs
};

/// One ring, or its part in one node of several: local device numbers in order
/// and the links it passes.
struct RingChannel {
  std::vector<uint32_t> order;
  /// NIC (its `index`) through which data enter and leave; -1 within a node.
  int32_t enter = -1, leave = -1;
  /// Links of the node graph (indices) that carry the ring, each with the
  /// multiple of the ring's rate that loads it.
  std::vector<std::pair<uint32_t, double>> loads;
};

struct RingSet {
  std::vector<RingChannel> channels;
  double speed = 0;                   ///< bytes/s of one channel
  PathClass intra = PathClass::Local; ///< between devices
  PathClass inter = PathClass::Local; ///< between devices and NICs
  bool equalChannels = true;          ///< all channels have the same order
  bool crossNIC = false;              ///< enters and leaves by different NICs

  double bandwidth() const { return speed * channels.size(); }
};

/// Rings through the devices `local` (their `index`es, ascending) of a node.
/// With `acrossNodes` each ring enters and leaves through NICs. There is always
/// an answer: the worst is one slow channel.
RingSet findRings(const machine::NodeGraph &graph,
                  llvm::ArrayRef<uint32_t> local, bool acrossNodes);

} // namespace proteus::net

#endif // PROTEUS_NETWORK_RINGSEARCH_H
