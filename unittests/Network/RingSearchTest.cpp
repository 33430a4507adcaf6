//===- RingSearchTest.cpp - routes and rings in a node --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Network/RingSearch.h"
#include "../Reference/ReferenceFiles.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace llvm;
using namespace proteus;
using namespace proteus::machine;
using namespace proteus::net;

namespace {

constexpr double GB = 1e9;

/// Builder of small nodes.
struct Builder {
  NodeGraph graph;

  uint32_t add(VertexKind kind) {
    Vertex vertex;
    vertex.kind = kind;
    vertex.index = graph.ofKind(kind).size();
    vertex.vendor = CPUVendor::Intel;
    vertex.computeCapability = 70;
    return graph.addVertex(vertex);
  }
  uint32_t below(uint32_t parent, VertexKind kind, double bandwidth = 12) {
    uint32_t vertex = add(kind);
    graph.connect(vertex, parent, LinkKind::PCIe, bandwidth * GB);
    return vertex;
  }
  uint32_t nic(uint32_t parent, double bandwidth, double slot = 12) {
    uint32_t vertex = below(parent, VertexKind::NIC, slot);
    graph.vertices[vertex].portBandwidth = bandwidth * GB;
    return vertex;
  }
  void nvlink(uint32_t a, uint32_t b, double bandwidth) {
    graph.connect(a, b, LinkKind::NVLink, bandwidth * GB);
  }
  RingSet rings(std::vector<uint32_t> local, bool acrossNodes = false) {
    return findRings(graph, local, acrossNodes);
  }
};

double loadOf(const RingChannel &ring, uint32_t link) {
  for (auto [loaded, load] : ring.loads)
    if (loaded == link)
      return load;
  return 0;
}

TEST(PathClass, NeighboursOnNVLink) {
  Builder node;
  uint32_t cpu = node.add(VertexKind::CPU);
  uint32_t a = node.below(cpu, VertexKind::Device);
  uint32_t b = node.below(cpu, VertexKind::Device);
  node.nvlink(a, b, 44);
  RingSet rings = node.rings({0, 1});
  EXPECT_EQ(rings.intra, PathClass::NVLink);
  EXPECT_EQ(rings.bandwidth(), 44 * GB);
}

TEST(PathClass, AnotherDeviceRelaysNVLinkOnce) {
  Builder node;
  uint32_t cpu = node.add(VertexKind::CPU);
  std::vector<uint32_t> devices;
  for (int i = 0; i < 3; ++i)
    devices.push_back(node.below(cpu, VertexKind::Device));
  node.nvlink(devices[0], devices[1], 44);
  node.nvlink(devices[1], devices[2], 44);
  // The ring 0 -> 1 -> 2 -> (1) -> 0 uses each direction of both links once.
  RingSet rings = node.rings({0, 1, 2});
  EXPECT_EQ(rings.intra, PathClass::NVLinkRelay);
  EXPECT_EQ(rings.bandwidth(), 44 * GB);
  // A device outside the group does not relay.
  EXPECT_EQ(node.rings({0, 2}).intra, PathClass::Bridge);
}

TEST(PathClass, NoSecondDeviceRelaysNVLink) {
  // Three legs of two devices around a hub. No ring has at most one relay per
  // step. A ring with two relays exists and has fewer hops than PCIe, but is
  // not allowed.
  Builder node;
  uint32_t cpu = node.add(VertexKind::CPU);
  std::vector<uint32_t> devices;
  for (int i = 0; i < 7; ++i)
    devices.push_back(node.below(node.below(cpu, VertexKind::PCIeSwitch),
                                 VertexKind::Device));
  for (int leg : {1, 3, 5}) {
    node.nvlink(devices[0], devices[leg], 400);
    node.nvlink(devices[leg], devices[leg + 1], 400);
  }
  EXPECT_EQ(node.rings({0, 1, 2, 3, 4, 5, 6}).intra, PathClass::Bridge);
  EXPECT_EQ(node.rings({0, 1, 2, 3, 4}).intra, PathClass::NVLinkRelay);
}

TEST(PathClass, OneSwitchThenSeveralThenTheCPUThenTwo) {
  Builder node;
  uint32_t cpu0 = node.add(VertexKind::CPU), cpu1 = node.add(VertexKind::CPU);
  node.graph.connect(cpu0, cpu1, LinkKind::Socket, 9 * GB);
  uint32_t top = node.below(cpu0, VertexKind::PCIeSwitch);
  uint32_t left = node.below(top, VertexKind::PCIeSwitch);
  uint32_t right = node.below(top, VertexKind::PCIeSwitch);
  uint32_t apart = node.below(cpu0, VertexKind::PCIeSwitch);
  for (uint32_t parent : {left, left, right, apart, cpu1})
    node.below(parent, VertexKind::Device);
  auto check = [&](uint32_t other, PathClass kind, double bandwidth) {
    RingSet rings = node.rings({0, other});
    EXPECT_EQ(rings.intra, kind) << other;
    EXPECT_EQ(rings.bandwidth(), bandwidth * GB) << other;
  };
  check(1, PathClass::OneSwitch, 12);
  check(2, PathClass::SomeSwitches, 12);
  // Peers reach 12 / 1.2 through the root complex of an Intel CPU.
  check(3, PathClass::Bridge, 10);
  check(4, PathClass::System, 9);
}

TEST(PathClass, OnlyIntelSlowsPeersThroughItsRootComplex) {
  Builder node;
  uint32_t cpu = node.add(VertexKind::CPU);
  node.graph.vertices[cpu].vendor = CPUVendor::AMD;
  node.below(cpu, VertexKind::Device);
  node.below(cpu, VertexKind::Device);
  RingSet rings = node.rings({0, 1});
  EXPECT_EQ(rings.intra, PathClass::Bridge);
  EXPECT_EQ(rings.bandwidth(), 12 * GB);
}

TEST(RingSearch, LoadsTellWhatARingTakesFromEachLink) {
  Builder node;
  uint32_t cpu = node.add(VertexKind::CPU);
  node.below(cpu, VertexKind::Device); // links 0 up, 1 down
  node.below(cpu, VertexKind::Device); // links 2 up, 3 down
  RingSet rings = node.rings({0, 1});
  ASSERT_EQ(rings.channels.size(), 1u);
  EXPECT_EQ(rings.channels[0].order, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(rings.channels[0].enter, -1);
  for (uint32_t link = 0; link < 4; ++link)
    EXPECT_DOUBLE_EQ(loadOf(rings.channels[0], link), 1.2) << link;
}

TEST(RingSearch, WithoutGPUDirectDataCrossTheUplinkTwice) {
  Builder node;
  uint32_t cpu = node.add(VertexKind::CPU);
  uint32_t common = node.below(cpu, VertexKind::PCIeSwitch); // 0 up, 1 down
  uint32_t device = node.below(common, VertexKind::Device);  // 2 up, 3 down
  node.nic(common, 100);                                     // 4 up, 5 down
  RingSet detour = node.rings({0}, true);
  ASSERT_EQ(detour.channels.size(), 1u);
  EXPECT_EQ(detour.inter, PathClass::Bridge);
  EXPECT_EQ(detour.channels[0].enter, 0);
  // Inbound: NIC, switch, CPU, switch, device. Outbound: the reverse at 1.2.
  EXPECT_DOUBLE_EQ(loadOf(detour.channels[0], 0), 2.2);
  EXPECT_DOUBLE_EQ(loadOf(detour.channels[0], 1), 2.2);
  EXPECT_DOUBLE_EQ(loadOf(detour.channels[0], 3), 1);
  // Outbound at 1.2, plus an eighth for the acknowledgements of the NIC's
  // writes.
  EXPECT_DOUBLE_EQ(loadOf(detour.channels[0], 2), 1.325);
  EXPECT_EQ(detour.bandwidth(), 5 * GB); // 2.2 x 5 of 12

  node.graph.vertices[device].directNIC = true;
  RingSet direct = node.rings({0}, true);
  EXPECT_EQ(direct.inter, PathClass::OneSwitch);
  EXPECT_EQ(direct.bandwidth(), 10 * GB); // 10 + 10 / 8 of 12
  EXPECT_EQ(loadOf(direct.channels[0], 0), 0);
}

/// Adds a device that NICs reach directly and without acknowledgements.
uint32_t modernDevice(Builder &node, uint32_t parent, double bandwidth) {
  uint32_t device = node.below(parent, VertexKind::Device, bandwidth);
  node.graph.vertices[device].directNIC = true;
  node.graph.vertices[device].computeCapability = 80;
  return device;
}

TEST(RingSearch, ManySlowRingsOverAllNICsBeatFewFastOnes) {
  Builder node;
  uint32_t cpu = node.add(VertexKind::CPU);
  uint32_t common = node.below(cpu, VertexKind::PCIeSwitch);
  uint32_t first = modernDevice(node, common, 24);
  node.nvlink(first, modernDevice(node, common, 24), 100);
  node.nic(common, 14, 14);
  node.nic(common, 14, 14);
  RingSet rings = node.rings({0, 1}, true);
  EXPECT_EQ(rings.channels.size(), 4u); // two rings of 12 are found first
  EXPECT_EQ(rings.speed, 7 * GB);
}

TEST(RingSearch, WaysToNICsWidenToSeveralSwitchesEvenAfterRingsAreFound) {
  Builder node;
  uint32_t cpu = node.add(VertexKind::CPU);
  uint32_t top = node.below(cpu, VertexKind::PCIeSwitch);
  uint32_t near = node.below(top, VertexKind::PCIeSwitch);
  uint32_t far = node.below(top, VertexKind::PCIeSwitch);
  modernDevice(node, near, 24);
  node.nic(near, 12);
  node.nic(far, 12);
  RingSet rings = node.rings({0}, true);
  EXPECT_EQ(rings.inter, PathClass::SomeSwitches);
  EXPECT_EQ(rings.bandwidth(), 24 * GB);
}

TEST(RingSearch, APortGivesWholeGigabytes) {
  // A port of 4 GB/s with four slots of 1.3 GB/s. A ring of 1.2 GB/s takes only
  // 1 GB/s from the port, so four rings fit.
  Builder node;
  uint32_t cpu = node.add(VertexKind::CPU);
  uint32_t common = node.below(cpu, VertexKind::PCIeSwitch);
  modernDevice(node, common, 12);
  for (int i = 0; i < 4; ++i)
    node.graph.vertices[node.nic(common, 4, 1.3)].guid = "card";
  EXPECT_EQ(node.rings({0}, true).bandwidth(), 4.8 * GB);
}

TEST(RingSearch, PortsOfACardShareItsSlot) {
  const char *card = R"(<system><cpu>
    <pci busid="s" class="0x06">
      <pci busid="g" class="0x03"><gpu dev="0" sm="80" gdr="1"/></pci>
      <pci busid="h" class="0x03"><gpu dev="1" sm="80" gdr="1"/></pci>
      <pci busid="n" class="0x02"><nic>
        <net dev="0" speed="100000" port="1" guid="a" gdr="1"/>
        <net dev="1" speed="100000" port="2" guid="a" gdr="1"/>
      </nic></pci>
    </pci></cpu></system>)";
  NodeGraph graph = cantFail(parseTopologyXML(card, "card.xml"));
  // Both NICs are equally near; each device prefers a different one.
  for (int32_t device : {0, 1}) {
    RingSet rings = findRings(graph, {uint32_t(device)}, true);
    EXPECT_EQ(rings.inter, PathClass::OneSwitch);
    EXPECT_EQ(rings.bandwidth(), 12 * GB);
    EXPECT_EQ(rings.channels.front().enter, device);
  }
}

TEST(RingSearch, NewDevicesFillAPCIe5Slot) {
  // Measured with four H100: 48.8 GB/s.
  for (auto [capability, bandwidth] : {std::pair(80, 44.), {90, 48.}}) {
    Builder node;
    uint32_t cpu = node.add(VertexKind::CPU);
    node.graph.vertices[cpu].vendor = CPUVendor::AMD;
    for (int i = 0; i < 4; ++i) {
      uint32_t device = node.below(cpu, VertexKind::Device, 48);
      node.graph.vertices[device].computeCapability = capability;
    }
    EXPECT_EQ(node.rings({0, 1, 2, 3}).bandwidth(), bandwidth * GB);
  }
}

TEST(RingSearch, NothingFoundIsOneSlowRing) {
  Builder node;
  node.add(VertexKind::Device);
  node.add(VertexKind::Device); // no links
  for (bool acrossNodes : {false, true}) {
    RingSet rings = node.rings({0, 1}, acrossNodes);
    ASSERT_EQ(rings.channels.size(), 1u);
    EXPECT_EQ(rings.speed, 0.1 * GB);
    EXPECT_EQ(rings.intra, PathClass::System);
    EXPECT_TRUE(rings.channels[0].loads.empty());
  }
}

TEST(RingSearch, FillsTheNVLinksOfAHybridCubeMesh) {
  // Bus bandwidth of all-reduces on a DGX-1 with V100 (measured: 22.6 45.1 85.2
  // 45.7 86.9 134.3 GB/s).
  NodeGraph graph = readTopology("dgx1_v100_2ib");
  for (auto [count, bandwidth] :
       {std::pair(2, 22), {3, 44}, {4, 88}, {6, 44}, {7, 88}, {8, 132}}) {
    std::vector<uint32_t> local(count);
    std::iota(local.begin(), local.end(), 0);
    RingSet rings = findRings(graph, local, false);
    EXPECT_EQ(rings.bandwidth(), bandwidth * GB) << count << " devices";
    EXPECT_EQ(rings.intra, PathClass::NVLink) << count << " devices";
  }
}

/// Expects that every ring visits every device once, and that the rings
/// together do not exceed the bandwidth of any link.
void checkRings(const NodeGraph &graph, ArrayRef<uint32_t> local,
                const RingSet &rings, bool acrossNodes) {
  std::vector<double> taken(graph.links.size(), 0);
  for (const RingChannel &ring : rings.channels) {
    std::vector<uint32_t> sorted = ring.order;
    llvm::sort(sorted);
    EXPECT_EQ(ArrayRef(sorted), local);
    EXPECT_EQ(ring.enter >= 0, acrossNodes);
    EXPECT_EQ(ring.leave >= 0, acrossNodes);
    EXPECT_TRUE(rings.crossNIC || ring.enter == ring.leave);
    for (auto [link, load] : ring.loads)
      taken[link] += load * rings.speed;
  }
  for (uint32_t link = 0; link < graph.links.size(); ++link)
    EXPECT_LE(taken[link], graph.links[link].bandwidth * (1 + 1e-9)) << link;
}

TEST(RingSearch, EverySubsetGetsRingsThatFitOnTheLinks) {
  for (const char *cluster :
       {"titanxp", "gtx1080_1ib", "dgx1_v100_1ib", "dgx1_v100_2ib"}) {
    NodeGraph graph = readTopology(cluster);
    for (uint32_t mask = 1; mask < 256; ++mask) {
      std::vector<uint32_t> local;
      for (uint32_t d = 0; d < 8; ++d)
        if (mask >> d & 1)
          local.push_back(d);
      for (bool acrossNodes : {false, true}) {
        SCOPED_TRACE(std::string(cluster) + " " + std::to_string(mask));
        RingSet rings = findRings(graph, local, acrossNodes);
        checkRings(graph, local, rings, acrossNodes);
      }
    }
  }
}

} // namespace
