//===- TestClusters.h - small clusters for tests ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_UNITTESTS_NETWORK_TESTCLUSTERS_H
#define PROTEUS_UNITTESTS_NETWORK_TESTCLUSTERS_H

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Network/Communicator.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

namespace proteus::net::test {

using machine::Architecture;
using machine::Cluster;
using machine::CollectiveConstants;
using machine::LinkKind;
using machine::NodeGraph;
using machine::NodeKind;
using machine::Vertex;
using machine::VertexKind;

constexpr double GB = 1e9;
constexpr double us = 1e-6;
/// Fill cost of one square root of a microsecond.
constexpr double rootUs = 1e-3;

/// Sets the same constants for all three kinds of rings, except for `extra` and
/// `efficiency`.
inline void setRings(CollectiveConstants &c, machine::RingConstants ring,
                     const double (&extra)[3], const double (&efficiency)[3]) {
  machine::RingConstants *rings[] = {&c.allReduce, &c.allGather,
                                     &c.reduceScatter};
  for (unsigned i = 0; i < 3; ++i) {
    *rings[i] = ring;
    rings[i]->extra = extra[i];
    rings[i]->efficiency = efficiency[i];
  }
}

inline CollectiveConstants h100Constants() {
  CollectiveConstants c;
  setRings(c, {11 * us, 2.9 * us, 0.31, 23 * us, 0.9 * us, 1.0 * rootUs},
           {.37, .32, .80}, {.97, .98, .98});
  c.exchangeBase = 36 * us, c.exchangeHop = 1.1 * us, c.exchangeExtra = .12;
  c.exchangeEfficiency = 382 / 370.8, c.exchangeFill = 3.6 * rootUs;
  c.inSwitch = {55 * us, .84, .01, 2.3 * rootUs};
  c.messageBase = 7.6 * us, c.messageChannel = 15.7 * GB;
  c.channels = 24;
  return c;
}

inline CollectiveConstants a100Constants() {
  CollectiveConstants c;
  setRings(c, {9 * us, 2.3 * us, .10, 28 * us, 2.6 * us, 2.5 * rootUs},
           {.34, .5, .34}, {1, 1, 1});
  c.exchangeBase = 28 * us, c.exchangeHop = 2.6 * us, c.exchangeExtra = .5;
  c.exchangeFill = 2.5 * rootUs;
  c.messageBase = 14 * us, c.messageChannel = 15.7 * GB;
  c.channels = 24;
  return c;
}

inline CollectiveConstants b200Constants() {
  CollectiveConstants c;
  setRings(c, {15 * us, 1.24 * us, 0.44, 18 * us, 1.7 * us, 2.3 * rootUs},
           {.45, .49, .46}, {.90, .99, .99});
  c.exchangeBase = 38 * us, c.exchangeHop = 0, c.exchangeExtra = .83;
  c.exchangeEfficiency = 758 / 721.8, c.exchangeFill = 4.3 * rootUs;
  c.inSwitch = {50 * us, .78, .11, 7 * rootUs};
  c.messageBase = 11.7 * us, c.messageChannel = 22.3 * GB;
  c.channels = 32;
  return c;
}

inline uint32_t addVertex(NodeGraph &graph, VertexKind kind, std::string name,
                          uint32_t index = 0) {
  Vertex vertex;
  vertex.kind = kind;
  vertex.name = std::move(name);
  vertex.index = index;
  vertex.directNIC = true;
  return graph.addVertex(std::move(vertex));
}

/// Returns a node with two CPUs, a PCIe switch for every `perSwitch` devices,
/// and `nicsPerSwitch` NICs at each PCIe switch.
inline NodeGraph pcieNode(uint32_t devices, uint32_t perSwitch,
                          uint32_t nicsPerSwitch, double pcie, double nic) {
  NodeGraph graph;
  graph.name = "pcie";
  for (uint32_t d = 0; d < devices; ++d)
    addVertex(graph, VertexKind::Device, "gpu " + std::to_string(d), d);
  uint32_t cpus[2] = {addVertex(graph, VertexKind::CPU, "cpu 0", 0),
                      addVertex(graph, VertexKind::CPU, "cpu 1", 1)};
  graph.connect(cpus[0], cpus[1], LinkKind::Socket, 20 * GB);
  uint32_t switches = (devices + perSwitch - 1) / perSwitch, nics = 0;
  for (uint32_t s = 0; s < switches; ++s) {
    uint32_t plx = addVertex(graph, VertexKind::PCIeSwitch,
                             "pcie switch " + std::to_string(s), s);
    graph.connect(plx, cpus[2 * s / switches], LinkKind::PCIe, pcie);
    for (uint32_t d = s * perSwitch; d < std::min(devices, (s + 1) * perSwitch);
         ++d)
      graph.connect(d, plx, LinkKind::PCIe, pcie);
    for (uint32_t i = 0; i < nicsPerSwitch; ++i, ++nics) {
      uint32_t card = addVertex(graph, VertexKind::NIC,
                                "nic " + std::to_string(nics), nics);
      graph.vertices[card].portBandwidth = nic;
      graph.vertices[card].guid = "card " + std::to_string(nics);
      graph.connect(card, plx, LinkKind::PCIe, pcie);
    }
  }
  return graph;
}

/// Returns a node in which every device has its own NIC and `width` bytes/s to
/// one NVSwitch.
inline NodeGraph switchedNode(uint32_t devices, double width,
                              double nic = 50 * GB, double pcie = 64 * GB) {
  NodeGraph graph = pcieNode(devices, 1, 1, pcie, nic);
  graph.name = "switched";
  uint32_t hub = addVertex(graph, VertexKind::NVSwitch, "nvswitch");
  for (uint32_t d = 0; d < devices; ++d)
    graph.connect(d, hub, LinkKind::NVLink, width);
  return graph;
}

/// Returns the cube mesh of eight V100 with six NVLinks of 22 GB/s each, and
/// four NICs.
inline NodeGraph dgx1Node() {
  NodeGraph graph = pcieNode(8, 2, 1, 12 * GB, 12.5 * GB);
  graph.name = "dgx-1";
  for (uint32_t d = 0; d < 8; ++d)
    graph.vertices[d].computeCapability = 70;
  constexpr uint32_t cables[][3] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2},
                                    {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
                                    {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1},
                                    {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
  for (auto [a, b, count] : cables)
    graph.connect(a, b, LinkKind::NVLink, count * 22 * GB);
  return graph;
}

inline Cluster makeCluster(NodeGraph graph, CollectiveConstants constants,
                           int64_t nodes) {
  Cluster cluster;
  cluster.name = graph.name;
  cluster.devices.resize(1);
  cluster.devices[0].architecture = Architecture::Hopper;
  NodeKind kind;
  kind.graph = std::move(graph);
  kind.collectives = constants;
  cluster.kinds.push_back(std::move(kind));
  cluster.nodes.push_back({0, nodes});
  return cluster;
}

inline Cluster h100(int64_t nodes = 1, uint32_t perNode = 8) {
  return makeCluster(switchedNode(perNode, 370.8 * GB), h100Constants(), nodes);
}

/// Adds leaf switches over `leafSpan` nodes, and a spine over `spineSpan`
/// nodes.
inline void addLeafAndSpine(Cluster &cluster, int64_t leafSpan,
                            int64_t spineSpan, bool rails,
                            double oversubscription = 1) {
  machine::FabricLevel leaf, spine;
  leaf.name = "leaf";
  leaf.span = leafSpan;
  leaf.oversubscription = oversubscription;
  spine.name = "spine";
  spine.span = spineSpan;
  cluster.fabric.levels = {leaf, spine};
  cluster.fabric.rails = rails;
}

inline std::vector<int64_t> range(int64_t begin, int64_t end,
                                  int64_t step = 1) {
  std::vector<int64_t> devices;
  for (int64_t d = begin; d < end; d += step)
    devices.push_back(d);
  return devices;
}

/// Returns a communicator that lives until the tests end, because plans refer
/// to its lists.
inline Communicator *make(const Cluster &cluster,
                          llvm::ArrayRef<int64_t> devices) {
  static std::vector<std::unique_ptr<Communicator>> all;
  all.push_back(llvm::cantFail(Communicator::create(cluster, devices)));
  return all.back().get();
}

inline double seconds(const Plan &plan) {
  return cost::toSeconds(plan.alone());
}

/// Returns the load of a link, or 0 if the plan does not use it.
inline double loadOn(const Plan &plan, LinkId link) {
  for (const LinkLoad &load : plan.listLoads())
    if (load.link == link)
      return static_cast<double>(load.load) / loadUnit;
  return 0;
}

/// Returns the link of the graph between two vertices with these names.
inline uint32_t wire(const Cluster &cluster, llvm::StringRef from,
                     llvm::StringRef to) {
  const NodeGraph &graph = cluster.kinds[0].graph;
  for (uint32_t l = 0; l < graph.links.size(); ++l)
    if (graph.vertices[graph.links[l].from].name == from &&
        graph.vertices[graph.links[l].to].name == to)
      return l;
  llvm_unreachable("no such link");
}

inline uint32_t nicOut(const Cluster &cluster, uint32_t nic) {
  return cluster.kinds[0].graph.links.size() + 2 * nic;
}

} // namespace proteus::net::test

#endif // PROTEUS_UNITTESTS_NETWORK_TESTCLUSTERS_H
