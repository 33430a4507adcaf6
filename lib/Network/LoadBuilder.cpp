//===- LoadBuilder.cpp - sums of link loads -------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace proteus;
using namespace proteus::net;

static uint32_t numLinks(const Placement &placement, uint32_t place) {
  return placement.waysOf(placement.shapeAt(place)).graph.links.size();
}

LoadBuilder::LoadBuilder(const Placement &placement,
                         llvm::ArrayRef<uint32_t> apart)
    : placement(placement) {
  uint32_t numPlaces = placement.numPlaces();
  constexpr uint32_t nobody = ~0u;
  std::vector<uint32_t> firstOfShape(placement.shapes.size(), nobody);
  std::vector<bool> isApart(numPlaces);
  for (uint32_t place : apart)
    isApart[place] = true;
  size_t total = 0;
  standsFor.reserve(numPlaces);
  nodeBegin.reserve(numPlaces);
  for (uint32_t place = 0; place < numPlaces; ++place) {
    uint32_t &first = firstOfShape[placement.places[place].shape];
    if (!isApart[place] && first != nobody) {
      standsFor.push_back(first);
      nodeBegin.push_back(notCounted);
      continue;
    }
    if (!isApart[place])
      first = place;
    standsFor.push_back(place);
    nodeBegin.push_back(total);
    total += numLinks(placement, place) +
             2 * placement.waysOf(placement.shapeAt(place)).nics.size();
  }
  nodeLoads.resize(total, 0);
  if (numPlaces < 2)
    return;
  for (const NodeShape &shape : placement.shapes) {
    Shares shares(placement.waysOf(shape).nics.size(), 0);
    for (const Gateway &gateway : shape.gateways)
      shares[gateway.nic] += gateway.share;
    sharesOfShape.push_back({shares, shape.switched ? shares : shape.ringOut,
                             shape.switched ? shares : shape.ringIn});
  }
  makeLevels();
}

void LoadBuilder::makeLevels() {
  levels.resize(placement.numUpLevels());
  for (auto [index, level] : llvm::enumerate(levels))
    level.canFill = placement.canFill(index);
  if (llvm::none_of(levels, [](const Level &level) { return level.canFill; }))
    return levels.clear();
  uint32_t rails = 1;
  for (const NodeShape &shape : placement.shapes)
    rails = std::max<uint32_t>(rails, placement.waysOf(shape).nics.size());
  for (auto [index, level] : llvm::enumerate(levels)) {
    level.rails = index == 0 && placement.hasRails() ? rails : 1;
    level.unitOfPlace.reserve(placement.numPlaces());
    for (const NodePlace &place : placement.places) {
      int64_t unit = placement.cluster.unitOf(index, place.node);
      if (level.units.empty() || level.units.back() != unit)
        level.units.push_back(unit);
      level.unitOfPlace.push_back(level.units.size() - 1);
    }
    level.loads.resize(2 * level.rails * level.units.size(), 0);
  }
}

void LoadBuilder::addWay(uint32_t place, const Way &way, double amount) {
  if (!counts(place))
    return;
  for (uint32_t link : way)
    addLink(place, link, amount);
}

void LoadBuilder::addLoads(uint32_t place, const NodeLoads &loads,
                           double amount) {
  if (!counts(place))
    return;
  for (auto [link, load] : loads)
    addLink(place, link, load * amount);
}

void LoadBuilder::addPortsOut(uint32_t place, uint32_t member, double amount) {
  if (!counts(place))
    return;
  const NodeShape &shape = placement.shapeAt(place);
  for (const NodeWays::Port &port :
       placement.waysOf(shape).portsOf(shape.members[member].local))
    addLink(place, port.link, port.share * amount);
}

void LoadBuilder::addPortsIn(uint32_t place, uint32_t member, double amount) {
  if (!counts(place))
    return;
  const NodeShape &shape = placement.shapeAt(place);
  for (const NodeWays::Port &port :
       placement.waysOf(shape).portsOf(shape.members[member].local))
    addLink(place, port.link ^ 1, port.share * amount);
}

void LoadBuilder::addLocal(uint32_t place, uint32_t from, uint32_t to,
                           double amount) {
  const NodeShape &shape = placement.shapeAt(place);
  if (!shape.switched)
    return addWay(place, shape.way(from, to), amount);
  addPortsOut(place, from, amount);
  addPortsIn(place, to, amount);
}

void LoadBuilder::addNICOut(uint32_t place, uint32_t nic, double amount) {
  if (!counts(place))
    return;
  addLink(place, numLinks(placement, place) + 2 * nic, amount);
}

void LoadBuilder::addNICIn(uint32_t place, uint32_t nic, double amount) {
  if (!counts(place))
    return;
  addLink(place, numLinks(placement, place) + 2 * nic + 1, amount);
}

void LoadBuilder::addMemberOut(uint32_t place, uint32_t member, double amount) {
  addWay(place, placement.shapeAt(place).outward[member], amount);
}

void LoadBuilder::addMemberIn(uint32_t place, uint32_t member, double amount) {
  addWay(place, placement.shapeAt(place).inward[member], amount);
}

void LoadBuilder::addUp(unsigned level, uint32_t place, uint32_t rail,
                        double amount) {
  if (levels.empty() || !levels[level].canFill)
    return;
  Level &at = levels[level];
  uint32_t lane = at.rails > 1 ? rail : 0;
  at.loads[2 * (at.unitOfPlace[place] * at.rails + lane)] += amount;
}

void LoadBuilder::addDown(unsigned level, uint32_t place, uint32_t rail,
                          double amount) {
  if (levels.empty() || !levels[level].canFill)
    return;
  Level &at = levels[level];
  uint32_t lane = at.rails > 1 ? rail : 0;
  at.loads[2 * (at.unitOfPlace[place] * at.rails + lane) + 1] += amount;
}

/// Returns the lowest fabric level at which both nodes are below the same unit.
/// Returns levels.size(), the number of the topmost level, if no level of
/// `levels` is such a level. The topmost level connects all nodes of the group,
/// as Placement::create has checked.
unsigned LoadBuilder::meetingLevel(uint32_t from, uint32_t to) const {
  unsigned level = 0;
  while (level < levels.size() &&
         levels[level].unitOfPlace[from] != levels[level].unitOfPlace[to])
    ++level;
  return level;
}

void LoadBuilder::addFabric(uint32_t from, uint32_t fromNIC, uint32_t to,
                            uint32_t toNIC, double amount) {
  if (levels.empty())
    return;
  unsigned top = meetingLevel(from, to);
  if (top == 0 && placement.hasRails() && fromNIC != toNIC)
    top = 1;
  for (unsigned level = 0; level < top; ++level) {
    addUp(level, from, fromNIC, amount);
    addDown(level, to, toNIC, amount);
  }
}

/// Returns the pairs of NICs over which data go from one node to another, and
/// the share of each pair. On each rail, as many data stay on the rail as the
/// receiving node expects there. The rest changes to rails on which the
/// receiving node expects more. For example, a sender with shares 1/2, 1/2 and
/// a receiver with shares 1, 0 give the pairs (0, 0) and (1, 0). Without rails,
/// there is one pair with the share 1.
const std::vector<LoadBuilder::Lane> &
LoadBuilder::lanesBetween(uint32_t from, uint32_t to, EdgeKind kind) {
  uint32_t source = placement.places[from].shape;
  uint32_t target = placement.places[to].shape;
  auto [entry, isNew] = lanes.try_emplace({source, target, kind});
  std::vector<Lane> &found = entry->second;
  if (!isNew)
    return found;
  if (!placement.hasRails()) {
    found.push_back({0, 0, 1});
    return found;
  }
  bool isRing = kind == EdgeKind::Ring;
  const ShapeShares &sender = sharesOfShape[source];
  const ShapeShares &receiver = sharesOfShape[target];
  Shares left = isRing ? sender.ringOut : sender.gateways;
  Shares missing = isRing ? receiver.ringIn : receiver.gateways;
  for (uint32_t rail = 0; rail < std::min(left.size(), missing.size());
       ++rail) {
    double matched = std::min(left[rail], missing[rail]);
    found.push_back({rail, rail, matched});
    left[rail] -= matched;
    missing[rail] -= matched;
  }
  uint32_t other = 0;
  for (uint32_t rail = 0; rail < left.size(); ++rail)
    while (left[rail] > 1e-12) {
      while (other < missing.size() && missing[other] <= 1e-12)
        ++other;
      if (other == missing.size())
        return found;
      double moved = std::min(left[rail], missing[other]);
      found.push_back({rail, other, moved});
      left[rail] -= moved;
      missing[other] -= moved;
    }
  return found;
}

void LoadBuilder::addLanes(uint32_t from, uint32_t to, EdgeKind kind,
                           double amount) {
  if (levels.empty())
    return;
  for (const Lane &lane : lanesBetween(from, to, kind))
    addFabric(from, lane.from, to, lane.to, lane.share * amount);
}

void LoadBuilder::addLeaving(uint32_t place, const Shares &shares,
                             bool withWays, double amount) {
  if (!counts(place))
    return;
  for (auto [nic, share] : llvm::enumerate(shares))
    addNICOut(place, nic, share * amount);
  if (withWays)
    for (const Gateway &gateway : placement.shapeAt(place).gateways)
      addMemberOut(place, gateway.member, gateway.share * amount);
}

void LoadBuilder::addEntering(uint32_t place, const Shares &shares,
                              bool withWays, double amount) {
  if (!counts(place))
    return;
  for (auto [nic, share] : llvm::enumerate(shares))
    addNICIn(place, nic, share * amount);
  if (withWays)
    for (const Gateway &gateway : placement.shapeAt(place).gateways)
      addMemberIn(place, gateway.member, gateway.share * amount);
}

void LoadBuilder::addEdge(uint32_t from, uint32_t to, double amount) {
  addLeaving(from, sharesAt(from).gateways, /*withWays=*/true, amount);
  addEntering(to, sharesAt(to).gateways, /*withWays=*/true, amount);
  addLanes(from, to, EdgeKind::Gateways, amount);
}

void LoadBuilder::addRingEdge(uint32_t from, uint32_t to) {
  // In nodes without NVSwitches, the loads of the ring search already include
  // the routes to NICs.
  addLeaving(from, sharesAt(from).ringOut, placement.shapeAt(from).switched, 1);
  addEntering(to, sharesAt(to).ringIn, placement.shapeAt(to).switched, 1);
  addLanes(from, to, EdgeKind::Ring, 1);
}

void LoadBuilder::addMessage(MemberPlace from, MemberPlace to, double amount) {
  if (from.place == to.place)
    return addLocal(from.place, from.member, to.member, amount);
  const NodeShape &source = placement.shapeAt(from.place);
  uint32_t toNIC = placement.shapeAt(to.place).members[to.member].nic;
  addNICIn(to.place, toNIC, amount);
  addMemberIn(to.place, to.member, amount);
  std::vector<uint32_t> senders;
  if (placement.hasRails() && source.switched &&
      source.members[from.member].nic != toNIC)
    for (uint32_t m = 0; m < source.size(); ++m)
      if (source.members[m].nic == toNIC)
        senders.push_back(m);
  if (senders.empty())
    senders.push_back(from.member);
  double part = amount / senders.size();
  for (uint32_t sender : senders) {
    if (sender != from.member)
      addLocal(from.place, from.member, sender, part);
    uint32_t nic = source.members[sender].nic;
    addMemberOut(from.place, sender, part);
    addNICOut(from.place, nic, part);
    addFabric(from.place, nic, to.place, toNIC, part);
  }
}

/// Converts an amount to an integer load. The load is rounded up so that it is
/// never too small. However, an amount that exceeds an integer by less than
/// 1e-6 of a load unit is rounded down, because such an excess is a rounding
/// error of the sums.
static int64_t rounded(double amount) {
  return std::ceil(amount * loadUnit - 1e-6);
}

static double secondsPerByte(int64_t load, int64_t capacity) {
  return static_cast<double>(load) / loadUnit / static_cast<double>(capacity);
}

/// Returns the loads inside a node as a pattern. Also raises the bounds of
/// `set` to at least the times of the links and NIC ports of the node.
LinkLoads::Pattern LoadBuilder::patternOf(LoadSet &set, uint32_t place,
                                          double unit) {
  const NodeShape &shape = placement.shapeAt(place);
  const NodeWays &ways = placement.waysOf(shape);
  uint32_t links = ways.graph.links.size();
  uint32_t count = links + 2 * ways.nics.size();
  std::vector<int64_t> &capacities = capacitiesOfKind[shape.kind];
  for (uint32_t port = capacities.size(); port < count; ++port)
    capacities.push_back(
        capacityOf(placement.cluster, {0, port, placement.places[place].node}));
  LinkLoads::Pattern pattern;
  for (uint32_t port = 0; port < count; ++port) {
    int64_t load = rounded(nodeLoads[nodeBegin[place] + port] * unit);
    if (load <= 0)
      continue;
    pattern.push_back({port, load});
    double seconds = secondsPerByte(load, capacities[port]);
    set.allLinks = std::max(set.allLinks, seconds);
    if (port >= links)
      set.ports = std::max(set.ports, seconds);
  }
  return pattern;
}

void LoadBuilder::appendNodes(LoadSet &set, LinkLoadsBuilder &loads,
                              double unit) {
  capacitiesOfKind.resize(placement.cluster.kinds.size());
  std::vector<uint32_t> patternAt(placement.numPlaces());
  for (uint32_t place = 0; place < placement.numPlaces(); ++place) {
    if (counts(place))
      patternAt[place] = loads.addPattern(patternOf(set, place, unit));
    loads.addNode(placement.places[place].node, patternAt[standsFor[place]]);
  }
  set.network = set.ports;
}

void LoadBuilder::appendFabric(LoadSet &set, LinkLoadsBuilder &loads,
                               double unit) const {
  for (auto [index, level] : llvm::enumerate(levels))
    for (size_t slot = 0; slot < level.loads.size(); ++slot) {
      int64_t load = rounded(level.loads[slot] * unit);
      if (load <= 0)
        continue;
      LinkId link = {static_cast<uint32_t>(index + 1),
                     static_cast<uint32_t>(slot % (2 * level.rails)),
                     level.units[slot / (2 * level.rails)]};
      loads.addFabric({link, load});
      double seconds =
          secondsPerByte(load, capacityOf(placement.cluster, link));
      set.allLinks = std::max(set.allLinks, seconds);
      set.network = std::max(set.network, seconds);
    }
}

LoadSet LoadBuilder::finish(double unit) {
  LoadSet set;
  LinkLoadsBuilder loads;
  appendNodes(set, loads, unit);
  appendFabric(set, loads, unit);
  set.loads = loads.take();
  return set;
}
