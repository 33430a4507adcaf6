//===- LinkLoads.h - links and what flows put on them -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// A link of the cluster, one direction.
struct LinkId {
  /// 0: inside a node, or a NIC's port; k + 1: above units of fabric level k.
  uint32_t level = 0;
  /// Level 0: index into the links of the node graph; the ports of NIC i
  /// towards the fabric follow them: numLinks + 2i out, numLinks + 2i + 1 in.
  /// Above: 2 * rail up, 2 * rail + 1 down (rail 0 without rails, and above the
  /// lowest level).
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

/// Bytes/s that a link carries. A NIC's port carries the share of its line rate
/// that the fabric's `efficiency` is; the way up from a switch what is below
/// it, divided by the oversubscription of all levels up to it.
int64_t capacityOf(const machine::Cluster &cluster, const LinkId &link);
/// "node 3: gpu 2 -> nvswitch", "leaf 7 rail 2 up".
std::string nameOf(const machine::Cluster &cluster, const LinkId &link);

/// Loads are integers so that sums over any grouping of flows are equal.
constexpr uint32_t loadUnit = 1 << 16;

/// A flow of rate x puts x * load / loadUnit on the link.
struct LinkLoad {
  LinkId link;
  int64_t load = loadUnit;
};

/// The same for a link of level 0 of some node.
struct PortLoad {
  uint32_t port = 0;
  int64_t load = loadUnit;

  friend bool operator<(const PortLoad &a, const PortLoad &b) {
    return std::tie(a.port, a.load) < std::tie(b.port, b.load);
  }
};

/// The links that one flow loads. A large group loads most of its nodes alike,
/// so the ports of a node are listed once per *pattern*, and readers look at
/// patterns rather than at every link of every node.
struct LinkLoads {
  using Pattern = std::vector<PortLoad>; ///< ascending
  struct Node {
    int64_t node = 0;
    uint32_t pattern = 0;
  };

  std::vector<Pattern> patterns; ///< no two are equal, none is empty
  std::vector<Node> nodes;       ///< ascending
  std::vector<LinkLoad> fabric;  ///< links above nodes, ascending

  /// Every link once, ascending.
  std::vector<LinkLoad> list() const;
};

/// Collects loads; finds the patterns that are equal.
class LinkLoadsBuilder {
public:
  /// For `addNode`; may be empty.
  uint32_t addPattern(LinkLoads::Pattern pattern);
  /// Nodes come in ascending order.
  void addNode(int64_t node, uint32_t pattern);
  /// Links come in ascending order.
  void addFabric(const LinkLoad &load) { loads.fabric.push_back(load); }
  LinkLoads take();

private:
  LinkLoads loads;
  std::map<LinkLoads::Pattern, uint32_t> numbers;
};

/// `loads` ascending, each link once.
LinkLoads groupLoads(llvm::ArrayRef<LinkLoad> loads);

} // namespace proteus::net

#endif // PROTEUS_NETWORK_LINKLOADS_H
