//===- NodeFileTest.cpp - descriptions of nodes ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Cluster.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace proteus::machine;

namespace {

Expected<Cluster> withNode(StringRef node, StringRef device = "H100-SXM5-80GB",
                           int64_t nodes = 1) {
  return parseClusterJSON(("{\"name\": \"x\", \"nodes\": " + Twine(nodes) +
                           ", \"device\": \"" + device +
                           "\", \"node\": " + node + "}")
                              .str(),
                          "x.json");
}

std::string errorOf(StringRef node, StringRef device = "H100-SXM5-80GB") {
  Expected<Cluster> cluster = withNode(node, device);
  return cluster ? "" : toString(cluster.takeError());
}

/// Returns the bytes/s of the link between two vertices with these names; 0 if
/// there is none.
double between(const NodeGraph &graph, StringRef from, StringRef to) {
  for (const NodeLink &link : graph.links)
    if (graph.vertices[link.from].name == from &&
        graph.vertices[link.to].name == to)
      return link.bandwidth;
  return 0;
}

/// Returns the name of the vertex to which PCIe connects `child`.
std::string parentOf(const NodeGraph &graph, StringRef child) {
  for (const NodeLink &link : graph.links)
    if (link.kind == LinkKind::PCIe && graph.vertices[link.from].name == child)
      return graph.vertices[link.to].name;
  return "";
}

TEST(NodeFile, NVLinkThroughASwitchOrInPairs) {
  Cluster switched = cantFail(withNode(
      R"({"devices": 3, "nvlink": {"switched_links": 18, "link_gbps": 20}})"));
  EXPECT_EQ(between(switched.kinds[0].graph, "gpu 2", "nvswitch"), 360e9);
  EXPECT_EQ(between(switched.kinds[0].graph, "nvswitch", "gpu 0"), 360e9);
  EXPECT_TRUE(switched.kinds[0].collectives.inSwitch);

  Cluster pairs = cantFail(withNode(R"({"devices": 3, "nvlink":
      {"pairs": [[0, 1, 2], [2, 1, 1]], "link_gbps": 22}})"));
  EXPECT_EQ(between(pairs.kinds[0].graph, "gpu 0", "gpu 1"), 44e9);
  EXPECT_EQ(between(pairs.kinds[0].graph, "gpu 1", "gpu 2"), 22e9);
  EXPECT_EQ(between(pairs.kinds[0].graph, "gpu 0", "gpu 2"), 0);
  // Only a switch reduces.
  EXPECT_FALSE(pairs.kinds[0].collectives.inSwitch);
}

TEST(NodeFile, CopiesTakeTheFollowingDevicesAndNICs) {
  Cluster cluster = cantFail(withNode(R"({"devices": 8,
      "nics": {"count": 4, "speed_gbit": 100},
      "pcie": {"generation": 4, "cpus": [
        {"vendor": "amd", "copies": 2, "switches": [
          {"copies": 2, "width": 8, "devices": [0, 1], "nics": [0]}]}]}})"));
  const NodeGraph &graph = cluster.kinds[0].graph;
  EXPECT_EQ(graph.ofKind(VertexKind::PCIeSwitch).size(), 4u);
  for (int i = 0; i < 8; i += 2) {
    std::string own = parentOf(graph, "gpu " + std::to_string(i));
    EXPECT_EQ(own, parentOf(graph, "gpu " + std::to_string(i + 1)));
    EXPECT_EQ(own, parentOf(graph, "nic " + std::to_string(i / 2)));
    // The uplink has the width of the CPU's lanes, links below it their own.
    EXPECT_EQ(between(graph, own, i < 4 ? "cpu 0" : "cpu 1"), 24e9);
    EXPECT_EQ(between(graph, "gpu " + std::to_string(i), own), 12e9);
  }
  EXPECT_NE(parentOf(graph, "gpu 0"), parentOf(graph, "gpu 2"));
  EXPECT_EQ(between(graph, "cpu 0", "cpu 1"), 16e9);
}

TEST(NodeFile, WaysBetweenSocketsFollowTheCPU) {
  auto socket = [](StringRef cpu, StringRef more = "") {
    Cluster cluster =
        cantFail(withNode((R"({"devices": 2, "pcie": {)" + more +
                           R"("cpus": [{"devices": [0], )" + cpu +
                           R"(}, {"devices": [1], )" + cpu + "}]}}")
                              .str()));
    return between(cluster.kinds[0].graph, "cpu 0", "cpu 1");
  };
  EXPECT_EQ(socket(R"("vendor": "intel", "model": 79)"), 6e9);
  EXPECT_EQ(socket(R"("vendor": "intel", "model": 85)"), 10e9);
  EXPECT_EQ(socket(R"("vendor": "intel", "model": 143)"), 22e9);
  EXPECT_EQ(socket(R"("vendor": "intel", "model": 207)"), 40e9);
  EXPECT_EQ(socket(R"("vendor": "amd")"), 16e9);
  EXPECT_EQ(socket(R"("vendor": "amd")", R"("socket_gbps": 50, )"), 50e9);
}

TEST(NodeFile, WithoutATreeNICsAreSharedByNeighbours) {
  const char *const nvlink = R"("nvlink": {"switched_links": 1,
                                           "link_gbps": 20})";
  auto graph = [&](StringRef nics) {
    return cantFail(withNode((R"({"devices": 4, )" + StringRef(nvlink) +
                              R"(, "nics": )" + nics + "}")
                                 .str()))
        .kinds[0]
        .graph;
  };
  NodeGraph two = graph(R"({"count": 2, "speed_gbit": 80})");
  EXPECT_EQ(parentOf(two, "gpu 0"), parentOf(two, "nic 0"));
  EXPECT_EQ(parentOf(two, "gpu 1"), parentOf(two, "nic 0"));
  EXPECT_EQ(parentOf(two, "gpu 3"), parentOf(two, "nic 1"));
  EXPECT_EQ(between(two, "gpu 3", parentOf(two, "nic 1")), 10e9);
  NodeGraph chosen = graph(R"([{"speed_gbit": 80, "near": [3, 1]},
      {"speed_gbit": 400, "near": [0], "card": "a", "port": 2}])");
  EXPECT_EQ(parentOf(chosen, "gpu 1"), parentOf(chosen, "nic 0"));
  EXPECT_EQ(parentOf(chosen, "gpu 0"), parentOf(chosen, "nic 1"));
  EXPECT_EQ(parentOf(chosen, "gpu 2"), "");
  const Vertex &card = chosen.vertices[chosen.ofKind(VertexKind::NIC)[1]];
  EXPECT_EQ(card.guid, "a");
  EXPECT_EQ(card.port, 2u);
  EXPECT_EQ(card.portBandwidth, 50e9);
  NodeGraph many = graph(R"({"count": 8, "speed_gbit": 80})");
  EXPECT_EQ(between(many, "gpu 3", parentOf(many, "nic 7")), 10e9);
  EXPECT_EQ(between(many, "gpu 3", parentOf(many, "nic 5")), 0);
}

TEST(NodeFile, ConstantsReplaceThoseOfTheGeneration) {
  Cluster cluster = cantFail(withNode(R"({"devices": 2,
      "nvlink": {"switched_links": 18, "link_gbps": 20.6},
      "gpudirect": false,
      "collectives": {"source": "none",
        "all_reduce": {"low_base_us": 1, "low_hop_us": 2, "low_efficiency": 0.3,
          "simple_base_us": 4, "simple_hop_us": 5, "simple_fill_root_us": 6},
        "all_gather": {"extra": 0.7}, "reduce_scatter": {"efficiency": 0.8},
        "all_to_all": {"base_us": 9, "hop_us": 10, "extra": 0.11,
                       "efficiency": 0.12, "fill_root_us": 13},
        "in_switch": {"base_us": 14, "efficiency": 0.15,
                      "group_exponent": 0.16, "fill_root_us": 17},
        "message": {"base_us": 18, "channel_gbps": 19, "low_channel_gbps": 5,
                    "efficiency": 0.95},
        "channels": 20, "network": {"hop_us": 21, "base_us": 22},
        "synchronisation_us": 23,
        "relative_error": {"below_1_mib": 0.24, "above": 0.25}}})"));
  const CollectiveConstants &c = cluster.kinds[0].collectives;
  auto near = [](double a, double b) { EXPECT_NEAR(a, b, 1e-12); };
  const RingConstants &sum = c.allReduce;
  near(sum.lowBase, 1e-6), near(sum.lowHop, 2e-6), near(sum.lowEfficiency, 0.3);
  near(sum.simpleBase, 4e-6), near(sum.simpleHop, 5e-6);
  near(sum.simpleFill, 6e-3);
  // Constants that are not stated keep their defaults.
  const CollectiveConstants &hopper =
      defaultConstants(Architecture::Hopper, /*nvlink=*/true);
  near(sum.extra, hopper.allReduce.extra), near(c.allGather.extra, .7);
  near(c.reduceScatter.extra, hopper.reduceScatter.extra);
  near(c.allGather.efficiency, hopper.allGather.efficiency);
  near(c.reduceScatter.efficiency, .8);
  near(c.allGather.lowHop, hopper.allGather.lowHop);
  near(c.exchangeBase, 9e-6), near(c.exchangeHop, 10e-6);
  near(c.exchangeExtra, .11), near(c.exchangeEfficiency, .12);
  near(c.exchangeFill, 13e-3);
  ASSERT_TRUE(c.inSwitch);
  near(c.inSwitch->base, 14e-6), near(c.inSwitch->efficiency, .15);
  near(c.inSwitch->groupExponent, .16), near(c.inSwitch->fill, 17e-3);
  near(c.messageBase, 18e-6), near(c.messageChannel, 19e9);
  near(c.messageLowChannel, 5e9);
  near(c.messageEfficiency, .95), near(c.synchronisation, 23e-6);
  near(c.relativeErrorOf((1 << 20) - 1), .24);
  near(c.relativeErrorOf(1 << 20), hopper.relativeError[1]);
  near(c.relativeErrorOf((16 << 20) - 1), hopper.relativeError[1]);
  near(c.relativeErrorOf(16 << 20), .25);
  EXPECT_EQ(c.channels, 20u);
  near(c.networkHop, 21e-6), near(c.networkBase, 22e-6);
  EXPECT_FALSE(cluster.kinds[0].graph.vertices[0].directNIC);
  // The planning of collectives uses the hops too.
  near(cluster.intraNode.latency, 5e-6), near(cluster.interNode.latency, 21e-6);
  near(cluster.intraNode.bandwidth / 1e9, 370.8);
}

TEST(NodeFile, ConstantsOfAnotherSet) {
  auto constants = [](StringRef nvlink) {
    return cantFail(withNode((R"({"devices": 2, "nvlink": {"link_gbps": 20, )" +
                              nvlink + R"(},
        "collectives": {"message": {"base_us": 3}, "like": "blackwell-nvl72"}})")
                                 .str()))
        .kinds[0]
        .collectives;
  };
  CollectiveConstants other =
      cantFail(parseClusterPreset("gb200-nvl72")).kinds[0].collectives;
  CollectiveConstants like = constants(R"("switched_links": 18)");
  EXPECT_EQ(like.allGather.extra, other.allGather.extra);
  EXPECT_EQ(like.inSwitch->base, other.inSwitch->base);
  EXPECT_NEAR(like.messageBase, 3e-6, 1e-12);
  // Without a switch, there is no reduction in the switch.
  EXPECT_FALSE(constants(R"("pairs": [[0, 1, 4]])").inSwitch);
}

TEST(NodeFile, ConstantsAreReadBack) {
  for (const std::string &name : {"dgx-h100", "dgx-a100", "gb200-nvl72"}) {
    CollectiveConstants c =
        cantFail(parseClusterPreset(name)).kinds[0].collectives;
    c.synchronisation = 2e-6;
    std::string text, again;
    raw_string_ostream first(text), second(again);
    printConstants(c, "here", first);
    CollectiveConstants back;
    ASSERT_FALSE(errorToBool(parseConstants(text, "x.json", back)));
    printConstants(back, "here", second);
    EXPECT_EQ(text, again);
    EXPECT_EQ(back.allReduce.simpleHop, c.allReduce.simpleHop);
    EXPECT_EQ(back.synchronisation, 2e-6);
    EXPECT_EQ(back.inSwitch.has_value(), c.inSwitch.has_value());
  }
}

TEST(NodeFile, ACutCableIsNoticed) {
  EXPECT_EQ(errorOf(R"({"devices": 2})"),
            "x.json: gpu 1 has no route to gpu 0; connect it by 'nvlink' or "
            "'pcie' at node");
  EXPECT_EQ(errorOf(R"({"devices": 4, "nvlink": {"link_gbps": 20,
                        "pairs": [[0, 1, 1], [2, 3, 1]]}})"),
            "x.json: gpu 2 has no route to gpu 0; connect it by 'nvlink' or "
            "'pcie' at node");
  EXPECT_EQ(errorOf(R"({"devices": 2, "pcie": {"cpus": [{"devices": [0]}]}})"),
            "x.json: gpu 1 has no route to gpu 0; connect it by 'nvlink' or "
            "'pcie' at node");
  EXPECT_EQ(errorOf(R"({"devices": 2, "pcie": {"sockets_linked": false,
                        "cpus": [{"devices": [0]}, {"devices": [1]}]}})"),
            "x.json: gpu 1 has no route to gpu 0; connect it by 'nvlink' or "
            "'pcie' at node");
  EXPECT_EQ(errorOf(R"({"devices": 2, "pcie": {"cpus": [{"devices": [0, 1]}]},
                        "nics": {"count": 1, "speed_gbit": 100}})"),
            "x.json: nic 0 has no route to gpu 0; place it in 'pcie' or give "
            "devices that are 'near' at node");
}

TEST(NodeFile, ErrorsOfDevicesAndLinks) {
  EXPECT_EQ(errorOf(R"({"devices": 0})"),
            "x.json: expected an integer from 1 to 65536 at node.devices, got "
            "0");
  EXPECT_EQ(errorOf(R"({"devices": []})"),
            "x.json: a node needs at least one device at node.devices");
  EXPECT_EQ(errorOf(R"({"devices": 2, "nvlink": {"link_gbps": 0,
                        "switched_links": 1}})"),
            "x.json: expected a positive number at node.nvlink.link_gbps, got "
            "0");
  EXPECT_EQ(errorOf(R"({"devices": 2, "nvlink": {"link_gbps": 1e10,
                        "switched_links": 1}})"),
            "x.json: expected at most 1000000000.0 at node.nvlink.link_gbps, "
            "got 10000000000.0");
  EXPECT_EQ(errorOf(R"({"devices": 2, "nvlink": {"link_gbps": 20}})"),
            "x.json: expected either 'switched_links' (links of each device to "
            "the NVSwitch) or 'pairs' at node.nvlink");
  auto pairs = [](StringRef list) {
    return errorOf((R"({"devices": 2, "nvlink": {"link_gbps": 20, "pairs": )" +
                    list + "}}")
                       .str());
  };
  EXPECT_EQ(pairs("[[0, 1, 1]]"), "");
  EXPECT_EQ(pairs("[[0, 1]]"),
            "x.json: expected [device, device, number of links] at "
            "node.nvlink.pairs[0]");
  EXPECT_EQ(pairs("[[0, 2, 1]]"), "x.json: expected an integer from 0 to 1 at "
                                  "node.nvlink.pairs[0][1], got 2");
  EXPECT_EQ(pairs("[[0, 1, 0]]"), "x.json: expected an integer from 1 to 1000 "
                                  "at node.nvlink.pairs[0][2], got 0");
  EXPECT_EQ(pairs("[[1, 1, 1]]"), "x.json: a device has no link to itself at "
                                  "node.nvlink.pairs[0]");
  EXPECT_EQ(pairs("[[0, 1, 1], [1, 0, 1]]"),
            "x.json: the pair 1, 0 is listed twice; give all its links at once "
            "at node.nvlink.pairs[1]");
}

TEST(NodeFile, ErrorsOfTheTree) {
  auto tree = [](StringRef cpus) {
    return errorOf((R"({"devices": 2, "nics": {"count": 1, "speed_gbit": 100},
                        "pcie": {"cpus": )" +
                    cpus + "}}")
                       .str());
  };
  EXPECT_EQ(tree(R"([{"devices": [0, 1], "nics": [0]}])"), "");
  EXPECT_EQ(tree(R"([{"devices": [0, 1, 0], "nics": [0]}])"),
            "x.json: device 0 is placed twice in the PCIe tree at "
            "node.pcie.cpus[0]");
  EXPECT_EQ(tree(R"([{"devices": [0, 1], "nics": [0], "switches":
                      [{"devices": [2]}]}])"),
            "x.json: there is no device 2; the node has 2 at "
            "node.pcie.cpus[0].switches[0]");
  EXPECT_EQ(tree(R"([{"devices": [0], "nics": [0], "copies": 2}])"),
            "x.json: there is no nic 1; the node has 1 at node.pcie.cpus[0]");
  EXPECT_EQ(tree(R"([{"vendor": "acme"}])"),
            "x.json: unknown vendor 'acme' (one of intel, amd, arm, power, "
            "other) at node.pcie.cpus[0].vendor");
  EXPECT_EQ(tree(R"([{"generation": 8}])"),
            "x.json: expected an integer from 1 to 7 at "
            "node.pcie.cpus[0].generation, got 8");
  EXPECT_EQ(tree(R"([{"copies": 300}])"),
            "x.json: more than 256 CPUs in a node at node.pcie.cpus[0]");
  EXPECT_EQ(tree(R"([{"switches": [{"copies": 60000, "switches":
                      [{"copies": 60000, "switches": [{"copies": 60000}]}]}]}])"),
            "x.json: the PCIe tree has too many switches at "
            "node.pcie.cpus[0].switches[0].switches[0].switches[0]");
}

TEST(NodeFile, ErrorsOfNICs) {
  auto nics = [](StringRef list, StringRef more = "") {
    return errorOf((R"({"devices": 2, "nvlink": {"switched_links": 1,
                        "link_gbps": 20}, "nics": )" +
                    list + more + "}")
                       .str());
  };
  EXPECT_EQ(nics(R"([{"speed_gbit": 100, "near": [0]}])"), "");
  EXPECT_EQ(nics(R"([{"near": [0]}])"),
            "x.json: missing key 'speed_gbit' at node.nics[0]");
  EXPECT_EQ(nics(R"({"count": 2})"),
            "x.json: missing key 'speed_gbit' at node.nics");
  EXPECT_EQ(nics(R"({"count": 2, "speed_gbit": -1})"),
            "x.json: expected a positive number at node.nics.speed_gbit, got "
            "-1");
  EXPECT_EQ(nics(R"([{"speed_gbit": 100, "near": [2]}])"),
            "x.json: expected an integer from 0 to 1 at "
            "node.nics[0].near[0], got 2");
  EXPECT_EQ(nics(R"([{"speed_gbit": 100, "near": [0]}])",
                 R"(, "pcie": {"cpus": [{"devices": [0, 1], "nics": [0]}]})"),
            "x.json: 'pcie' already determines the devices near a NIC; remove "
            "'near' or 'pcie' at node.nics[0].near");
  EXPECT_EQ(nics(R"([{"speed_gbit": 100, "near": [0]}, {"speed_gbit": 100}])"),
            "x.json: nic 1 has no route to gpu 0; place it in 'pcie' or give "
            "devices that are 'near' at node");
}

TEST(NodeFile, ErrorsOfConstants) {
  auto constants = [](StringRef list) {
    return errorOf((R"({"devices": 1, "collectives": {)" + list + "}}").str());
  };
  EXPECT_EQ(constants(R"("all_reduce": {"low_efficiency": 0})"),
            "x.json: expected a positive number at "
            "node.collectives.all_reduce.low_efficiency, got 0");
  EXPECT_EQ(constants(R"("all_gather": {"low_efficiency": 1e-9})"),
            "x.json: expected a share of at least 0.001 at "
            "node.collectives.all_gather.low_efficiency");
  EXPECT_EQ(constants(R"("all_gathr": {})"),
            "x.json: unknown key 'all_gathr' (nearest valid key: "
            "'all_gather') at node.collectives");
  EXPECT_EQ(constants(R"("relative_error": {"above": -1})"),
            "x.json: expected a number that is not negative at "
            "node.collectives.relative_error.above, got -1");
  EXPECT_EQ(constants(R"("like": "hopper")"),
            "x.json: there are no constants 'hopper' (known: ampere-nvlink, "
            "blackwell-nvl72, blackwell-nvlink, cdna, hopper-nvlink, "
            "other-nvlink, pcie, volta-nvlink) at node.collectives.like");
  EXPECT_EQ(constants(R"("in_switch": true)"),
            "x.json: expected false, or an object of constants at "
            "node.collectives.in_switch");
  EXPECT_EQ(constants(R"("in_switch": {})"),
            "x.json: 'in_switch' needs an NVSwitch: give 'switched_links' in "
            "'nvlink' at node.collectives");
  EXPECT_EQ(constants(R"("in_switch": false)"), "");
}

} // namespace
