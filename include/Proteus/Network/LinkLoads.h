//===- LinkLoads.h - loads of flows on links --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Identifiers of the links of a cluster, and the load that a flow puts on each
// link. Communicators compute the loads; the engine shares the bandwidth of a
// link among the flows that load it.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_NETWORK_LINKLOADS_H
#define PROTEUS_NETWORK_LINKLOADS_H

#include "Proteus/Machine/Cluster.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace proteus::net {

/// One direction of a link of the cluster.
struct LinkId {
  /// 0 for a link inside a node and for the port of a NIC. k + 1 for a link
  /// between a unit of fabric level k and the level above it, for example 1 for
  /// the uplinks and downlinks of a leaf switch.
  uint32_t level = 0;
  /// At level 0: the index of a link in the node graph, or the number of a NIC
  /// port. If the node graph has n links, the port of NIC i has the numbers
  /// n + 2i (out of the node) and n + 2i + 1 (into the node). At higher levels:
  /// 2 * rail for the uplink, 2 * rail + 1 for the downlink. The rail is 0
  /// except at level 1 of a fabric with rails.
  uint32_t port = 0;
  int64_t unit = 0; ///< number of the node, or of the unit in its fabric level

  friend bool operator==(const LinkId &a, const LinkId &b) {
    return a.level == b.level && a.port == b.port && a.unit == b.unit;
  }
  friend bool operator<(const LinkId &a, const LinkId &b) {
    return std::tie(a.level, a.unit, a.port) <
           std::tie(b.level, b.unit, b.port);
  }
};

/// Returns the bandwidth of `link` in bytes/s. The port of a NIC has the line
/// rate of the NIC times the `efficiency` of the fabric. An uplink or downlink
/// of a unit has the bandwidth of all ports below the unit, divided by the
/// product of the oversubscriptions of all levels up to that unit. A link of
/// one rail counts only the ports of this rail. If the cluster has too few
/// nodes to fill the unit, the unit counts as full.
int64_t capacityOf(const machine::Cluster &cluster, const LinkId &link);
/// Returns the name of `link` for reports, for example "node 3: gpu 2 ->
/// nvswitch" or "leaf 7 rail 2 up".
std::string nameOf(const machine::Cluster &cluster, const LinkId &link);

/// The load of a link that carries the full rate of a flow. Loads are integers
/// so that their sum does not depend on the order in which flows are added.
constexpr uint32_t loadUnit = 1 << 16;

/// The load of a flow on one link. A flow of x bytes/s uses x * load / loadUnit
/// bytes/s of the link.
struct LinkLoad {
  LinkId link;
  int64_t load = loadUnit;
};

/// The load of a flow on a link inside a node or on a port of a NIC. `port` has
/// the meaning of LinkId::port. The node is stored in LinkLoads::Node.
struct PortLoad {
  uint32_t port = 0;
  int64_t load = loadUnit;

  friend bool operator<(const PortLoad &a, const PortLoad &b) {
    return std::tie(a.port, a.load) < std::tie(b.port, b.load);
  }
};

/// The links that one flow loads. A *pattern* is the list of the loads inside
/// one node. In a large group, most nodes have the same pattern. Therefore each
/// pattern is stored once, and every node refers to its pattern.
struct LinkLoads {
  using Pattern = std::vector<PortLoad>; ///< sorted by port
  struct Node {
    int64_t node = 0;
    uint32_t pattern = 0;
  };

  std::vector<Pattern> patterns; ///< all different; no pattern is empty
  std::vector<Node> nodes;       ///< sorted by node
  std::vector<LinkLoad> fabric;  ///< links above the nodes, sorted

  /// Returns the loads of all links, each link once, sorted by link.
  std::vector<LinkLoad> list() const;
};

/// A builder of LinkLoads. It stores equal patterns only once.
class LinkLoadsBuilder {
public:
  /// Adds a pattern, which may be empty, and returns its number for `addNode`.
  uint32_t addPattern(LinkLoads::Pattern pattern);
  /// Adds a node with the pattern that has the number `pattern`. Nodes must be
  /// added in ascending order.
  void addNode(int64_t node, uint32_t pattern);
  /// Adds a load on a link above the nodes. Links must be added in ascending
  /// order.
  void addFabric(const LinkLoad &load) { loads.fabric.push_back(load); }
  /// Returns the loads and leaves the builder empty.
  LinkLoads take();

private:
  LinkLoads loads;
  std::map<LinkLoads::Pattern, uint32_t> numbers;
};

/// Converts a list of loads to LinkLoads. The list must be sorted and contain
/// each link once.
LinkLoads groupLoads(llvm::ArrayRef<LinkLoad> loads);

} // namespace proteus::net

#endif // PROTEUS_NETWORK_LINKLOADS_H
