//===- LoadBuilder.h - sums of link loads -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sum of the loads that the transfers of a collective put on links. The
// functions of Loads.h add the transfers of one algorithm.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_NETWORK_LOADBUILDER_H
#define PROTEUS_LIB_NETWORK_LOADBUILDER_H

#include "Placement.h"

#include "Proteus/Network/Communicator.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace proteus::net {

/// The loads of one algorithm on links. The times are the least seconds that
/// the slowest link of some set takes per byte of the plan's volume.
struct LoadSet {
  LinkLoads loads;
  double allLinks = 0; ///< over all links
  double ports = 0;    ///< over the ports of NICs
  double network = 0;  ///< over the ports of NICs and the links of the fabric
};

/// Builder of the loads on the links of nodes and fabric. Amounts are shares of
/// the plan's volume, or multiples of the unit that is passed to `finish`. In
/// parameters, `place` is a node of the group, as an index into
/// Placement::places, and `member` the number of a member in the node's shape.
///
/// All nodes of one shape have the same loads inside. Loads inside the first
/// node of a shape therefore count for all its nodes, and loads inside the
/// others are ignored.
class LoadBuilder {
public:
  /// Creates a builder. The nodes `apart` have loads of their own, which differ
  /// from those of other nodes of their shape.
  explicit LoadBuilder(const Placement &placement,
                       llvm::ArrayRef<uint32_t> apart = {});

  /// Adds to a link of the node graph.
  void addLink(uint32_t place, uint32_t link, double amount) {
    if (counts(place))
      nodeLoads[nodeBegin[place] + link] += amount;
  }
  /// Adds to all links of a route.
  void addWay(uint32_t place, const Way &way, double amount);
  /// Adds `loads` times `amount`.
  void addLoads(uint32_t place, const NodeLoads &loads, double amount);
  /// Adds to the NVLinks between a member and its NVSwitches.
  void addPortsOut(uint32_t place, uint32_t member, double amount);
  void addPortsIn(uint32_t place, uint32_t member, double amount);
  /// Adds a message between two members of a node.
  void addLocal(uint32_t place, uint32_t from, uint32_t to, double amount);
  /// Adds to the port of a NIC towards the fabric.
  void addNICOut(uint32_t place, uint32_t nic, double amount);
  void addNICIn(uint32_t place, uint32_t nic, double amount);
  /// Adds to the route between a member and its NIC.
  void addMemberOut(uint32_t place, uint32_t member, double amount);
  void addMemberIn(uint32_t place, uint32_t member, double amount);

  /// Adds to the uplink or downlink of the unit of `level` above a node. `rail`
  /// matters only at the lowest level of a fabric with rails.
  void addUp(unsigned level, uint32_t place, uint32_t rail, double amount);
  void addDown(unsigned level, uint32_t place, uint32_t rail, double amount);
  /// Adds to all links of the fabric between a NIC of one node and a NIC of
  /// another node.
  void addFabric(uint32_t from, uint32_t fromNIC, uint32_t to, uint32_t toNIC,
                 double amount);

  /// Adds data from all gateways of a node to those of another. Data stay on
  /// one rail where both nodes have gateways on it.
  void addEdge(uint32_t from, uint32_t to, double amount);
  /// Adds the channels of a ring from one node to another.
  void addRingEdge(uint32_t from, uint32_t to);
  /// Adds a message between two members. In a node with switches, a message to
  /// another node first goes to the members on the rail of the receiver.
  void addMessage(MemberPlace from, MemberPlace to, double amount);

  /// Returns the sum of all loads. Amounts are multiples of `unit` times the
  /// volume.
  LoadSet finish(double unit = 1);

private:
  /// A share of the data from one node to another, between two NICs.
  struct Lane {
    uint32_t from, to; ///< NICs
    double share;
  };
  /// By NIC, the share of the data of a node that enters or leaves through it.
  using Shares = std::vector<double>;
  struct ShapeShares {
    Shares gateways, ringOut, ringIn;
  };
  enum class EdgeKind { Gateways, Ring };

  /// Returns true if loads inside the node count, for the node itself or for
  /// all nodes of its shape.
  bool counts(uint32_t place) const { return nodeBegin[place] != notCounted; }
  const ShapeShares &sharesAt(uint32_t place) const {
    return sharesOfShape[placement.places[place].shape];
  }
  /// Adds to the NICs of a node, and with `withWays` to the routes between them
  /// and the gateways of the node.
  void addLeaving(uint32_t place, const Shares &shares, bool withWays,
                  double amount);
  void addEntering(uint32_t place, const Shares &shares, bool withWays,
                   double amount);
  const std::vector<Lane> &lanesBetween(uint32_t from, uint32_t to,
                                        EdgeKind kind);
  void addLanes(uint32_t from, uint32_t to, EdgeKind kind, double amount);
  unsigned meetingLevel(uint32_t from, uint32_t to) const;
  void makeLevels();
  LinkLoads::Pattern patternOf(LoadSet &set, uint32_t place, double unit);
  void appendNodes(LoadSet &set, LinkLoadsBuilder &loads, double unit);
  void appendFabric(LoadSet &set, LinkLoadsBuilder &loads, double unit) const;

  static constexpr size_t notCounted = ~size_t(0);

  const Placement &placement;
  std::vector<uint32_t> standsFor; ///< by place: the place whose loads it has
  std::vector<size_t> nodeBegin;   ///< by place: its begin in `nodeLoads`
  std::vector<double> nodeLoads;   ///< by link, then by port of the NICs
  std::vector<std::vector<int64_t>> capacitiesOfKind; ///< bytes/s

  std::vector<ShapeShares> sharesOfShape;
  std::map<std::tuple<uint32_t, uint32_t, EdgeKind>, std::vector<Lane>> lanes;

  /// The units of one level of the fabric above the nodes of the group.
  struct Level {
    bool canFill = false; ///< see Placement::canFill
    std::vector<int64_t> units;
    std::vector<uint32_t> unitOfPlace; ///< by place: index into `units`
    uint32_t rails = 1;
    std::vector<double> loads; ///< by unit and rail, up and down
  };
  std::vector<Level> levels; ///< empty if no level can fill
};

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_LOADBUILDER_H
