//===- PresetTest.cpp - embedded clusters ---------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Cluster.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace proteus::machine;

namespace {

TEST(Preset, TheyAreSortedByName) {
  EXPECT_EQ(join(clusterPresetNames(), " "),
            "dgx-2 dgx-a100 dgx-b200 dgx-b300 dgx-h100 dgx-h200 dgx1-v100 "
            "gb200-nvl72 gb300-nvl72 gtx1080-pcie mi300x pcie-cloud "
            "titanxp-pcie");
  for (const std::string &name : clusterPresetNames()) {
    Expected<Cluster> cluster = parseClusterPreset(name);
    ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
    EXPECT_EQ(cluster->name, name);
    EXPECT_EQ(cluster->numNodes(), 1);
    EXPECT_EQ(cluster->devicesPerNode(), StringRef(name).ends_with("nvl72") ? 72
                                         : name == "dgx-2" ? 16
                                                           : 8);
    EXPECT_TRUE(cluster->isHomogeneous());
    EXPECT_TRUE(cluster->kinds[0].host);
    // Clusters of any size exist, except for the machine without a network.
    Expected<Cluster> large = parseClusterPreset(name + ":4096");
    EXPECT_EQ(bool(large), name != "titanxp-pcie");
    if (!large)
      consumeError(large.takeError());
  }
}

TEST(Preset, HoldsTheDatasheetOfTheA100) {
  Expected<Cluster> cluster = parseClusterPreset("dgx-a100:16");
  ASSERT_TRUE(bool(cluster));
  EXPECT_EQ(cluster->name, "dgx-a100:16");
  EXPECT_EQ(cluster->numDevices(), 128);
  const Device &device = cluster->deviceAt(127);
  EXPECT_EQ(device.peak(DType::BF16), 312e12);
  EXPECT_EQ(device.peak(DType::F32), 19.5e12);
  EXPECT_EQ(device.peak(DType::TF32), 156e12);
  EXPECT_EQ(device.memoryBytes, 85899345920);
  EXPECT_EQ(device.memoryBandwidth, 2039e9);
  EXPECT_EQ(cluster->intraNode.bandwidth, 300e9);
  EXPECT_EQ(cluster->interNode.bandwidth, 25e9);
}

/// No table has convolutions in TF32. They are assumed to lose as much
/// efficiency against BF16 as products do.
TEST(Preset, TF32LosesAsMuchInConvolutionsAsInProducts) {
  for (StringRef name : {"dgx-a100", "dgx-h100", "dgx-b200"}) {
    Expected<Cluster> cluster = parseClusterPreset(name);
    ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
    const KernelParameters &kernels = *cluster->devices[0].kernels;
    double products = kernels.product(DType::TF32).efficiency /
                      kernels.product(DType::BF16).efficiency;
    double convolutions = kernels.convolution(DType::TF32).efficiency /
                          kernels.convolution(DType::BF16).efficiency;
    EXPECT_NEAR(convolutions / products, 1, 0.01) << name.str();
  }
}

TEST(Preset, MissingTypesFallBackToF32Visibly) {
  Expected<Cluster> cluster = parseClusterPreset("dgx1-v100");
  ASSERT_TRUE(bool(cluster));
  EXPECT_FALSE(cluster->devices[0].supports(DType::BF16));
  EXPECT_EQ(cluster->devices[0].peak(DType::BF16), 15.7e12);
  EXPECT_TRUE(cluster->devices[0].supports(DType::F16));
  EXPECT_EQ(cluster->devices[0].peak(DType::F16), 125e12);
}

TEST(Preset, BadNodeCountsAreRefused) {
  for (const char *count : {"", "0", "-2", "x", "4x", " 4", "1000001",
                            "99999999999999999999", "1.5"}) {
    Expected<Cluster> cluster =
        parseClusterPreset(std::string("dgx-a100:") + count);
    ASSERT_FALSE(bool(cluster)) << count;
    EXPECT_EQ(toString(cluster.takeError()),
              std::string("expected a number of nodes from 1 to 1000000 after "
                          "'dgx-a100:', got '") +
                  count + "'");
  }
}

TEST(Preset, UnknownNamesListTheKnownOnes) {
  EXPECT_FALSE(isClusterPreset("dgx-c300"));
  EXPECT_TRUE(isClusterPreset("dgx-a100:4"));
  Expected<Cluster> cluster = parseClusterPreset("dgx-c300:4");
  EXPECT_EQ(toString(cluster.takeError()),
            "unknown cluster preset 'dgx-c300'; known presets: " +
                join(clusterPresetNames(), ", "));
}

/// Returns the bytes/s of all links of a kind that leave device 0.
double leaving(const Cluster &cluster, LinkKind kind) {
  const NodeGraph &graph = cluster.kinds[0].graph;
  double sum = 0;
  for (uint32_t link : graph.linksFrom(graph.ofKind(VertexKind::Device)[0]))
    if (graph.links[link].kind == kind)
      sum += graph.links[link].bandwidth;
  return sum;
}

TEST(Preset, HoldsTheFiguresOfTheMachine) {
  struct Row {
    const char *name;
    double nvlink, pcie, nics, intra, inter, host;
  };
  const Row rows[] = {
      {"dgx-2", 132, 12, 100, 150, 6.25, 15.75},
      {"dgx-a100", 240, 24, 200, 300, 25, 31.5},
      {"dgx-b200", 721.8, 48, 400, 900, 50, 63},
      {"dgx-b300", 721.8, 96, 800, 900, 100, 63},
      {"dgx-h100", 370.8, 48, 400, 450, 50, 63},
      {"dgx-h200", 370.8, 48, 400, 450, 50, 63},
      {"dgx1-v100", 132, 12, 50, 150, 6.25, 15.75},
      {"gb200-nvl72", 721.8, 225, 3600, 900, 50, 225},
      {"gb300-nvl72", 721.8, 225, 7200, 900, 100, 225},
      {"mi300x", 373.1, 48, 400, 448, 50, 63},
      {"gtx1080-pcie", 0, 12, 7, 12, 0.875, 12},
      {"pcie-cloud", 0, 12, 12.5, 12, 1.5625, 12},
      {"titanxp-pcie", 0, 12, 0, 12, 0, 12},
  };
  for (const Row &row : rows) {
    SCOPED_TRACE(row.name);
    Cluster cluster = cantFail(parseClusterPreset(row.name));
    EXPECT_NEAR(leaving(cluster, LinkKind::NVLink) / 1e9, row.nvlink, 1e-9);
    EXPECT_NEAR(leaving(cluster, LinkKind::PCIe) / 1e9, row.pcie, 1e-9);
    double nics = 0;
    for (const Vertex &vertex : cluster.kinds[0].graph.vertices)
      nics += vertex.portBandwidth;
    EXPECT_NEAR(nics / 1e9, row.nics, 1e-9);
    EXPECT_EQ(cluster.intraNode.bandwidth, row.intra * 1e9);
    EXPECT_EQ(cluster.interNode.bandwidth, row.inter * 1e9);
    EXPECT_EQ(cluster.kinds[0].host->bandwidth, row.host * 1e9);
    // The planning uses a device's share of the NICs.
    EXPECT_NEAR(nics / cluster.devicesPerNode(), row.inter * 1e9, 1);
  }
}

TEST(Preset, EveryV100OfTheCubeMeshHasSixLinks) {
  Cluster cluster = cantFail(parseClusterPreset("dgx1-v100"));
  const NodeGraph &graph = cluster.kinds[0].graph;
  for (uint32_t device : graph.ofKind(VertexKind::Device)) {
    double links = 0;
    for (uint32_t link : graph.linksFrom(device))
      if (graph.links[link].kind == LinkKind::NVLink)
        links += graph.links[link].bandwidth / 22e9;
    EXPECT_NEAR(links, 6, 1e-9) << graph.vertices[device].name;
  }
}

TEST(Preset, LeavesOfRailsSpanScalableUnits) {
  for (auto [name, span] :
       {std::pair("dgx-a100", 20), std::pair("dgx-h100", 32),
        std::pair("dgx-b200", 32)}) {
    Cluster cluster = cantFail(parseClusterPreset(std::string(name) + ":128"));
    EXPECT_TRUE(cluster.fabric.rails);
    EXPECT_EQ(cluster.unitOf(0, span - 1), 0);
    EXPECT_EQ(cluster.unitOf(0, span), 1);
    EXPECT_EQ(cluster.unitOf(1, 127), 0);
  }
}

TEST(Preset, ConstantsFollowTheGeneration) {
  auto constants = [](StringRef name) {
    return cantFail(parseClusterPreset(name)).kinds[0].collectives;
  };
  auto same = [&](StringRef name, Architecture architecture, bool nvlink) {
    EXPECT_EQ(constants(name).allReduce.simpleHop,
              defaultConstants(architecture, nvlink).allReduce.simpleHop);
  };
  same("dgx-a100", Architecture::Ampere, true);
  EXPECT_FALSE(constants("dgx-a100").inSwitch);
  same("dgx-h100", Architecture::Hopper, true);
  EXPECT_TRUE(constants("dgx-h100").inSwitch);
  same("dgx-b200", Architecture::Blackwell, true);
  // A rack has constants of its own.
  EXPECT_NE(constants("gb200-nvl72").allReduce.simpleHop,
            constants("dgx-b200").allReduce.simpleHop);
  // The L4 is Ampere too, but has PCIe only.
  same("pcie-cloud", Architecture::Ampere, false);
}

TEST(Preset, ConstantsAreKnownOfEveryGeneration) {
  for (Architecture architecture : allArchitectures())
    for (bool nvlink : {false, true}) {
      const CollectiveConstants &c = defaultConstants(architecture, nvlink);
      for (const RingConstants &ring :
           {c.allReduce, c.allGather, c.reduceScatter}) {
        EXPECT_GT(ring.simpleBase, 0);
        EXPECT_GT(ring.efficiency, 0.5);
        EXPECT_LT(ring.efficiency, 1.5);
      }
      EXPECT_GT(c.messageChannel, 1e9);
      EXPECT_GT(c.channels, 0u);
      // Every prediction has an error.
      for (double error : c.relativeError) {
        EXPECT_GT(error, 0);
        EXPECT_LT(error, 1);
      }
    }
}

TEST(Preset, AMachineWithoutNetworkStaysAlone) {
  Expected<Cluster> cluster = parseClusterPreset("titanxp-pcie:2");
  EXPECT_EQ(toString(cluster.takeError()),
            "cluster 'titanxp-pcie:2': nodes can't reach each other: there are "
            "2, but node 'node' has no NIC; add 'nics' or use one node");
}

} // namespace
