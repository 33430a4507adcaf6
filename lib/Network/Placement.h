//===- Placement.h - where the members of a group are -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The members of a group node by node. What depends only on the kind of a node
// and on which of its devices are members is found once per *shape*, however
// many nodes have that shape.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_NETWORK_PLACEMENT_H
#define PROTEUS_LIB_NETWORK_PLACEMENT_H

#include "NodeWays.h"

#include "Proteus/Machine/Cluster.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace proteus::net {

/// What a flow puts on a link of the node graph, as a share of its rate.
using NodeLoads = std::vector<std::pair<uint32_t, double>>;

struct Member {
  uint32_t local = 0; ///< number in the node
  uint32_t nic = 0;   ///< through which it reaches other nodes
};

/// A device through which a share of the data enters and leaves the node.
struct Gateway {
  uint32_t member = 0;
  uint32_t nic = 0;
  double share = 1;
};

struct NodeShape {
  uint32_t kind = 0;
  std::vector<Member> members; ///< ascending
  /// Whether all members meet in the same NVSwitches.
  bool switched = false;
  /// Whether rings inside the node use NVLink only.
  bool nvlink = false;
  /// Bytes/s of all rings through the members; infinite if there is nothing to
  /// pass inside the node.
  double ringWidth = 0;
  std::vector<Gateway> gateways; ///< if the group has several nodes

  // Only without switches: what the search for rings has found.
  NodeLoads ringLoads;
  std::vector<double> ringOut, ringIn;       ///< shares by NIC
  std::vector<std::vector<uint32_t>> orders; ///< members, by channel

  /// Ways between members: from * members + to. Empty with switches.
  std::vector<Way> ways;
  /// Between each member and its NIC, if the group has several nodes.
  std::vector<Way> outward, inward;

  uint32_t size() const { return members.size(); }
  const Way &way(uint32_t from, uint32_t to) const {
    return ways[from * size() + to];
  }
};

/// The part of a group in one node.
struct NodePlace {
  int64_t node = 0;
  uint32_t shape = 0;
};

/// A member: index of its place and its number in the shape.
struct MemberPlace {
  uint32_t place = 0, member = 0;
};

class Placement {
public:
  static llvm::Expected<std::unique_ptr<Placement>>
  create(std::shared_ptr<const ClusterWays> ways,
         llvm::ArrayRef<int64_t> devices);

  const machine::Cluster &cluster;
  int64_t size = 0;                ///< members
  std::vector<NodePlace> places;   ///< by node, ascending
  std::vector<NodeShape> shapes;   ///< in the order of their first node
  std::vector<MemberPlace> order;  ///< members in the order of the group
  std::vector<uint32_t> kindsUsed; ///< kinds of nodes, ascending

  uint32_t numPlaces() const { return places.size(); }
  const NodeShape &shapeAt(uint32_t place) const {
    return shapes[places[place].shape];
  }
  const NodeWays &waysOf(const NodeShape &shape) const {
    return clusterWays->ofKind(shape.kind);
  }

  /// Whether NICs of one number have leaf switches of their own.
  bool hasRails() const {
    return cluster.fabric.rails && !cluster.fabric.levels.empty();
  }
  /// Whether all ports below a unit together carry more than the ways above it.
  /// Else the ports are full before, and nobody ever waits for the way up.
  bool canFill(unsigned level) const {
    double oversubscription = 1;
    for (unsigned below = 0; below <= level; ++below)
      oversubscription *= cluster.fabric.levels[below].oversubscription;
    return oversubscription > 1;
  }
  /// Levels of the fabric with a way up.
  unsigned numUpLevels() const {
    return cluster.fabric.levels.empty() ? 0 : cluster.fabric.levels.size() - 1;
  }
  /// The lowest level of which both nodes are below the same unit; the number
  /// of levels if there is none.
  unsigned meetingLevel(int64_t nodeA, int64_t nodeB) const;
  /// Seconds from NIC to NIC.
  double networkLatency(int64_t nodeA, int64_t nodeB) const;

private:
  explicit Placement(std::shared_ptr<const ClusterWays> ways)
      : cluster(ways->cluster), clusterWays(std::move(ways)) {}
  llvm::Error assign(llvm::ArrayRef<int64_t> devices);
  llvm::Error completeShape(NodeShape &shape, int64_t node);
  llvm::Error findWays(NodeShape &shape, int64_t node);
  llvm::Error findNICs(NodeShape &shape, int64_t node);
  void findRingsOf(NodeShape &shape);
  double widthOfWays(const NodeShape &shape) const;
  bool spreadsOverMesh(const NodeShape &shape) const;
  llvm::Error checkFabric() const;
  llvm::Error checkRails() const;
  int64_t deviceId(int64_t node, uint32_t local) const;

  std::shared_ptr<const ClusterWays> clusterWays;
};

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_PLACEMENT_H
