//===- ExchangeLoads.cpp - link loads of an all-to-all --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds up the loads of all pairs of members. Members of different nodes need no
// loop over pairs, because the data that leave a node, a rail or a unit of the
// fabric depend only on the number of members on each side. Amounts are in
// *parts*: a part is the data that one member sends to one other member.
//
//===----------------------------------------------------------------------===//

#include "Loads.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace proteus;
using namespace proteus::net;

namespace {
/// Computes the loads of an all-to-all in one group.
class Exchange {
public:
  explicit Exchange(const Placement &placement)
      : placement(placement), builder(placement) {}

  LoadSet run() {
    for (uint32_t place = 0; place < placement.numPlaces(); ++place)
      addWithinNode(place);
    if (placement.numPlaces() > 1)
      addBetweenNodes();
    return builder.finish(1.0 / (placement.size - 1));
  }

private:
  void addWithinNode(uint32_t place);
  void addBetweenNodes();
  void countRails();
  void addOutOfNode(uint32_t place);
  void addByRails(uint32_t place);
  void addLeafSwitches();
  void addUnits(unsigned level);

  const Placement &placement;
  LoadBuilder builder;

  // The following members are used only in fabrics with rails. A
  // std::vector<double> has one entry per rail.
  uint32_t numRails = 0;
  std::vector<double> receivers; ///< number of members on the rail
  /// For each rail: the number of members that send their data for receivers on
  /// this rail over the same rail (`matched`) or over another rail
  /// (`crossing`).
  std::vector<double> matched, crossing;
  /// Counts for the nodes below one unit of the lowest fabric level. A unit has
  /// one leaf switch per rail.
  struct Leaf {
    uint32_t place = 0; ///< a node below the unit
    std::vector<double> receivers, matched;
    /// For each rail: the number of parts that leave over this rail although
    /// their receivers are on other rails.
    std::vector<double> crossingUp;
    /// For each rail: the number of pairs of a crossing sender and a receiver
    /// on this rail that are in the same node. Data between them do not use the
    /// fabric, so `addLeafSwitches` subtracts these pairs.
    std::vector<double> ownNode;
  };
  std::vector<Leaf> leaves;
  std::vector<uint32_t> leafOfPlace;
};
} // namespace

static std::vector<double> receiversOf(const NodeShape &shape,
                                       uint32_t numRails) {
  std::vector<double> receivers(numRails, 0);
  for (const Member &member : shape.members)
    ++receivers[member.nic];
  return receivers;
}

void Exchange::addWithinNode(uint32_t place) {
  const NodeShape &shape = placement.shapeAt(place);
  for (uint32_t a = 0; a < shape.size(); ++a) {
    if (shape.switched) {
      builder.addPortsOut(place, a, shape.size() - 1);
      builder.addPortsIn(place, a, shape.size() - 1);
      continue;
    }
    for (uint32_t b = 0; b < shape.size(); ++b)
      if (a != b)
        builder.addLocal(place, a, b, 1);
  }
}

void Exchange::addBetweenNodes() {
  if (placement.hasRails())
    countRails();
  for (uint32_t place = 0; place < placement.numPlaces(); ++place)
    addOutOfNode(place);
  unsigned level = 0;
  if (placement.hasRails() && placement.numUpLevels() > 0) {
    addLeafSwitches();
    level = 1;
  }
  for (; level < placement.numUpLevels(); ++level)
    addUnits(level);
}

void Exchange::countRails() {
  for (const NodeShape &shape : placement.shapes)
    for (const Member &member : shape.members)
      numRails = std::max(numRails, member.nic + 1);
  receivers.assign(numRails, 0);
  matched = crossing = receivers;
  std::optional<int64_t> unit;
  for (uint32_t place = 0; place < placement.numPlaces(); ++place) {
    int64_t above = placement.cluster.unitOf(0, placement.places[place].node);
    if (unit != above) {
      std::vector<double> none(numRails, 0);
      leaves.push_back({place, none, none, none, none});
      unit = above;
    }
    leafOfPlace.push_back(leaves.size() - 1);
    std::vector<double> here = receiversOf(placement.shapeAt(place), numRails);
    for (uint32_t rail = 0; rail < numRails; ++rail) {
      receivers[rail] += here[rail];
      leaves.back().receivers[rail] += here[rail];
    }
  }
}

void Exchange::addOutOfNode(uint32_t place) {
  const NodeShape &shape = placement.shapeAt(place);
  double others = placement.size - shape.size();
  for (uint32_t m = 0; m < shape.size(); ++m) {
    builder.addNICIn(place, shape.members[m].nic, others);
    builder.addMemberIn(place, m, others);
    if (placement.hasRails())
      continue;
    builder.addNICOut(place, shape.members[m].nic, others);
    builder.addMemberOut(place, m, others);
  }
  if (placement.hasRails())
    addByRails(place);
}

/// Adds the data that leave a node of a fabric with rails. In a node with
/// NVSwitches, data for another node first go to the members on the rail of the
/// receiver and leave over this rail. If the node has no NVSwitches, or no
/// member on this rail, the data leave over the rail of the sender and change
/// the rail above the leaf switches.
void Exchange::addByRails(uint32_t place) {
  const NodeShape &shape = placement.shapeAt(place);
  std::vector<double> here = receiversOf(shape, numRails);
  Leaf &leaf = leaves[leafOfPlace[place]];
  double size = shape.size();
  for (uint32_t rail = 0; rail < numRails; ++rail) {
    double parts = receivers[rail] - here[rail];
    bool byMembers = shape.switched && here[rail] > 0;
    for (uint32_t m = 0; m < shape.size(); ++m) {
      uint32_t own = shape.members[m].nic;
      if (!byMembers) {
        builder.addNICOut(place, own, parts);
        builder.addMemberOut(place, m, parts);
        (own == rail ? leaf.matched : crossing)[rail] += 1;
        if (own == rail) {
          matched[rail] += 1;
          continue;
        }
        leaf.crossingUp[own] += parts;
        leaf.ownNode[rail] += here[rail];
        continue;
      }
      if (own != rail) {
        builder.addPortsOut(place, m, parts);
        continue;
      }
      builder.addPortsIn(place, m, parts * (size - here[rail]) / here[rail]);
      builder.addMemberOut(place, m, parts * size / here[rail]);
    }
    if (!byMembers)
      continue;
    builder.addNICOut(place, rail, parts * size);
    matched[rail] += size;
    leaf.matched[rail] += size;
  }
}

void Exchange::addLeafSwitches() {
  for (const Leaf &leaf : leaves)
    for (uint32_t rail = 0; rail < numRails; ++rail) {
      builder.addUp(0, leaf.place, rail,
                    leaf.matched[rail] *
                            (receivers[rail] - leaf.receivers[rail]) +
                        leaf.crossingUp[rail]);
      builder.addDown(0, leaf.place, rail,
                      (matched[rail] - leaf.matched[rail] + crossing[rail]) *
                              leaf.receivers[rail] -
                          leaf.ownNode[rail]);
    }
}

void Exchange::addUnits(unsigned level) {
  uint32_t numPlaces = placement.numPlaces();
  for (uint32_t begin = 0, end; begin < numPlaces; begin = end) {
    int64_t unit =
        placement.cluster.unitOf(level, placement.places[begin].node);
    double inside = 0;
    for (end = begin;
         end < numPlaces &&
         placement.cluster.unitOf(level, placement.places[end].node) == unit;
         ++end)
      inside += placement.shapeAt(end).size();
    double pairs = inside * (placement.size - inside);
    builder.addUp(level, begin, 0, pairs);
    builder.addDown(level, begin, 0, pairs);
  }
}

LoadSet proteus::net::exchangeLoads(const Placement &placement) {
  return Exchange(placement).run();
}

std::vector<ExchangeInside>
proteus::net::exchangeInsides(const Placement &placement) {
  std::vector<ExchangeInside> insides;
  for (const NodeShape &shape : placement.shapes) {
    double others = shape.size() - 1;
    if (others == 0)
      continue;
    const NodeWays &ways = placement.waysOf(shape);
    double seconds = 0;
    if (shape.switched) {
      seconds = others / shape.ringWidth;
    } else {
      std::vector<double> loads(ways.graph.links.size(), 0);
      for (const Way &way : shape.ways)
        for (uint32_t link : way)
          ++loads[link];
      for (auto [link, load] : llvm::enumerate(loads))
        if (load > 0)
          seconds = std::max(seconds, load / ways.graph.links[link].bandwidth);
    }
    insides.push_back({seconds, others});
  }
  return insides;
}
