//===- FlatFileTest.cpp - clusters in the reference's format --------------===//
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

const char *const flat = R"({
  "n_node": 2, "n_gpu_per_node": 2, "gpu_gflops": 15700, "gpu_memory": 16000,
  "gpu_memory_bw": 900, "n_cpu_per_node": 0, "cpu_gflops": 1500,
  "cpu_memory": 100000, "cpu_memory_bw": 128, "gpu_to_gpu": 48,
  "cpu_to_gpu": 10, "cpu_to_cpu": 50, "inter_node": 7})";

const char *const topology = R"(<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
    <pci busid="0000:18:00.0" class="0x060400" link_speed="" link_width="0">
      <pci busid="0000:1a:00.0" class="0x030200" link_speed="" link_width="0">
        <gpu dev="0" sm="70" rank="0" gdr="0">
          <nvlink target="0000:1b:00.0" count="2" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:1b:00.0" class="0x030200" link_speed="" link_width="0">
        <gpu dev="1" sm="70" rank="1" gdr="0">
          <nvlink target="0000:1a:00.0" count="2" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:1c:00.0" class="0x020700" link_speed="" link_width="0">
        <nic>
          <net name="ib0" dev="0" speed="100000" port="1" guid="0x1" gdr="0"/>
        </nic>
      </pci>
    </pci>
  </cpu>
</system>)";

Expected<Cluster> parse(std::string text, StringRef expectedPath) {
  return parseClusterJSON(text, "n2_g2.json",
                          [&](StringRef path) -> Expected<std::string> {
                            EXPECT_EQ(path, expectedPath);
                            return std::string(topology);
                          });
}

std::string with(StringRef from, StringRef to) {
  std::string text = flat;
  size_t place = text.find(from.str());
  EXPECT_NE(place, std::string::npos) << from.str();
  return text.replace(place, from.size(), to.str());
}

TEST(FlatFile, ReadsEveryFigureInItsUnit) {
  Expected<Cluster> cluster = parse(flat, "topos/topo-n2.xml");
  ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
  EXPECT_EQ(cluster->name, "n2_g2.json");
  EXPECT_EQ(cluster->numNodes(), 2);
  EXPECT_EQ(cluster->numDevices(), 4);
  EXPECT_EQ(cluster->nodeOf(2), 1);
  const Device &device = cluster->deviceAt(3);
  EXPECT_EQ(device.peak(DType::F32), 15.7e12);
  EXPECT_EQ(device.memoryBytes, 16000000000);
  EXPECT_EQ(device.memoryBandwidth, 900e9);
  EXPECT_EQ(device.architecture, Architecture::Volta);
  EXPECT_EQ(cluster->intraNode.bandwidth, 48e9);
  EXPECT_EQ(cluster->interNode.bandwidth, 7e9);
  EXPECT_EQ(cluster->kinds[0].host->bandwidth, 10e9);
  EXPECT_EQ(cluster->kinds[0].graph.numNICs(), 1u);
  EXPECT_FALSE(cluster->kinds[0].collectives.inSwitch);
}

TEST(FlatFile, TheTopologyMayBeNamed) {
  Expected<Cluster> cluster = parse(
      with("\"n_node\"", "\"topology\": \"lab.xml\", \"n_node\""), "lab.xml");
  EXPECT_TRUE(bool(cluster)) << toString(cluster.takeError());
  Cluster simple = cantFail(parseClusterJSON(
      with("\"n_node\"", "\"topology\": \"none\", \"n_node\""), "x.json"));
  EXPECT_EQ(simple.kinds[0].graph.numNICs(), 2u);
  EXPECT_EQ(simple.kinds[0].collectives.allReduce.simpleHop, 5.7e-6);
}

TEST(FlatFile, TheTopologyIsInTheFolderOfTheFile) {
  for (StringRef path :
       {"/etc/passwd", "../dump.xml", "topos/../../dump.xml"}) {
    std::string text =
        with("\"n_node\"",
             ("\"topology\": \"" + path + "\", \"n_node\"").str().c_str());
    auto never = [](StringRef other) -> Expected<std::string> {
      ADD_FAILURE() << "reads " << other.str();
      return createStringError("unexpected");
    };
    EXPECT_EQ(toString(parseClusterJSON(text, "x.json", never).takeError()),
              ("x.json: the topology '" + path +
               "' is not in the folder of this file; put it there, or in a "
               "folder below, and give its relative path at topology")
                  .str());
  }
}

TEST(FlatFile, ErrorsNamePlaceAndRemedy) {
  const std::string remedy =
      "; put an NCCL topology dump there, name one by 'topology', or write "
      "\"topology\": \"none\" for GPUs on one switch";
  EXPECT_EQ(toString(parseClusterJSON(flat, "x.json").takeError()),
            "x.json: the topology 'topos/topo-n2.xml' can't be read from here" +
                remedy);
  EXPECT_EQ(toString(parseClusterJSON(flat, "x.json",
                                      [](StringRef) -> Expected<std::string> {
                                        return createStringError("no file");
                                      })
                         .takeError()),
            "x.json: can't read the topology 'topos/topo-n2.xml': no file" +
                remedy);
  EXPECT_EQ(
      toString(parse(with("\"n_gpu_per_node\": 2", "\"n_gpu_per_node\": 3"),
                     "topos/topo-n3.xml")
                   .takeError()),
      "n2_g2.json: the topology 'topos/topo-n3.xml' has 2 GPUs, but "
      "'n_gpu_per_node' is 3");
  EXPECT_EQ(toString(parse(with("\"gpu_to_gpu\": 48", "\"gpu_to_gpu\": 0"),
                           "topos/topo-n2.xml")
                         .takeError()),
            "n2_g2.json: expected a positive number at gpu_to_gpu, got 0");
  EXPECT_EQ(toString(parse(with("\"n_node\": 2", "\"n_node\": 0"),
                           "topos/topo-n2.xml")
                         .takeError()),
            "n2_g2.json: expected an integer from 1 to 1000000 at n_node, got "
            "0");
  EXPECT_EQ(toString(parse(with("gpu_memory_bw", "gpu_memory_bandwidth"),
                           "topos/topo-n2.xml")
                         .takeError()),
            "n2_g2.json: unknown key 'gpu_memory_bandwidth' (nearest valid "
            "key: 'gpu_memory_bw')");
}

} // namespace
