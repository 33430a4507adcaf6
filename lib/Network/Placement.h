//===- Placement.h - members of a group by node -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The members of a group, sorted by node. Nodes of one kind in which the same
// devices are members have the same *shape*. Routes, rings and NICs are
// computed once per shape. Communicators and the functions of Loads.h use
// placements.
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

/// Links of a node graph and the load that a flow puts on each link, as a share
/// of the flow's rate.
using NodeLoads = std::vector<std::pair<uint32_t, double>>;

/// A device of the group, within its node.
struct Member {
  uint32_t local = 0; ///< number of the device in the node
  uint32_t nic = 0;   ///< NIC through which the device reaches other nodes
};

/// A member through which data enter and leave a node, over a NIC. A node with
/// several gateways divides its data among them.
struct Gateway {
  uint32_t member = 0;
  uint32_t nic = 0;
  double share = 1; ///< share of the node's data
};

/// Properties of all nodes that are of one kind and have the same members.
struct NodeShape {
  uint32_t kind = 0;           ///< index into Cluster::kinds
  std::vector<Member> members; ///< sorted by number
  /// True if all members are connected to the same NVSwitches.
  bool switched = false;
  /// True if rings inside the node use NVLink only.
  bool nvlink = false;
  /// Bandwidth of all rings together in bytes/s; infinite if the node has no
  /// ring. On a mesh (Placement::spreadsOverMesh), bandwidth of all links of a
  /// member.
  double ringWidth = 0;
  std::vector<Gateway> gateways; ///< empty if the group is in one node

  // Results of the ring search. They are empty if `switched` is true, because
  // the ports of the devices then limit the rings. On a mesh, `ringLoads` holds
  // the loads of all links between members instead.
  NodeLoads ringLoads;
  std::vector<double> ringOut, ringIn; ///< for each NIC: share of the ring data
  std::vector<std::vector<uint32_t>>
      orders; ///< for each channel: members in ring order

  /// Routes between members. The route from `from` to `to` is at
  /// from * size() + to. Empty if `switched` is true.
  std::vector<Way> ways;
  /// For each member: the route to its NIC, and the route back. Empty if the
  /// group is in one node.
  std::vector<Way> outward, inward;

  uint32_t size() const { return members.size(); }
  const Way &way(uint32_t from, uint32_t to) const {
    return ways[from * size() + to];
  }
};

/// A node with members of the group.
struct NodePlace {
  int64_t node = 0;
  uint32_t shape = 0; ///< index into Placement::shapes
};

/// A member of the group: its node, as an index into Placement::places, and its
/// number in the shape of that node.
struct MemberPlace {
  uint32_t place = 0, member = 0;
};

/// The members of one group on a cluster. A parameter `place` is a node of the
/// group, as an index into `places`.
class Placement {
public:
  /// Creates the placement of `devices`, given in the order of the group. Fails
  /// if a device is not in the cluster, occurs twice, or cannot reach another
  /// device.
  static llvm::Expected<std::unique_ptr<Placement>>
  create(std::shared_ptr<const ClusterWays> ways,
         llvm::ArrayRef<int64_t> devices);

  const machine::Cluster &cluster;
  int64_t size = 0;                ///< number of members
  std::vector<NodePlace> places;   ///< sorted by node
  std::vector<NodeShape> shapes;   ///< in the order of their first node
  std::vector<MemberPlace> order;  ///< members in the order of the group
  std::vector<uint32_t> kindsUsed; ///< indices into Cluster::kinds, ascending

  uint32_t numPlaces() const { return places.size(); }
  const NodeShape &shapeAt(uint32_t place) const {
    return shapes[places[place].shape];
  }
  const NodeWays &waysOf(const NodeShape &shape) const {
    return clusterWays->ofKind(shape.kind);
  }

  /// Returns true if the fabric has rails: leaf switch i connects NIC i of each
  /// node.
  bool hasRails() const {
    return cluster.fabric.rails && !cluster.fabric.levels.empty();
  }
  /// Returns true if the uplinks of a unit of `level` can limit a flow. This is
  /// the case if they have less bandwidth than the NIC ports below the unit.
  /// Otherwise the ports are always full before the uplinks.
  bool canFill(unsigned level) const {
    double oversubscription = 1;
    for (unsigned below = 0; below <= level; ++below)
      oversubscription *= cluster.fabric.levels[below].oversubscription;
    return oversubscription > 1;
  }
  /// Returns the number of fabric levels with uplinks: all but the topmost
  /// level.
  unsigned numUpLevels() const {
    return cluster.fabric.levels.empty() ? 0 : cluster.fabric.levels.size() - 1;
  }
  /// Returns the lowest level of the fabric at which both nodes are below the
  /// same unit, or the number of levels if no level connects them.
  unsigned meetingLevel(int64_t nodeA, int64_t nodeB) const;
  /// Returns the latency, in seconds, from a NIC of one node to a NIC of
  /// another node.
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
