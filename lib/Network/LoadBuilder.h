//===- LoadBuilder.h - sums of link loads -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A builder of link loads. Each function of Loads.h describes the transfers of
// one algorithm to the builder, which adds up the loads that they put on links.
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

/// The loads of one algorithm on links, and lower bounds on the time of its
/// transfer. A bound is for a set of links. It is the time, in seconds per byte
/// of the plan's volume, that the slowest link of the set needs.
struct LoadSet {
  LinkLoads loads;
  double allLinks = 0; ///< bound of all links
  double ports = 0;    ///< bound of the ports of NICs
  double network = 0;  ///< bound of the ports of NICs and the fabric's links
};

/// A builder of the loads on the links of the nodes and of the fabric. An
/// amount is a share of the plan's volume, or a multiple of the `unit` that is
/// passed to `finish`. A parameter `place` is a node of the group, as an index
/// into Placement::places. A parameter `member` is the number of a member in
/// the shape of its node.
///
/// All nodes of one shape have the same loads on their internal links and NIC
/// ports. The builder therefore records these loads only for the first node of
/// each shape, and applies them to all nodes of the shape.
class LoadBuilder {
public:
  /// Creates a builder. Nodes in `apart` have other loads than the other nodes
  /// of their shape. Their internal loads are therefore recorded separately.
  explicit LoadBuilder(const Placement &placement,
                       llvm::ArrayRef<uint32_t> apart = {});

  /// Adds `amount` to the load of a link of the node graph.
  void addLink(uint32_t place, uint32_t link, double amount) {
    if (counts(place))
      nodeLoads[nodeBegin[place] + link] += amount;
  }
  /// Adds `amount` to the load of each link of a route.
  void addWay(uint32_t place, const Way &way, double amount);
  /// Adds the given loads, multiplied by `amount`.
  void addLoads(uint32_t place, const NodeLoads &loads, double amount);
  /// Divides `amount` among the NVLinks between a member and its NVSwitches, in
  /// proportion to their bandwidths. `addPortsOut` adds to the links out of the
  /// member, `addPortsIn` to the links into the member.
  void addPortsOut(uint32_t place, uint32_t member, double amount);
  void addPortsIn(uint32_t place, uint32_t member, double amount);
  /// Adds `amount` to the links from one member of a node to another.
  void addLocal(uint32_t place, uint32_t from, uint32_t to, double amount);
  /// Adds `amount` to the port between a NIC and the fabric, out of the node or
  /// into the node.
  void addNICOut(uint32_t place, uint32_t nic, double amount);
  void addNICIn(uint32_t place, uint32_t nic, double amount);
  /// Adds `amount` to the route from a member to its NIC, or from the NIC to
  /// the member.
  void addMemberOut(uint32_t place, uint32_t member, double amount);
  void addMemberIn(uint32_t place, uint32_t member, double amount);

  /// Adds `amount` to the uplink or downlink of the unit of `level` that
  /// contains a node. Does nothing if these links can never limit a flow.
  /// `rail` is used only at the lowest level of a fabric with rails.
  void addUp(unsigned level, uint32_t place, uint32_t rail, double amount);
  void addDown(unsigned level, uint32_t place, uint32_t rail, double amount);
  /// Adds `amount` to all links of the fabric between a NIC of one node and a
  /// NIC of another node.
  void addFabric(uint32_t from, uint32_t fromNIC, uint32_t to, uint32_t toNIC,
                 double amount);

  /// Adds data that all gateways of one node send to all gateways of another
  /// node. On each rail, as many data stay on the rail as the receiving node
  /// expects there. The rest changes rails.
  void addEdge(uint32_t from, uint32_t to, double amount);
  /// Adds the data that a ring sends from one node to another, over all
  /// channels of the ring together. These data are the plan's volume.
  void addRingEdge(uint32_t from, uint32_t to);
  /// Adds a message: data of `amount` from one member to another. In a fabric
  /// with rails, a message to another node leaves over the rail of the receiver
  /// if possible. If the sender is on another rail, it first sends the message
  /// over NVSwitches to the members of its node on the receiver's rail. Without
  /// NVSwitches or such members, the message leaves over the rail of the
  /// sender.
  void addMessage(MemberPlace from, MemberPlace to, double amount);

  /// Returns the sums of all loads, multiplied by `unit`. For example, callers
  /// can add whole messages and pass 1 / (number of messages).
  LoadSet finish(double unit = 1);

private:
  /// A NIC of the sending node and a NIC of the receiving node. `share` is the
  /// part of the data from one node to the other that travels between these two
  /// NICs.
  struct Lane {
    uint32_t from, to; ///< numbers of NICs
    double share;
  };
  /// For each NIC, the share of the node's data that passes through the NIC.
  using Shares = std::vector<double>;
  struct ShapeShares {
    Shares gateways, ringOut, ringIn;
  };
  enum class EdgeKind { Gateways, Ring };

  /// Returns true if loads inside the node are recorded, either for this node
  /// alone or for all nodes of its shape.
  bool counts(uint32_t place) const { return nodeBegin[place] != notCounted; }
  const ShapeShares &sharesAt(uint32_t place) const {
    return sharesOfShape[placement.places[place].shape];
  }
  /// Adds data that leave or enter a node. Each NIC gets its share of `amount`.
  /// With `withWays`, also adds the data to the routes between the gateways and
  /// their NICs.
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
  std::vector<uint32_t>
      standsFor; ///< for each node: the node that records its loads
  /// For each node: index of its first load in `nodeLoads`, or `notCounted` if
  /// another node records its loads.
  std::vector<size_t> nodeBegin;
  /// For each node that records loads: the loads of its links, then the loads
  /// of its NIC ports.
  std::vector<double> nodeLoads;
  /// For each kind of node: the bandwidths of its links, then of its NIC ports,
  /// in bytes/s.
  std::vector<std::vector<int64_t>> capacitiesOfKind;

  std::vector<ShapeShares> sharesOfShape;
  std::map<std::tuple<uint32_t, uint32_t, EdgeKind>, std::vector<Lane>> lanes;

  /// The units of one fabric level that contain nodes of the group.
  struct Level {
    bool canFill = false; ///< see Placement::canFill
    std::vector<int64_t> units;
    std::vector<uint32_t> unitOfPlace; ///< for each node: index into `units`
    uint32_t rails = 1;
    /// For each unit and each of its rails: load of the uplink, load of the
    /// downlink.
    std::vector<double> loads;
  };
  /// Empty if the group is in one node or no uplink can limit a flow.
  std::vector<Level> levels;
};

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_LOADBUILDER_H
