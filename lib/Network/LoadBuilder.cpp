//===- LoadBuilder.cpp - adds up what a collective puts on links ----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace proteus;
using namespace proteus::net;

static uint32_t numLinks(const Placement &placement, uint32_t place) {
  return placement.waysOf(placement.shapeAt(place)).graph.links.size();
}

LoadBuilder::LoadBuilder(const Placement &placement) : placement(placement) {
  size_t total = 0;
  uint32_t rails = 1;
  for (uint32_t place = 0; place < placement.numPlaces(); ++place) {
    uint32_t nics = placement.waysOf(placement.shapeAt(place)).nics.size();
    nodeBegin.push_back(total);
    total += numLinks(placement, place) + 2 * nics;
    rails = std::max(rails, nics);
  }
  nodeLoads.resize(total, 0);
  if (placement.numPlaces() < 2)
    return;
  levels.resize(placement.numUpLevels());
  for (auto [index, level] : llvm::enumerate(levels)) {
    level.rails = index == 0 && placement.hasRails() ? rails : 1;
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
  for (uint32_t link : way)
    addLink(place, link, amount);
}

void LoadBuilder::addLoads(uint32_t place, const NodeLoads &loads,
                           double amount) {
  for (auto [link, load] : loads)
    addLink(place, link, load * amount);
}

void LoadBuilder::addPortsOut(uint32_t place, uint32_t member, double amount) {
  const NodeShape &shape = placement.shapeAt(place);
  for (const NodeWays::Port &port :
       placement.waysOf(shape).portsOf(shape.members[member].local))
    addLink(place, port.link, port.share * amount);
}

void LoadBuilder::addPortsIn(uint32_t place, uint32_t member, double amount) {
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
  addLink(place, numLinks(placement, place) + 2 * nic, amount);
}

void LoadBuilder::addNICIn(uint32_t place, uint32_t nic, double amount) {
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
  if (!placement.canFill(level))
    return;
  Level &at = levels[level];
  uint32_t lane = at.rails > 1 ? rail : 0;
  at.loads[2 * (at.unitOfPlace[place] * at.rails + lane)] += amount;
}

void LoadBuilder::addDown(unsigned level, uint32_t place, uint32_t rail,
                          double amount) {
  if (!placement.canFill(level))
    return;
  Level &at = levels[level];
  uint32_t lane = at.rails > 1 ? rail : 0;
  at.loads[2 * (at.unitOfPlace[place] * at.rails + lane) + 1] += amount;
}

void LoadBuilder::addFabric(uint32_t from, uint32_t fromNIC, uint32_t to,
                            uint32_t toNIC, double amount) {
  unsigned top = placement.meetingLevel(placement.places[from].node,
                                        placement.places[to].node);
  if (top == 0 && placement.hasRails() && fromNIC != toNIC)
    top = 1;
  assert(top <= levels.size() && "checked when the group was placed");
  for (unsigned level = 0; level < top; ++level) {
    addUp(level, from, fromNIC, amount);
    addDown(level, to, toNIC, amount);
  }
}

void LoadBuilder::addBetween(uint32_t from, const std::vector<double> &out,
                             uint32_t to, const std::vector<double> &in,
                             double amount) {
  for (auto [nic, share] : llvm::enumerate(out))
    addNICOut(from, nic, share * amount);
  for (auto [nic, share] : llvm::enumerate(in))
    addNICIn(to, nic, share * amount);
  if (!placement.hasRails())
    return addFabric(from, 0, to, 0, amount);
  // What finds its own rail on the other side stays on it.
  std::vector<double> left = out, missing = in;
  for (uint32_t rail = 0; rail < std::min(out.size(), in.size()); ++rail) {
    double matched = std::min(out[rail], in[rail]);
    addFabric(from, rail, to, rail, matched * amount);
    left[rail] -= matched;
    missing[rail] -= matched;
  }
  uint32_t target = 0;
  for (uint32_t rail = 0; rail < left.size(); ++rail)
    while (left[rail] > 1e-12) {
      while (target < missing.size() && missing[target] <= 1e-12)
        ++target;
      if (target == missing.size())
        return;
      double moved = std::min(left[rail], missing[target]);
      addFabric(from, rail, to, target, moved * amount);
      left[rail] -= moved;
      missing[target] -= moved;
    }
}

std::vector<double> LoadBuilder::shareOut(uint32_t place) const {
  const NodeShape &shape = placement.shapeAt(place);
  std::vector<double> shares(placement.waysOf(shape).nics.size(), 0);
  for (const Gateway &gateway : shape.gateways)
    shares[gateway.nic] += gateway.share;
  return shares;
}

void LoadBuilder::addEdge(uint32_t from, uint32_t to, double amount) {
  addBetween(from, shareOut(from), to, shareOut(to), amount);
  for (const Gateway &gateway : placement.shapeAt(from).gateways)
    addMemberOut(from, gateway.member, gateway.share * amount);
  for (const Gateway &gateway : placement.shapeAt(to).gateways)
    addMemberIn(to, gateway.member, gateway.share * amount);
}

void LoadBuilder::addRingEdge(uint32_t from, uint32_t to) {
  const NodeShape &source = placement.shapeAt(from);
  const NodeShape &target = placement.shapeAt(to);
  addBetween(from, source.switched ? shareOut(from) : source.ringOut, to,
             target.switched ? shareOut(to) : target.ringIn, 1);
  // The search for rings counts the ways to NICs.
  if (source.switched)
    for (const Gateway &gateway : source.gateways)
      addMemberOut(from, gateway.member, gateway.share);
  if (target.switched)
    for (const Gateway &gateway : target.gateways)
      addMemberIn(to, gateway.member, gateway.share);
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

/// Rounds up, so that no load is lost; amounts that differ from a whole number
/// by less than the error of adding them up are that number.
static int64_t rounded(double amount) {
  return std::ceil(amount * loadUnit - 1e-6);
}

static double secondsPerByte(int64_t load, int64_t capacity) {
  return static_cast<double>(load) / loadUnit / static_cast<double>(capacity);
}

void LoadBuilder::appendNodes(LoadSet &set, double unit) const {
  const machine::Cluster &cluster = placement.cluster;
  std::map<uint32_t, std::vector<int64_t>> capacitiesOfKind;
  for (auto [index, place] : llvm::enumerate(placement.places)) {
    const NodeShape &shape = placement.shapes[place.shape];
    const NodeWays &ways = placement.waysOf(shape);
    uint32_t links = ways.graph.links.size();
    uint32_t count = links + 2 * ways.nics.size();
    std::vector<int64_t> &capacities = capacitiesOfKind[shape.kind];
    for (uint32_t port = capacities.size(); port < count; ++port)
      capacities.push_back(capacityOf(cluster, {0, port, place.node}));
    for (uint32_t port = 0; port < count; ++port) {
      int64_t load = rounded(nodeLoads[nodeBegin[index] + port] * unit);
      if (load <= 0)
        continue;
      set.loads.push_back({{0, port, place.node}, load});
      double seconds = secondsPerByte(load, capacities[port]);
      set.allLinks = std::max(set.allLinks, seconds);
      if (port >= links)
        set.ports = std::max(set.ports, seconds);
    }
  }
  set.network = set.ports;
}

void LoadBuilder::appendFabric(LoadSet &set, double unit) const {
  for (auto [index, level] : llvm::enumerate(levels))
    for (size_t slot = 0; slot < level.loads.size(); ++slot) {
      int64_t load = rounded(level.loads[slot] * unit);
      if (load <= 0)
        continue;
      LinkId link = {static_cast<uint32_t>(index + 1),
                     static_cast<uint32_t>(slot % (2 * level.rails)),
                     level.units[slot / (2 * level.rails)]};
      set.loads.push_back({link, load});
      double seconds =
          secondsPerByte(load, capacityOf(placement.cluster, link));
      set.allLinks = std::max(set.allLinks, seconds);
      set.network = std::max(set.network, seconds);
    }
}

LoadSet LoadBuilder::finish(double unit) {
  LoadSet set;
  appendNodes(set, unit);
  appendFabric(set, unit);
  set.loads.shrink_to_fit();
  return set;
}
