//===- LoadBuilder.h - adds up what a collective puts on links --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// The links of one algorithm, and how long they need at least: seconds for
/// every byte of the plan's volume.
struct LoadSet {
  LinkLoads loads;
  double allLinks = 0; ///< on the link that needs longest
  double ports = 0;    ///< on the NIC's port that needs longest
  double network = 0;  ///< likewise, with the links between switches
};

/// Adds amounts to links of the nodes of a placement and of the fabric above
/// them. Amounts are shares of the plan's volume, or multiples of a unit that
/// `finish` is told.
///
/// Nodes of one shape are loaded alike: what is added to the first of them
/// counts for all, and what is added to the others inside of them is ignored.
class LoadBuilder {
public:
  /// `apart`: places that are loaded unlike others of their shape.
  explicit LoadBuilder(const Placement &placement,
                       llvm::ArrayRef<uint32_t> apart = {});

  /// A link of the node graph.
  void addLink(uint32_t place, uint32_t link, double amount) {
    if (counts(place))
      nodeLoads[nodeBegin[place] + link] += amount;
  }
  void addWay(uint32_t place, const Way &way, double amount);
  void addLoads(uint32_t place, const NodeLoads &loads, double amount);
  /// The ports of a member towards its NVSwitches.
  void addPortsOut(uint32_t place, uint32_t member, double amount);
  void addPortsIn(uint32_t place, uint32_t member, double amount);
  /// The way of a message inside a node.
  void addLocal(uint32_t place, uint32_t from, uint32_t to, double amount);
  /// The port of a NIC, and the ways between a member and its NIC.
  void addNICOut(uint32_t place, uint32_t nic, double amount);
  void addNICIn(uint32_t place, uint32_t nic, double amount);
  void addMemberOut(uint32_t place, uint32_t member, double amount);
  void addMemberIn(uint32_t place, uint32_t member, double amount);

  /// The switches above a place; `rail` counts at the lowest level only.
  void addUp(unsigned level, uint32_t place, uint32_t rail, double amount);
  void addDown(unsigned level, uint32_t place, uint32_t rail, double amount);
  /// All switches between a NIC of one place and a NIC of another.
  void addFabric(uint32_t from, uint32_t fromNIC, uint32_t to, uint32_t toNIC,
                 double amount);

  /// Data from all gateways of a node to those of another. Same rails first.
  void addEdge(uint32_t from, uint32_t to, double amount);
  /// The same for the channels of a ring.
  void addRingEdge(uint32_t from, uint32_t to);
  /// A message between two members. In a node with switches it first goes to
  /// a member on the rail of the receiver.
  void addMessage(MemberPlace from, MemberPlace to, double amount);

  /// Amounts were multiples of `unit` of the volume.
  LoadSet finish(double unit = 1);

private:
  /// A share of what a node sends to another one: from NIC to NIC.
  struct Lane {
    uint32_t from, to;
    double share;
  };
  /// How much of what enters or leaves a node passes each NIC.
  using Shares = std::vector<double>;
  struct ShapeShares {
    Shares gateways, ringOut, ringIn;
  };
  enum class EdgeKind { Gateways, Ring };

  /// Whether the place stands for itself, or for all of its shape.
  bool counts(uint32_t place) const { return nodeBegin[place] != notCounted; }
  const ShapeShares &sharesAt(uint32_t place) const {
    return sharesOfShape[placement.places[place].shape];
  }
  /// The NICs of a node, and the ways between its gateways and them.
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
  std::vector<uint32_t> standsFor; ///< by place: the one that counts for it
  std::vector<size_t> nodeBegin;   ///< by place, into `nodeLoads`
  std::vector<double> nodeLoads;   ///< links, then ports of NICs
  std::vector<std::vector<int64_t>> capacitiesOfKind;

  std::vector<ShapeShares> sharesOfShape;
  std::map<std::tuple<uint32_t, uint32_t, EdgeKind>, std::vector<Lane>> lanes;

  /// Units of one level of the fabric that are above members.
  struct Level {
    bool canFill = false;
    std::vector<int64_t> units;
    std::vector<uint32_t> unitOfPlace;
    uint32_t rails = 1;
    std::vector<double> loads; ///< by unit and rail, up and down
  };
  std::vector<Level> levels; ///< none if no way up can fill
};

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_LOADBUILDER_H
