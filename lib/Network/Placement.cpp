//===- Placement.cpp - members of a group by node -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Placement.h"

#include "Proteus/Network/RingSearch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace llvm;
using namespace proteus;
using namespace proteus::net;

template <typename... Values>
static Error failure(const char *format, Values &&...values) {
  return createStringError(
      inconvertibleErrorCode(),
      formatv(format, std::forward<Values>(values)...).str());
}

Expected<std::unique_ptr<Placement>>
Placement::create(std::shared_ptr<const ClusterWays> ways,
                  ArrayRef<int64_t> devices) {
  std::unique_ptr<Placement> placement(new Placement(std::move(ways)));
  if (Error error = placement->assign(devices))
    return std::move(error);
  if (Error error = placement->checkFabric())
    return std::move(error);
  // Errors about a shape mention the first node that has the shape.
  std::vector<int64_t> firstNode(placement->shapes.size(), -1);
  for (const NodePlace &place : placement->places)
    if (firstNode[place.shape] < 0)
      firstNode[place.shape] = place.node;
  for (auto [shape, node] : zip_equal(placement->shapes, firstNode))
    if (Error error = placement->completeShape(shape, node))
      return std::move(error);
  if (Error error = placement->checkRails())
    return std::move(error);
  return std::move(placement);
}

/// Sorts the devices by node and assigns a shape to each node. Nodes of one
/// kind with the same members get the same shape.
Error Placement::assign(ArrayRef<int64_t> devices) {
  if (devices.empty())
    return failure("a group has no devices; name at least one");
  size = devices.size();
  int64_t numDevices = cluster.numDevices();
  std::vector<std::pair<int64_t, uint32_t>> sorted; // device, index in group
  sorted.reserve(devices.size());
  for (auto [position, device] : enumerate(devices)) {
    if (device < 0 || device >= numDevices)
      return failure("device {0} of a group is not in the cluster, which has "
                     "{1}; use devices 0 to {2}",
                     device, numDevices, numDevices - 1);
    sorted.push_back({device, static_cast<uint32_t>(position)});
  }
  if (!is_sorted(sorted))
    sort(sorted);
  order.resize(devices.size());
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t> shapeOf;
  std::vector<uint32_t> locals, lastLocals;
  uint32_t lastKind = 0, lastShape = 0;
  for (size_t begin = 0; begin < sorted.size();) {
    int64_t node = cluster.nodeOf(sorted[begin].first);
    uint32_t kind = cluster.kindOfNode(node);
    int64_t first =
        sorted[begin].first - cluster.localIndex(sorted[begin].first);
    int64_t end =
        first + static_cast<int64_t>(clusterWays->ofKind(kind).devices.size());
    locals.clear();
    size_t i = begin;
    for (; i < sorted.size() && sorted[i].first < end; ++i) {
      if (i > begin && sorted[i].first == sorted[i - 1].first)
        return failure("device {0} is in a group twice; name it once",
                       sorted[i].first);
      order[sorted[i].second] = {numPlaces(), static_cast<uint32_t>(i - begin)};
      locals.push_back(sorted[i].first - first);
    }
    // Most nodes have the shape of the previous node. Search the map only for
    // the other nodes.
    if (places.empty() || kind != lastKind || locals != lastLocals) {
      auto [found, isNew] = shapeOf.try_emplace({kind, locals}, shapes.size());
      if (isNew) {
        NodeShape &shape = shapes.emplace_back();
        shape.kind = kind;
        for (uint32_t local : locals)
          shape.members.push_back({local, 0});
      }
      lastShape = found->second;
      lastKind = kind;
      lastLocals = locals;
    }
    places.push_back({node, lastShape});
    begin = i;
  }
  for (const NodeShape &shape : shapes)
    kindsUsed.push_back(shape.kind);
  sort(kindsUsed);
  kindsUsed.erase(unique(kindsUsed), kindsUsed.end());
  return Error::success();
}

int64_t Placement::deviceId(int64_t node, uint32_t local) const {
  int64_t first = 0, left = node;
  for (const machine::NodeRun &run : cluster.nodes) {
    int64_t perNode = cluster.kinds[run.kind].graph.numDevices();
    first += std::min(left, run.count) * perNode;
    if (left < run.count)
      break;
    left -= run.count;
  }
  return first + local;
}

Error Placement::completeShape(NodeShape &shape, int64_t node) {
  const NodeWays &ways = waysOf(shape);
  auto switchesOf = [&](const Member &member) {
    std::vector<uint32_t> switches;
    for (const NodeWays::Port &port : ways.portsOf(member.local))
      switches.push_back(port.nvswitch);
    return switches;
  };
  std::vector<uint32_t> common = switchesOf(shape.members.front());
  shape.switched = !common.empty() && all_of(shape.members, [&](auto &member) {
    return switchesOf(member) == common;
  });
  if (Error error = findWays(shape, node))
    return error;
  if (numPlaces() > 1)
    if (Error error = findNICs(shape, node))
      return error;
  shape.ringWidth = std::numeric_limits<double>::infinity();
  shape.nvlink = true;
  if (!shape.switched) {
    findRingsOf(shape);
    return Error::success();
  }
  if (shape.size() > 1)
    for (const Member &member : shape.members)
      shape.ringWidth =
          std::min(shape.ringWidth, ways.portBandwidth(member.local));
  for (uint32_t m = 0; numPlaces() > 1 && m < shape.size(); ++m)
    shape.gateways.push_back({m, shape.members[m].nic, 1.0 / shape.size()});
  return Error::success();
}

Error Placement::findWays(NodeShape &shape, int64_t node) {
  if (shape.switched)
    return Error::success();
  const NodeWays &ways = waysOf(shape);
  for (const Member &from : shape.members)
    for (const Member &to : shape.members) {
      std::optional<Way> way = ways.betweenDevices(from.local, to.local);
      if (!way)
        return failure(
            "device {0} cannot reach device {1} (gpu {2} and gpu {3} of node "
            "{4}): connect them in the node's graph, or keep them out of one "
            "group",
            deviceId(node, from.local), deviceId(node, to.local), from.local,
            to.local, node);
      shape.ways.push_back(std::move(*way));
    }
  return Error::success();
}

Error Placement::findNICs(NodeShape &shape, int64_t node) {
  const NodeWays &ways = waysOf(shape);
  for (Member &member : shape.members) {
    std::optional<uint32_t> nic = ways.nicOf(member.local);
    std::optional<Way> out, in;
    if (nic) {
      member.nic = *nic;
      out = ways.toNIC(member.local, *nic);
      in = ways.fromNIC(*nic, member.local);
    }
    if (!out || !in) {
      const NodePlace &other =
          places.front().node == node ? places.back() : places.front();
      return failure(
          "device {0} cannot reach device {1} of node {2}: there is no route "
          "from gpu {3} to a NIC of node {4} and back; connect one, or keep "
          "the group within the node",
          deviceId(node, member.local),
          deviceId(other.node, shapes[other.shape].members.front().local),
          other.node, member.local, node);
    }
    shape.outward.push_back(std::move(*out));
    shape.inward.push_back(std::move(*in));
  }
  return Error::success();
}

/// Returns the bandwidth, in bytes/s, of each link between members if every
/// pair of members has a direct link and all these links have the same
/// bandwidth. Otherwise returns 0.
double Placement::widthOfWays(const NodeShape &shape) const {
  const machine::NodeGraph &graph = cluster.kinds[shape.kind].graph;
  double width = 0;
  for (uint32_t from = 0; from < shape.size(); ++from)
    for (uint32_t to = 0; to < shape.size(); ++to) {
      if (from == to)
        continue;
      const Way &way = shape.way(from, to);
      if (way.size() != 1)
        return 0;
      double own = graph.links[way.front()].bandwidth;
      if (width != 0 && own != width)
        return 0;
      width = own;
    }
  return width;
}

/// Returns true if the library sends over all links between the members at
/// once. Measurements on four and eight devices show that AMD's library does so
/// on a full mesh. On four devices, all links together have more bandwidth than
/// the rings of the ring search.
bool Placement::spreadsOverMesh(const NodeShape &shape) const {
  const machine::NodeGraph &graph = cluster.kinds[shape.kind].graph;
  const NodeWays &ways = waysOf(shape);
  return shape.size() > 2 && widthOfWays(shape) > 0 &&
         llvm::all_of(shape.members, [&](const Member &member) {
           uint32_t type = graph.vertices[ways.devices[member.local]].type;
           return cluster.devices[type].architecture ==
                  machine::Architecture::CDNA;
         });
}

/// Searches for rings in a node where `switched` is false, and stores their
/// properties in `shape`.
void Placement::findRingsOf(NodeShape &shape) {
  bool across = numPlaces() > 1;
  if (shape.size() == 1 && !across)
    return;
  const machine::NodeGraph &graph = cluster.kinds[shape.kind].graph;
  std::vector<uint32_t> locals;
  for (const Member &member : shape.members)
    locals.push_back(member.local);
  RingSet rings = findRings(graph, locals, across);
  shape.ringWidth = rings.bandwidth();
  shape.nvlink = rings.intra <= PathClass::NVLinkRelay;
  double share = 1.0 / rings.channels.size();
  std::vector<double> loads(graph.links.size(), 0);
  shape.ringOut.assign(waysOf(shape).nics.size(), 0);
  shape.ringIn = shape.ringOut;
  auto memberOf = [&](uint32_t local) {
    return static_cast<uint32_t>(lower_bound(locals, local) - locals.begin());
  };
  for (const RingChannel &channel : rings.channels) {
    std::vector<uint32_t> &members = shape.orders.emplace_back();
    for (uint32_t local : channel.order)
      members.push_back(memberOf(local));
    for (auto [link, multiple] : channel.loads)
      if (link < loads.size()) // not the ports of NICs
        loads[link] += multiple * share;
    if (!across)
      continue;
    uint32_t head = members.front();
    uint32_t nearest = shape.members[head].nic;
    shape.ringIn[channel.enter < 0 ? nearest : channel.enter] += share;
    shape.ringOut[channel.leave < 0 ? nearest : channel.leave] += share;
    shape.gateways.push_back({head, nearest, share});
  }
  if (!across && spreadsOverMesh(shape)) {
    double links = shape.size() - 1;
    shape.ringWidth = links * widthOfWays(shape);
    loads.assign(graph.links.size(), 0);
    for (const Way &way : shape.ways)
      for (uint32_t link : way)
        loads[link] = 1 / links;
  }
  for (auto [link, load] : enumerate(loads))
    if (load > 0)
      shape.ringLoads.push_back({static_cast<uint32_t>(link), load});
}

unsigned Placement::meetingLevel(int64_t nodeA, int64_t nodeB) const {
  unsigned level = 0, numLevels = cluster.fabric.levels.size();
  while (level < numLevels &&
         cluster.unitOf(level, nodeA) != cluster.unitOf(level, nodeB))
    ++level;
  return level;
}

double Placement::networkLatency(int64_t nodeA, int64_t nodeB) const {
  const machine::Fabric &fabric = cluster.fabric;
  double latency = fabric.latency;
  if (fabric.levels.empty())
    return latency;
  unsigned top = meetingLevel(nodeA, nodeB);
  for (unsigned level = 0; level < top; ++level)
    latency += 2 * fabric.levels[level].latency;
  return latency + fabric.levels[top].latency;
}

/// Fails if the fabric does not connect all nodes of the group. Nodes are
/// sorted. It is therefore enough to check the first and the last node.
Error Placement::checkFabric() const {
  unsigned numLevels = cluster.fabric.levels.size();
  if (numPlaces() < 2 || numLevels == 0)
    return Error::success();
  const NodePlace &a = places.front(), &b = places.back();
  if (meetingLevel(a.node, b.node) < numLevels)
    return Error::success();
  return failure(
      "device {0} cannot reach device {1}: nodes {2} and {3} are below "
      "different units of the topmost level '{4}' of the fabric; widen its "
      "span or add a level above it",
      deviceId(a.node, shapes[a.shape].members.front().local),
      deviceId(b.node, shapes[b.shape].members.front().local), a.node, b.node,
      cluster.fabric.levels.back().name);
}

/// Fails if members on different rails cannot reach each other. Different rails
/// are connected only above the leaf switches.
Error Placement::checkRails() const {
  if (numPlaces() < 2 || !hasRails() || numUpLevels() > 0)
    return Error::success();
  auto railsOf = [](const NodeShape &shape) {
    std::vector<uint32_t> rails;
    for (const Member &member : shape.members)
      rails.push_back(member.nic);
    return rails;
  };
  const NodeShape &firstShape = shapeAt(0);
  std::vector<uint32_t> firstRails = railsOf(firstShape);
  for (uint32_t place = 1; place < numPlaces(); ++place) {
    const NodeShape &shape = shapeAt(place);
    // Between nodes with NVSwitches, data first move over NVLink to the rail of
    // the receiver. If both nodes have members on the same rails, the fabric
    // need not connect different rails.
    if (shape.switched && firstShape.switched && railsOf(shape) == firstRails)
      continue;
    for (const Member &a : firstShape.members)
      for (const Member &b : shape.members)
        if (a.nic != b.nic)
          return failure("device {0} cannot reach device {1}: their NICs are "
                         "on rails {2} and {3}, which are not connected; add a "
                         "level above the leaf switches, or remove the rails",
                         deviceId(places.front().node, a.local),
                         deviceId(places[place].node, b.local), a.nic, b.nic);
  }
  return Error::success();
}
