//===- Paths.cpp - routes between devices and NICs ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Routing according to the published behaviour of NCCL 2.10.3. A route has the
// fewest hops; of several such routes, the widest one is taken. At most one
// device relays NVLink traffic. If a NIC has no direct access to the memory of
// a device, the route passes the CPU nearest to the device.
//
//===----------------------------------------------------------------------===//

#include "Paths.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace llvm;
using namespace proteus::net;
using namespace proteus::machine;

/// Ten times the first compute capability at which writes of NICs cause no
/// traffic in the opposite direction. Older devices acknowledge such writes.
static constexpr uint32_t firstWithoutAcknowledge = 80;

static constexpr uint32_t none = ~0u;

double proteus::net::factorOf(Share share) {
  switch (share) {
  case Share::Whole:
    return 1;
  case Share::ThroughIntel:
    return 1.2;
  case Share::Acknowledge:
    return 0.125;
  }
  llvm_unreachable("unknown share");
}

static Rate toRate(double bytesPerSecond) {
  return std::llround(bytesPerSecond * 1e-6);
}

/// The routes from all vertices to one base vertex. Holds, for each vertex, the
/// next link of the route and the vertex at the end of this link.
struct PathTable::Tree {
  struct Node {
    uint32_t link = none, next = none;
    uint32_t hops = 0;
    Rate width = 0;
    PathClass kind = PathClass::Local;
  };
  std::vector<Node> nodes;
};

PathTable::PathTable(const NodeGraph &graph, ArrayRef<uint32_t> local,
                     bool withNICs)
    : graph(graph) {
  present.assign(graph.vertices.size(), true);
  for (uint32_t v = 0; v < graph.vertices.size(); ++v) {
    const Vertex &vertex = graph.vertices[v];
    if (vertex.kind == VertexKind::Device) {
      present[v] = llvm::is_contained(local, vertex.index);
      if (present[v])
        devices.push_back(v);
    } else if (vertex.kind == VertexKind::NIC) {
      present[v] = withNICs;
      if (withNICs)
        nics.push_back(v);
    } else if (vertex.kind == VertexKind::CPU) {
      cpus.push_back(v);
    }
  }
  buildEdges();

  paths.resize(size_t(numEnds()) * numEnds());
  std::vector<Tree> toEnd, toCPU;
  for (uint32_t end = 0; end < numEnds(); ++end)
    toEnd.push_back(growTree(endVertex(end)));
  for (uint32_t cpu : cpus)
    toCPU.push_back(growTree(cpu));

  for (uint32_t to = 0; to < numEnds(); ++to) {
    for (uint32_t from = 0; from < numEnds(); ++from) {
      bool toDevice = to < numDevices(), fromDevice = from < numDevices();
      if (from == to || (!toDevice && !fromDevice))
        continue;
      const Tree::Node &direct = toEnd[to].nodes[endVertex(from)];
      if (direct.width == 0)
        continue;
      // A NIC accesses the memory of a device directly only over PCIe switches,
      // and only if `directNIC` is true. Otherwise the route takes a detour
      // through the CPU nearest to the device. A route between two devices has
      // no detour.
      uint32_t beside = toDevice ? to : from;
      bool detour = toDevice != fromDevice &&
                    (!graph.vertices[endVertex(beside)].directNIC ||
                     direct.kind > PathClass::SomeSwitches);
      uint32_t cpu = detour ? nearestCPU(toEnd[beside]) : none;
      if (cpu == none || toCPU[cpu].nodes[endVertex(from)].width == 0) {
        setPath(from, to, follow(toEnd[to], endVertex(from)), direct.kind);
        continue;
      }
      const Tree::Node &up = toCPU[cpu].nodes[endVertex(from)];
      const Tree::Node &down = toEnd[to].nodes[cpus[cpu]];
      std::vector<uint32_t> links = follow(toCPU[cpu], endVertex(from));
      llvm::append_range(links, follow(toEnd[to], cpus[cpu]));
      setPath(from, to, links, std::max(up.kind, down.kind));
    }
  }
}

/// Returns the vertex of an end. The vertex of a device is its vertex in the
/// graph. The vertex of a NIC is the fabric side of its port, which has a
/// number after those of the graph's vertices.
uint32_t PathTable::endVertex(uint32_t end) const {
  if (end < numDevices())
    return devices[end];
  return graph.vertices.size() + (end - numDevices());
}

/// Returns the vertex that connects the port of `nic` to the node. In topology
/// dumps, only the first port of a card is connected to a PCIe switch or CPU,
/// and the other ports are connected to the first port. The result is the first
/// port for all ports of such a card, so that they are equally far from a
/// device. Otherwise the result is `nic`.
uint32_t PathTable::cardOf(uint32_t nic) const {
  uint32_t card = nic;
  for (const NodeLink &link : graph.links) {
    if (link.from != nic)
      continue;
    if (graph.vertices[link.to].kind != VertexKind::NIC)
      return nic;
    if (link.to < nic)
      card = link.to;
  }
  return card;
}

void PathTable::buildEdges() {
  edges.resize(graph.vertices.size() + nics.size());
  capacity.resize(graph.links.size() + 2 * graph.numNICs());
  for (uint32_t l = 0; l < graph.links.size(); ++l) {
    const NodeLink &link = graph.links[l];
    capacity[l] = toRate(link.bandwidth);
    if (present[link.from] && present[link.to])
      edges[link.from].push_back({link.to, l, link.kind});
  }
  for (uint32_t n = 0; n < nics.size(); ++n) {
    uint32_t out = graph.links.size() + 2 * graph.vertices[nics[n]].index;
    uint32_t port = graph.vertices.size() + n, card = cardOf(nics[n]);
    capacity[out] = capacity[out + 1] = portRate(n);
    edges[card].push_back({port, out, LinkKind::Network});
    edges[port].push_back({card, out + 1, LinkKind::Network});
  }
  for (std::vector<Edge> &list : edges)
    llvm::sort(list, [&](const Edge &a, const Edge &b) {
      return std::tuple(-capacity[a.link], a.link) <
             std::tuple(-capacity[b.link], b.link);
    });
}

static PathClass classOf(LinkKind kind) {
  switch (kind) {
  case LinkKind::NVLink:
    return PathClass::NVLink;
  case LinkKind::PCIe:
    return PathClass::OneSwitch;
  case LinkKind::Socket:
    return PathClass::System;
  case LinkKind::Network:
    return PathClass::Local;
  }
  llvm_unreachable("unknown kind of link");
}

/// Returns the link of the opposite direction. The two directions of a link
/// have the numbers 2i and 2i + 1 in the node graph. The graph has an even
/// number of links, so the two directions of a NIC port have such numbers too.
static uint32_t opposite(uint32_t link) { return link ^ 1; }

PathTable::Tree PathTable::growTree(uint32_t base) const {
  auto kindOf = [&](uint32_t vertex) {
    return vertex < graph.vertices.size() ? graph.vertices[vertex].kind
                                          : VertexKind::NIC;
  };
  Tree tree;
  tree.nodes.resize(edges.size());
  tree.nodes[base].width = INT64_MAX;
  std::vector<uint32_t> level = {base}, nextLevel;
  for (; !level.empty(); level.swap(nextLevel)) {
    nextLevel.clear();
    for (uint32_t v : level) {
      Tree::Node here = tree.nodes[v];
      bool relay = v != base && kindOf(v) == VertexKind::Device;
      for (const Edge &edge : edges[v]) {
        if (relay && (edge.kind != LinkKind::NVLink ||
                      kindOf(edge.to) != VertexKind::Device || here.hops > 1))
          continue;
        Tree::Node &there = tree.nodes[edge.to];
        Rate width = std::min(here.width, capacity[opposite(edge.link)]);
        bool closer = there.width == 0 || there.hops > here.hops;
        if (!closer || there.width >= width || edge.to == base)
          continue;
        PathClass kind = classOf(edge.kind);
        if (kindOf(v) == VertexKind::PCIeSwitch &&
            kindOf(edge.to) == VertexKind::PCIeSwitch)
          kind = PathClass::SomeSwitches;
        if (edge.kind == LinkKind::PCIe && (kindOf(v) == VertexKind::CPU ||
                                            kindOf(edge.to) == VertexKind::CPU))
          kind = PathClass::Bridge;
        if (relay)
          kind = PathClass::NVLinkRelay;
        if (!llvm::is_contained(nextLevel, edge.to))
          nextLevel.push_back(edge.to);
        there = {opposite(edge.link), v, here.hops + 1, width,
                 std::max(here.kind, kind)};
      }
    }
  }
  return tree;
}

std::vector<uint32_t> PathTable::follow(const Tree &tree, uint32_t from) const {
  std::vector<uint32_t> links;
  for (uint32_t v = from; tree.nodes[v].link != none; v = tree.nodes[v].next)
    links.push_back(tree.nodes[v].link);
  return links;
}

/// Returns the CPU with the fewest hops to the device, as an index into `cpus`,
/// or `none` if no route leads to a CPU.
uint32_t PathTable::nearestCPU(const Tree &fromDevice) const {
  uint32_t nearest = none;
  for (uint32_t c = 0; c < cpus.size(); ++c) {
    const Tree::Node &node = fromDevice.nodes[cpus[c]];
    if (node.width > 0 &&
        (nearest == none || node.hops < fromDevice.nodes[cpus[nearest]].hops))
      nearest = c;
  }
  return nearest;
}

bool PathTable::passesIntel(ArrayRef<uint32_t> links) const {
  return llvm::any_of(links, [&](uint32_t l) {
    if (l >= graph.links.size())
      return false;
    const Vertex &vertex = graph.vertices[graph.links[l].to];
    return vertex.kind == VertexKind::CPU && vertex.vendor == CPUVendor::Intel;
  });
}

void PathTable::setPath(uint32_t from, uint32_t to, ArrayRef<uint32_t> links,
                        PathClass kind) {
  Path &path = paths[from * numEnds() + to];
  path.kind = kind;
  path.hops = links.size();
  path.begin = allLoads.size();
  path.width = INT64_MAX;
  bool fromDevice = from < numDevices();
  bool slow = kind == PathClass::Bridge && fromDevice && passesIntel(links);
  for (uint32_t l : links) {
    path.width = std::min(path.width, capacity[l]);
    bool pcie = l < graph.links.size() && graph.links[l].kind == LinkKind::PCIe;
    allLoads.push_back({l, slow && pcie ? Share::ThroughIntel : Share::Whole});
  }
  if (!fromDevice && to < numDevices() && !links.empty()) {
    uint32_t generation = device(to).computeCapability;
    if (generation != 0 && generation < firstWithoutAcknowledge)
      allLoads.push_back({opposite(links.back()), Share::Acknowledge});
  }
  path.end = allLoads.size();
}

Rate PathTable::portRate(uint32_t n) const {
  return toRate(nic(n).portBandwidth);
}

Rate PathTable::widestFromDevice() const {
  Rate widest = 0;
  for (uint32_t d = 0; d < numDevices(); ++d) {
    if (numNICs() > 0)
      for (uint32_t n = 0; n < numNICs(); ++n)
        widest = std::max(widest, toNIC(d, n).width);
    else
      for (uint32_t other = 0; other < numDevices(); ++other)
        widest = std::max(widest, between(d, other).width);
  }
  return widest;
}

Rate PathTable::mostOutOfDevice() const {
  Rate most = 0;
  for (uint32_t d : devices) {
    Rate nvlink = 0, pcie = 0;
    for (const Edge &edge : edges[d]) {
      if (edge.kind == LinkKind::NVLink)
        nvlink += capacity[edge.link];
      if (edge.kind == LinkKind::PCIe)
        pcie = capacity[edge.link];
    }
    most = std::max({most, nvlink, pcie});
  }
  return most;
}

int64_t PathTable::mostRings(Rate speed, PathClass intra) const {
  auto carriedBy = [&](uint32_t vertex, auto &&counts) {
    int64_t rings = 0;
    for (const Edge &edge : edges[vertex])
      if (counts(edge))
        rings += capacity[edge.link] / speed;
    return rings;
  };
  int64_t most = INT64_MAX;
  if (numDevices() > 1 || numNICs() > 0) {
    // With NICs, the last device of a ring sends to a NIC over PCIe. PCIe links
    // therefore count even if `intra` allows only NVLink.
    bool onlyNVLink = intra <= PathClass::NVLinkRelay && numNICs() == 0;
    for (uint32_t d : devices)
      most = std::min(most, carriedBy(d, [&](const Edge &edge) {
                        return edge.kind == LinkKind::NVLink || !onlyNVLink;
                      }));
  }
  if (numNICs() > 0) {
    int64_t entering = 0;
    for (uint32_t n : nics)
      entering += carriedBy(
          n, [](const Edge &edge) { return edge.kind != LinkKind::Network; });
    most = std::min(most, entering);
  }
  return std::min<int64_t>(most, maxChannels);
}
