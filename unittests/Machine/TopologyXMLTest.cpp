//===- TopologyXMLTest.cpp - NCCL topology dumps --------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Cluster.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace proteus::machine;

namespace {

const char *const valid = R"(<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
    <pci busid="0:1" class="0x060400" link_speed="16 GT/s" link_width="16">
      <pci busid="0:2" class="0x030200" link_speed="8.0 GT/s PCIe" link_width="8">
        <gpu dev="1" sm="70" rank="1" gdr="1">
          <nvlink target="0:3" count="2" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0:4" class="0x020700" link_speed="" link_width="0">
        <nic>
          <net name="mlx5_0" dev="3" speed="100000" port="1" guid="0xa" maxconn="9" gdr="1"/>
          <net name="mlx5_1" dev="2" port="2" guid="0xa" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
    <pci busid="0:3" class="0x030200">
      <gpu dev="0" sm="70" gdr="1">
        <nvlink target="0:2" count="2" tclass="0x030200"/>
      </gpu>
    </pci>
  </cpu>
</system>
)";

/// Returns the error if a part of the valid file is replaced.
std::string errorWith(StringRef from, StringRef to) {
  std::string text = valid;
  size_t place = text.find(from.str());
  EXPECT_NE(place, std::string::npos) << from.str();
  text.replace(place, from.size(), to.str());
  Expected<NodeGraph> graph = parseTopologyXML(text, "topo.xml");
  return graph ? "" : toString(graph.takeError());
}

/// Returns the GB/s of the link between two vertices, or 0 if there is none.
double bandwidth(const NodeGraph &graph, uint32_t from, uint32_t to,
                 LinkKind kind) {
  for (const NodeLink &link : graph.links)
    if (link.from == from && link.to == to && link.kind == kind)
      return link.bandwidth * 1e-9;
  return 0;
}

TEST(TopologyXML, ReadsDevicesSwitchesSocketsAndNICs) {
  NodeGraph graph = cantFail(parseTopologyXML(valid, "topo.xml"));
  ASSERT_EQ(graph.numDevices(), 2u);
  ASSERT_EQ(graph.numNICs(), 2u);
  std::vector<uint32_t> devices = graph.ofKind(VertexKind::Device);
  std::vector<uint32_t> nics = graph.ofKind(VertexKind::NIC);
  std::vector<uint32_t> cpus = graph.ofKind(VertexKind::CPU);
  uint32_t pcie = graph.ofKind(VertexKind::PCIeSwitch).front();
  // `dev` numbers devices and NICs, not their position in the file.
  EXPECT_EQ(graph.vertices[devices[0]].name, "gpu 0:3");
  EXPECT_EQ(graph.vertices[devices[0]].computeCapability, 70u);
  EXPECT_TRUE(graph.vertices[devices[0]].directNIC);
  EXPECT_EQ(graph.vertices[nics[1]].name, "nic mlx5_0");
  EXPECT_EQ(graph.vertices[nics[1]].portBandwidth, 12.5e9);
  EXPECT_EQ(graph.vertices[nics[1]].guid, "0xa");
  EXPECT_EQ(graph.vertices[nics[1]].port, 1u);
  // Without a speed, a NIC has 10 Gb/s.
  EXPECT_EQ(graph.vertices[nics[0]].portBandwidth, 1.25e9);
  EXPECT_EQ(graph.vertices[cpus[0]].vendor, CPUVendor::Intel);
  EXPECT_EQ(graph.vertices[cpus[0]].model, 85u);

  EXPECT_EQ(bandwidth(graph, pcie, cpus[0], LinkKind::PCIe), 24);   // gen4 x16
  EXPECT_EQ(bandwidth(graph, devices[1], pcie, LinkKind::PCIe), 6); // gen3 x8
  EXPECT_EQ(bandwidth(graph, devices[0], cpus[1], LinkKind::PCIe), 12);
  EXPECT_EQ(bandwidth(graph, nics[1], pcie, LinkKind::PCIe), 12);
  EXPECT_EQ(bandwidth(graph, nics[0], nics[1], LinkKind::PCIe), 12);
  EXPECT_EQ(bandwidth(graph, cpus[0], cpus[1], LinkKind::Socket), 9);
  EXPECT_EQ(bandwidth(graph, cpus[1], cpus[0], LinkKind::Socket), 9);
  EXPECT_EQ(bandwidth(graph, devices[0], devices[1], LinkKind::NVLink), 44);
  EXPECT_EQ(bandwidth(graph, devices[1], devices[0], LinkKind::NVLink), 44);
  // Each pair has one connection; its two directions are adjacent in the list.
  EXPECT_EQ(graph.links.size(), 2u * 7);
  for (size_t l = 0; l < graph.links.size(); l += 2)
    EXPECT_EQ(graph.links[l].from, graph.links[l + 1].to);
}

TEST(TopologyXML, LinksToSwitchesMeetInOneSwitch) {
  std::string text = "<system><cpu>";
  for (int i = 0; i < 2; ++i) {
    std::string number = std::to_string(i);
    text += "<pci busid='" + number + "' class='0x03'><gpu dev='" + number +
            "' sm='80'>"
            "<nvlink target='c1' count='6' tclass='0x068000'/>"
            "<nvlink target='c2' count='6' tclass='0x068000'/></gpu></pci>";
  }
  NodeGraph graph =
      cantFail(parseTopologyXML(text + "</cpu></system>", "topo.xml"));
  std::vector<uint32_t> switches = graph.ofKind(VertexKind::NVSwitch);
  ASSERT_EQ(switches.size(), 1u);
  for (uint32_t device : graph.ofKind(VertexKind::Device))
    EXPECT_EQ(bandwidth(graph, device, switches[0], LinkKind::NVLink), 12 * 22);
}

TEST(TopologyXML, OnePortWithoutGPUDirectTurnsItOff) {
  std::string text = valid;
  text.replace(text.find("maxconn=\"9\" gdr=\"1\""), 19, "gdr=\"0\"");
  NodeGraph graph = cantFail(parseTopologyXML(text, "topo.xml"));
  for (uint32_t device : graph.ofKind(VertexKind::Device))
    EXPECT_FALSE(graph.vertices[device].directNIC);
}

TEST(TopologyXML, MalformedTextNamesTheLine) {
  EXPECT_EQ(errorWith("</nic>", "</net>"),
            "topo.xml:13: malformed XML: Start-end tags mismatch");
  EXPECT_EQ(errorWith("<system version=\"1\">", "<systems><cpu/>"),
            "topo.xml:24: malformed XML: Start-end tags mismatch");
  Expected<NodeGraph> graph = parseTopologyXML("<cluster/>", "topo.xml");
  EXPECT_EQ(toString(graph.takeError()),
            "topo.xml:1: expected an NCCL topology dump with the root element "
            "'system'");
  EXPECT_EQ(toString(parseTopologyXML("", "topo.xml").takeError()),
            "topo.xml:1: malformed XML: No document element found");
}

TEST(TopologyXML, NamesAreUsedOnce) {
  EXPECT_EQ(errorWith("busid=\"0:3\"", "busid=\"0:2\""),
            "topo.xml:18: bus id '0:2' is used twice");
  EXPECT_EQ(errorWith("dev=\"0\"", "dev=\"1\""),
            "topo.xml:19: gpu dev 1 is used twice");
  EXPECT_EQ(errorWith("dev=\"2\"", "dev=\"3\""),
            "topo.xml:12: net dev 3 is used twice");
}

TEST(TopologyXML, NVLinksHaveTwoEnds) {
  // The GPU at the other end of the link does not lead back.
  EXPECT_EQ(errorWith("target=\"0:3\"", "target=\"0:9\""),
            "topo.xml:20: 2 nvlinks lead to '0:2', but 0 come back: both ends "
            "must list a link");
  EXPECT_EQ(errorWith("target=\"0:3\"", "target=\"0:1\""),
            "topo.xml:6: nvlink target '0:1' is not a GPU");
  EXPECT_EQ(errorWith("target=\"0:3\"", "target=\"0:2\""),
            "topo.xml:6: nvlink leads back to its own GPU");
  EXPECT_EQ(errorWith("count=\"2\"", "count=\"1\""),
            "topo.xml:6: 1 nvlinks lead to '0:3', but 2 come back: both ends "
            "must list a link");
  EXPECT_EQ(
      errorWith("<nvlink target=\"0:2\" count=\"2\" tclass=\"0x030200\"/>", ""),
      "topo.xml:6: 2 nvlinks lead to '0:3', but 0 come back: both ends must "
      "list a link");
  EXPECT_EQ(errorWith("tclass=\"0x030200\"", "tclass=\"0x068001\""),
            "topo.xml:6: nvlink to a device of tclass '0x068001' is not "
            "modelled: only GPUs (0x03....) and switches (0x068000)");
}

TEST(TopologyXML, NumbersAreCheckedAtTheirPlace) {
  EXPECT_EQ(errorWith("speed=\"100000\"", "speed=\"0\""),
            "topo.xml:11: attribute 'speed' of 'net' must be a whole number "
            "from 1 to 100000000, got '0'");
  EXPECT_EQ(errorWith("count=\"2\"", "count=\"-2\""),
            "topo.xml:6: attribute 'count' of 'nvlink' must be a whole number "
            "from 1 to 1024, got '-2'");
  EXPECT_EQ(errorWith("sm=\"70\"", "sm=\"volta\""),
            "topo.xml:5: attribute 'sm' of 'gpu' must be a whole number from 1 "
            "to 10000, got 'volta'");
  EXPECT_EQ(errorWith("count=\"2\"", "count=\"99999999999999999999\""),
            "topo.xml:6: attribute 'count' of 'nvlink' must be a whole number "
            "from 1 to 1024, got '99999999999999999999'");
  EXPECT_EQ(errorWith("link_width=\"16\"", "link_width=\"-1\""),
            "topo.xml:3: attribute 'link_width' of 'pci' must be a whole "
            "number from 0 to 64, got '-1'");
  EXPECT_EQ(errorWith("16 GT/s", "17 GT/s"),
            "topo.xml:3: link_speed must be empty or 2.5, 5, 8, 16, 32 or 64 "
            "GT/s, got '17 GT/s'");
  EXPECT_EQ(errorWith("gdr=\"1\"", "gdr=\"2\""),
            "topo.xml:5: attribute 'gdr' of 'gpu' must be a whole number from "
            "0 to 1, got '2'");
}

TEST(TopologyXML, WhatIsMissingOrNotModelledIsSaid) {
  EXPECT_EQ(errorWith("busid=\"0:1\" ", ""),
            "topo.xml:3: 'pci' needs the attribute 'busid'");
  EXPECT_EQ(errorWith(" sm=\"70\"", ""),
            "topo.xml:5: 'gpu' needs the attribute 'sm'");
  EXPECT_EQ(errorWith("<nvlink target=\"0:3\" count=\"2\" "
                      "tclass=\"0x030200\"/>",
                      "<c2c bw=\"1\"/>"),
            "topo.xml:6: element 'c2c' below 'gpu' is not modelled");
  EXPECT_EQ(toString(parseTopologyXML("<system>\n<cpu/></system>", "topo.xml")
                         .takeError()),
            "topo.xml:1: no 'gpu' element: a node needs at least one device");
}

TEST(TopologyXML, SizesAreBounded) {
  std::string deep = "<system><cpu>", wide = deep, cpus = "<system>";
  for (int i = 0; i < 100000; ++i) {
    std::string pci = "<pci busid='" + std::to_string(i) + "' class='0x06'>";
    deep += pci;
    wide += pci + "</pci>";
    cpus += "<cpu/>";
  }
  for (int i = 0; i < 100000; ++i)
    deep += "</pci>";
  auto errorOf = [](const std::string &text) {
    return toString(parseTopologyXML(text, "topo.xml").takeError());
  };
  EXPECT_EQ(errorOf(deep + "</cpu></system>"),
            "topo.xml:1: PCIe switches are nested more than 32 deep");
  EXPECT_EQ(errorOf(wide + "</cpu></system>"),
            "topo.xml:1: more than 4096 CPUs, switches, GPUs and NICs in one "
            "node");
  EXPECT_EQ(errorOf(cpus + "</system>"),
            "topo.xml:1: more than 64 CPUs in one node");
}

} // namespace
