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
  /// 0 for a link inside a node or a NIC's port; k + 1 for the link between a
  /// unit of fabric level k and the level above it.
  uint32_t level = 0;
  /// At level 0: index into the links of the node graph, or a port of NIC i
  /// towards the fabric: numLinks + 2i out, numLinks + 2i + 1 in. At higher
  /// levels: 2 * rail up, 2 * rail + 1 down. Only links of level 1 in a fabric
  /// with rails have a rail other than 0.
  uint32_t port = 0;
  int64_t unit = 0; ///< the node, or the unit of the fabric level

  friend bool operator==(const LinkId &a, const LinkId &b) {
    return a.level == b.level && a.port == b.port && a.unit == b.unit;
  }
  friend bool operator<(const LinkId &a, const LinkId &b) {
    return std::tie(a.level, a.unit, a.port) <
           std::tie(b.level, b.unit, b.port);
  }
};

/// Returns the bandwidth of `link` in bytes/s. The port of a NIC has the line
/// rate of the NIC times the `efficiency` of the fabric. A link between a unit
/// and the level above has the sum of the ports below the unit, divided by the
/// oversubscription of all levels up to that unit.
int64_t capacityOf(const machine::Cluster &cluster, const LinkId &link);
/// Returns the name of `link` in reports: "node 3: gpu 2 -> nvswitch",
/// "leaf 7 rail 2 up".
std::string nameOf(const machine::Cluster &cluster, const LinkId &link);

/// Load of a link that carries the full rate of a flow. Loads are integers so
/// that their sum does not depend on the order or grouping of the flows.
constexpr uint32_t loadUnit = 1 << 16;

/// Load of a flow on one link: a flow of rate x uses x * load / loadUnit of the
/// bandwidth of the link.
struct LinkLoad {
  LinkId link;
  int64_t load = loadUnit;
};

/// Load of a flow on a link of level 0, without the node of the link.
struct PortLoad {
  uint32_t port = 0;
  int64_t load = loadUnit;

  friend bool operator<(const PortLoad &a, const PortLoad &b) {
    return std::tie(a.port, a.load) < std::tie(b.port, b.load);
  }
};

/// The links that one flow loads. A large group loads most of its nodes alike.
/// Therefore the loads inside a node are stored once per *pattern*, and every
/// node refers to its pattern.
struct LinkLoads {
  using Pattern = std::vector<PortLoad>; ///< ascending
  struct Node {
    int64_t node = 0;
    uint32_t pattern = 0;
  };

  std::vector<Pattern> patterns; ///< all different, none empty
  std::vector<Node> nodes;       ///< ascending
  std::vector<LinkLoad> fabric;  ///< links above nodes, ascending

  /// Returns the loads of all links, ascending, each link once.
  std::vector<LinkLoad> list() const;
};

/// Builder of LinkLoads that stores equal patterns once.
class LinkLoadsBuilder {
public:
  /// Adds a pattern, which may be empty, and returns its number for `addNode`.
  uint32_t addPattern(LinkLoads::Pattern pattern);
  /// Adds a node with the pattern of the given number. Nodes must be added in
  /// ascending order.
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

/// Groups `loads` by node and pattern. The loads must be ascending and contain
/// each link once.
LinkLoads groupLoads(llvm::ArrayRef<LinkLoad> loads);

} // namespace proteus::net

#endif // PROTEUS_NETWORK_LINKLOADS_H
