//===- ClusterFileTest.cpp - clusters as data -----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Cluster.h"

#include "gtest/gtest.h"

#include <algorithm>

using namespace llvm;
using namespace proteus::machine;

namespace {

const char *const valid = R"({
  "name": "lab", "source": "none",
  "device": {"name": "toy", "peak_tflops": {"f32": 10, "bf16": 80},
             "memory_gb": 16, "memory_bandwidth_gbps": 500,
             "launch_latency_us": 2, "kernel_overhead_us": 0},
  "nodes": 3, "devices_per_node": 4,
  "intra_node": {"bandwidth_gbps": 50, "latency_us": 1},
  "inter_node": {"bandwidth_gbps": 5, "latency_us": 10}})";

/// Returns the error if a part of the valid file is replaced.
std::string errorWith(StringRef from, StringRef to) {
  std::string text = valid;
  size_t place = text.find(from.str());
  EXPECT_NE(place, std::string::npos) << from.str();
  text.replace(place, from.size(), to.str());
  Expected<Cluster> cluster = parseClusterJSON(text, "clusters/x.json");
  return cluster ? "" : toString(cluster.takeError());
}

TEST(ClusterFile, ReadsEveryFigureInItsUnit) {
  Expected<Cluster> cluster = parseClusterJSON(valid, "x.json");
  ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
  EXPECT_EQ(cluster->name, "lab");
  EXPECT_EQ(cluster->devices[0].name, "toy");
  EXPECT_EQ(cluster->devices[0].peak(DType::BF16), 80e12);
  EXPECT_EQ(cluster->devices[0].memoryBytes, 16000000000);
  EXPECT_EQ(cluster->devices[0].memoryBandwidth, 500e9);
  EXPECT_EQ(cluster->devices[0].launchLatency, 2e-6);
  EXPECT_EQ(cluster->devices[0].kernelOverhead, 0);
  EXPECT_EQ(cluster->numDevices(), 12);
  EXPECT_EQ(cluster->nodeOf(7), 1);
  EXPECT_EQ(cluster->intraNode.bandwidth, 50e9);
  EXPECT_EQ(cluster->interNode.latency, 1e-5);
  EXPECT_FALSE(cluster->kinds[0].host);
  EXPECT_TRUE(cluster->isHomogeneous());
  EXPECT_EQ(cluster->devicesPerNode(), 4);
}

TEST(ClusterFile, TheShortFormIsDevicesOnOneSwitchWithANICEach) {
  Cluster cluster = cantFail(parseClusterJSON(valid, "x.json"));
  const NodeGraph &graph = cluster.kinds[0].graph;
  EXPECT_EQ(graph.numDevices(), 4u);
  EXPECT_EQ(graph.numNICs(), 4u);
  EXPECT_EQ(graph.ofKind(VertexKind::NVSwitch).size(), 1u);
  for (const NodeLink &link : graph.links)
    EXPECT_EQ(link.bandwidth, link.kind == LinkKind::NVLink ? 50e9 : 5e9);
  EXPECT_EQ(graph.vertices[graph.ofKind(VertexKind::NIC)[2]].portBandwidth,
            5e9 / networkEfficiency);
  // The constants of rings follow from the two links.
  const CollectiveConstants &constants = cluster.kinds[0].collectives;
  EXPECT_EQ(constants.allReduce.simpleBase, 0);
  EXPECT_EQ(constants.reduceScatter.simpleHop, 1e-6);
  EXPECT_EQ(constants.networkHop, 1e-5);
  EXPECT_EQ(constants.allReduce.efficiency, 1);
  EXPECT_EQ(constants.allGather.extra, 0);
  EXPECT_FALSE(constants.inSwitch);
}

TEST(ClusterFile, LinkToTheHostIsOptional) {
  EXPECT_EQ(errorWith("\"latency_us\": 10}",
                      "\"latency_us\": 10}, \"host\": "
                      "{\"bandwidth_gbps\": 20, \"latency_us\": 3}"),
            "");
  EXPECT_EQ(errorWith("\"latency_us\": 10}",
                      "\"latency_us\": 10}, \"host\": {\"latency_us\": 3}"),
            "clusters/x.json: missing key 'bandwidth_gbps' at host");
}

TEST(ClusterFile, ErrorsNameSourceAndPlace) {
  EXPECT_EQ(errorWith("\"memory_gb\": 16", "\"memory_gb\": -3"),
            "clusters/x.json: expected a positive number at device.memory_gb, "
            "got -3");
  EXPECT_EQ(errorWith("\"bandwidth_gbps\": 5,", "\"bandwidth_gbps\": 0,"),
            "clusters/x.json: expected a positive number at "
            "inter_node.bandwidth_gbps, got 0");
  EXPECT_EQ(errorWith("\"latency_us\": 10", "\"latency_us\": -1"),
            "clusters/x.json: expected a number that is not negative at "
            "inter_node.latency_us, got -1");
  EXPECT_EQ(errorWith("\"f32\": 10, ", ""),
            "clusters/x.json: missing key 'f32' at device.peak_tflops");
  EXPECT_EQ(errorWith("\"bf16\"", "\"bf166\""),
            "clusters/x.json: unknown key 'bf166' (nearest valid key: 'bf16') "
            "at device.peak_tflops");
  EXPECT_EQ(
      errorWith("\"memory_gb\": 16", "\"memory_gib\": 1, \"memory_gb\": 1"),
      "clusters/x.json: both 'memory_gb' and 'memory_gib' are given at "
      "device");
  EXPECT_EQ(errorWith("\"memory_gb\": 16, ", ""),
            "clusters/x.json: missing key 'memory_gib' at device");
  EXPECT_EQ(errorWith("\"nodes\": 3", "\"nodes\": 0"),
            "clusters/x.json: expected an integer from 1 to 1000000 at nodes, "
            "got 0");
  EXPECT_EQ(errorWith("\"nodes\": 3", "\"nodes\": 2000000"),
            "clusters/x.json: expected an integer from 1 to 1000000 at nodes, "
            "got 2000000");
  EXPECT_EQ(errorWith("\"bf16\": 80", "\"bf16\": 1e12"),
            "clusters/x.json: expected at most 1000000000.0 at "
            "device.peak_tflops.bf16, got 1000000000000.0");
  EXPECT_EQ(errorWith("\"bandwidth_gbps\": 5,", "\"bandwidth_gbps\": 1e-9,"),
            "clusters/x.json: expected at least 1e-06 GB/s, got 1e-09 at "
            "inter_node.bandwidth_gbps");
  EXPECT_EQ(errorWith("\"devices_per_node\": 4", "\"devices_per_node\": 0"),
            "clusters/x.json: expected an integer from 1 to 65536 at "
            "devices_per_node, got 0");
  EXPECT_EQ(errorWith("\"name\": \"lab\"", "\"name\": 7"),
            "clusters/x.json: expected a string at name, got 7");
}

//===----------------------------------------------------------------------===//
// Kinds of nodes
//===----------------------------------------------------------------------===//

const char *const mixed = R"({
  "name": "lab",
  "devices": ["A100-SXM4-80GB", "H100-SXM5-80GB"],
  "node_kinds": {
    "old": {"devices": [{"type": "A100-SXM4-80GB", "count": 2}],
            "nvlink": {"switched_links": 12, "link_gbps": 20},
            "nics": {"count": 2, "speed_gbit": 200}},
    "new": {"devices": [{"type": "H100-SXM5-80GB", "count": 4}],
            "nvlink": {"switched_links": 18, "link_gbps": 20.6},
            "nics": {"count": 4, "speed_gbit": 400},
            "host": {"bandwidth_gbps": 50, "latency_us": 4}}},
  "nodes": [{"kind": "old", "count": 2}, {"kind": "new", "count": 3},
            {"kind": "old", "count": 1}],
  "fabric": {"rails": true, "latency_us": 1, "levels": [
    {"name": "leaf", "span": 2, "oversubscription": 2, "latency_us": 0.5},
    {"name": "spine", "span": 2}, {"name": "core"}]}})";

std::string mixedErrorWith(StringRef from, StringRef to) {
  std::string text = mixed;
  size_t place = text.find(from.str());
  EXPECT_NE(place, std::string::npos) << from.str();
  text.replace(place, from.size(), to.str());
  Expected<Cluster> cluster = parseClusterJSON(text, "x.json");
  return cluster ? "" : toString(cluster.takeError());
}

TEST(MixedCluster, DevicesAreNumberedNodeByNode) {
  Expected<Cluster> parsed = parseClusterJSON(mixed, "x.json");
  ASSERT_TRUE(bool(parsed)) << toString(parsed.takeError());
  const Cluster &cluster = *parsed;
  EXPECT_EQ(cluster.numNodes(), 6);
  EXPECT_EQ(cluster.numDevices(), 2 * 2 + 3 * 4 + 2);
  EXPECT_EQ(cluster.devicesPerNode(), 4);
  EXPECT_FALSE(cluster.isHomogeneous());
  EXPECT_FALSE(cluster.hasOneKind());
  const int64_t nodes[] = {0, 0, 1, 1, 2, 2, 2, 2, 3,
                           3, 3, 3, 4, 4, 4, 4, 5, 5};
  for (int64_t device = 0; device < 18; ++device) {
    EXPECT_EQ(cluster.nodeOf(device), nodes[device]) << device;
    bool isNew = device >= 4 && device < 16;
    EXPECT_EQ(cluster.deviceAt(device).name,
              isNew ? "H100-SXM5-80GB" : "A100-SXM4-80GB")
        << device;
    EXPECT_EQ(cluster.localIndex(device),
              isNew ? (device - 4) % 4 : device % 2);
    EXPECT_EQ(cluster.kindOf(device).host.has_value(), isNew);
  }
  EXPECT_EQ(cluster.kinds[cluster.kindOfNode(5)].graph.name, "old");
}

TEST(MixedCluster, PlanningTakesTheSlowestKind) {
  Cluster cluster = cantFail(parseClusterJSON(mixed, "x.json"));
  EXPECT_EQ(cluster.intraNode.bandwidth, 240e9);
  EXPECT_EQ(cluster.interNode.bandwidth, 25e9);
  // The hop of the A100 is the longer one.
  EXPECT_EQ(cluster.intraNode.latency,
            std::max(defaultConstants(Architecture::Ampere, /*nvlink=*/true)
                         .allReduce.simpleHop,
                     defaultConstants(Architecture::Hopper, /*nvlink=*/true)
                         .allReduce.simpleHop));
  EXPECT_EQ(cluster.interNode.latency, 14e-6);
}

TEST(Fabric, UnitsSpanUnitsBelow) {
  Cluster cluster = cantFail(parseClusterJSON(mixed, "x.json"));
  EXPECT_TRUE(cluster.fabric.rails);
  ASSERT_EQ(cluster.fabric.levels.size(), 3u);
  EXPECT_EQ(cluster.fabric.levels[0].oversubscription, 2);
  EXPECT_EQ(cluster.fabric.levels[0].latency, 0.5e-6);
  EXPECT_EQ(cluster.unitOf(0, 5), 2);
  EXPECT_EQ(cluster.unitOf(1, 3), 0);
  EXPECT_EQ(cluster.unitOf(1, 4), 1);
  EXPECT_EQ(cluster.unitOf(2, 5), 0);
}

TEST(Fabric, ASiteReachesAShareOfItsNICs) {
  Cluster plain = cantFail(parseClusterJSON(mixed, "x.json"));
  EXPECT_EQ(plain.fabric.efficiency, 0.92);
  std::string text = mixed;
  text.replace(text.find("\"rails\""), 0, "\"efficiency\": 0.5, ");
  EXPECT_EQ(cantFail(parseClusterJSON(text, "x.json")).fabric.efficiency, 0.5);
  EXPECT_EQ(mixedErrorWith("\"rails\"", "\"efficiency\": 1.5, \"rails\""),
            "x.json: expected at most 1.0 at fabric.efficiency, got 1.5");
  EXPECT_EQ(mixedErrorWith("\"rails\"", "\"efficiency\": 1e-4, \"rails\""),
            "x.json: expected a share of at least 0.001 at fabric.efficiency");
}

TEST(Fabric, ErrorsNamePlaceAndRemedy) {
  EXPECT_EQ(mixedErrorWith("\"span\": 2, ", "\"span\": 0, "),
            "x.json: expected an integer from 1 to 1000000 at "
            "fabric.levels[0].span, got 0");
  EXPECT_EQ(mixedErrorWith("\"span\": 2, ", ""),
            "x.json: missing key 'span' at fabric.levels[0]");
  EXPECT_EQ(
      mixedErrorWith("\"oversubscription\": 2", "\"oversubscription\": 0.5"),
      "x.json: expected at least 1 (capacity below over capacity above), "
      "got 0.5 at fabric.levels[0].oversubscription");
  EXPECT_EQ(mixedErrorWith("\"spine\"", "\"leaf\""),
            "x.json: two levels have the name 'leaf' at "
            "fabric.levels[1].name");
  EXPECT_EQ(mixedErrorWith(", {\"name\": \"core\"}", ""),
            "x.json: nodes can't reach each other: one unit of the highest "
            "level of the fabric ('spine') spans 4 nodes, but there are 6; "
            "leave out its 'span' or add a level");
  EXPECT_EQ(
      mixedErrorWith("\"span\": 2}, {\"name\": \"core\"}", "\"span\": 3}"), "");
  EXPECT_EQ(mixedErrorWith(",\n    {\"name\": \"spine\", \"span\": 2}, "
                           "{\"name\": \"core\"}",
                           ""),
            "x.json: rails need a level above the leaf switches, where traffic "
            "between rails passes at fabric.rails");
}

TEST(MixedCluster, ErrorsNamePlaceAndRemedy) {
  EXPECT_EQ(
      mixedErrorWith("[\"A100-SXM4-80GB\", ", "[\"A101\", ").substr(0, 45),
      "x.json: unknown device 'A101' (known devices:");
  EXPECT_EQ(mixedErrorWith("[\"A100-SXM4-80GB\", \"H100",
                           "[\"H100-SXM5-80GB\", \"H100"),
            "x.json: the device 'H100-SXM5-80GB' is listed twice; list each "
            "type once at devices[1]");
  EXPECT_EQ(
      mixedErrorWith("\"type\": \"A100", "\"type\": \"B100"),
      "x.json: no device 'B100-SXM4-80GB' in 'devices' of the cluster (known: "
      "'A100-SXM4-80GB', 'H100-SXM5-80GB') at node_kinds.old.devices[0].type");
  EXPECT_EQ(mixedErrorWith("{\"kind\": \"new\"", "{\"kind\": \"newer\""),
            "x.json: unknown kind of node 'newer' (known: 'new', 'old') at "
            "nodes[1].kind");
  EXPECT_EQ(mixedErrorWith("\"count\": 3", "\"count\": 0"),
            "x.json: expected an integer from 1 to 1000000 at nodes[1].count, "
            "got 0");
  EXPECT_EQ(mixedErrorWith("\"count\": 3", "\"count\": 1000000"),
            "x.json: expected at most 1000000 nodes, got 1000002 at nodes");
  EXPECT_EQ(mixedErrorWith("[{\"kind\": \"old\", \"count\": 2}, {\"kind\": "
                           "\"new\", \"count\": 3},\n            {\"kind\": "
                           "\"old\", \"count\": 1}]",
                           "4"),
            "x.json: there are several kinds of nodes; write [{\"kind\": NAME, "
            "\"count\": N}, ...] at nodes");
  EXPECT_EQ(mixedErrorWith("\"node_kinds\"", "\"node_kindz\""),
            "x.json: unknown key 'node_kindz' (nearest valid key: "
            "'node_kinds')");
  EXPECT_EQ(mixedErrorWith(",\n            \"nics\": {\"count\": 2, "
                           "\"speed_gbit\": 200}",
                           ""),
            "x.json: nodes can't reach each other: there are 6, but node 'old' "
            "has no NIC; add 'nics' or use one node");
  EXPECT_EQ(mixedErrorWith("\"devices\": [\"A100-SXM4-80GB\", "
                           "\"H100-SXM5-80GB\"],",
                           ""),
            "x.json: expected either 'device' (one type) or 'devices' (a list "
            "of types)");
}

TEST(ClusterFile, SomethingMustSayWhatANodeIs) {
  Expected<Cluster> cluster = parseClusterJSON(
      R"({"name": "x", "device": "L4", "nodes": 2})", "x.json");
  EXPECT_EQ(toString(cluster.takeError()),
            "x.json: expected either 'node' (one kind of node), 'node_kinds' "
            "(several), or 'devices_per_node' (devices on one switch)");
}

} // namespace
