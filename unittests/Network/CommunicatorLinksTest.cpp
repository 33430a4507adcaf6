//===- CommunicatorLinksTest.cpp - loads of collectives on links ----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestClusters.h"

#include "llvm/Support/Error.h"

#include "gtest/gtest.h"

#include <map>

using namespace proteus;
using namespace proteus::net;
using namespace proteus::net::test;
using cost::CollectiveKind;

static constexpr int64_t MB = 1 << 20;

static std::map<LinkId, int64_t> mapOf(const Plan &plan) {
  std::map<LinkId, int64_t> loads;
  for (const LinkLoad &load : plan.listLoads())
    loads[load.link] = load.load;
  return loads;
}

TEST(CommunicatorLinks, NamesAndCapacities) {
  Cluster cluster = h100(8);
  addLeafAndSpine(cluster, 4, 2, /*rails=*/true, /*oversubscription=*/2);
  uint32_t up = wire(cluster, "gpu 2", "nvswitch");
  EXPECT_EQ(nameOf(cluster, {0, up, 3}), "node 3: gpu 2 -> nvswitch");
  EXPECT_EQ(nameOf(cluster, {0, up ^ 1, 3}), "node 3: nvswitch -> gpu 2");
  EXPECT_EQ(capacityOf(cluster, {0, up, 3}), int64_t(370.8 * GB));
  EXPECT_EQ(nameOf(cluster, {0, nicOut(cluster, 5) + 1, 0}),
            "node 0: nic 5 in");
  EXPECT_EQ(capacityOf(cluster, {0, nicOut(cluster, 5), 0}), int64_t(46 * GB));
  EXPECT_EQ(nameOf(cluster, {1, 4, 1}), "leaf 1 rail 2 up");
  EXPECT_EQ(capacityOf(cluster, {1, 4, 1}), int64_t(4 * 46 * GB / 2));
  // Every level divides the bandwidth by its oversubscription.
  cluster.fabric.levels[1].oversubscription = 3;
  cluster.fabric.levels.push_back({"core", 1, 1, 0});
  EXPECT_EQ(nameOf(cluster, {2, 0, 0}), "spine 0 up");
  EXPECT_NEAR(double(capacityOf(cluster, {2, 0, 0})), 8 * 8 * 46 * GB / 6, 1);
  cluster.fabric.rails = false;
  EXPECT_EQ(nameOf(cluster, {1, 1, 1}), "leaf 1 down");
  EXPECT_EQ(capacityOf(cluster, {1, 1, 1}), int64_t(8 * 4 * 46 * GB / 2));
  // The switches of an incomplete unit have the bandwidth of a complete one.
  cluster.nodes[0].count = 6;
  EXPECT_EQ(capacityOf(cluster, {1, 1, 1}), int64_t(8 * 4 * 46 * GB / 2));
}

TEST(CommunicatorLinks, ARingInOneNodeLoadsPortsOnly) {
  Cluster cluster = h100();
  Plan plan = make(cluster, {1, 4, 6})->plan(CollectiveKind::AllGather, MB);
  EXPECT_EQ(plan.listLoads().size(), 6u);
  for (int gpu : {1, 4, 6}) {
    uint32_t out = wire(cluster, "gpu " + std::to_string(gpu), "nvswitch");
    EXPECT_EQ(loadOn(plan, {0, out, 0}), 1);
    EXPECT_EQ(loadOn(plan, {0, out ^ 1, 0}), 1);
  }
  EXPECT_EQ(plan.volume, (MB * 2 + 2) / 3);
}

TEST(CommunicatorLinks, WaysUpThatNeverFillAreLeftOut) {
  Cluster cluster = h100(8);
  addLeafAndSpine(cluster, 4, 2, /*rails=*/true);
  std::vector<int64_t> devices(64);
  std::iota(devices.begin(), devices.end(), 0);
  for (CollectiveKind kind :
       {CollectiveKind::AllReduce, CollectiveKind::AllToAll})
    for (const LinkLoad &load :
         make(cluster, devices)->plan(kind, MB).listLoads())
      EXPECT_EQ(load.link.level, 0u) << nameOf(cluster, load.link);
}

TEST(CommunicatorLinks, ARingAcrossNodesUsesAllNICsAndKeepsRails) {
  Cluster cluster = h100(8);
  addLeafAndSpine(cluster, 4, 2, /*rails=*/true, /*oversubscription=*/2);
  Plan plan = make(cluster, range(0, 64))->plan(CollectiveKind::AllGather, MB);
  for (int64_t node = 0; node < 8; ++node)
    for (uint32_t nic = 0; nic < 8; ++nic) {
      EXPECT_EQ(loadOn(plan, {0, nicOut(cluster, nic), node}), 1 / 8.);
      EXPECT_EQ(loadOn(plan, {0, nicOut(cluster, nic) + 1, node}), 1 / 8.);
      uint32_t toSwitch = wire(cluster, "gpu " + std::to_string(nic),
                               "pcie switch " + std::to_string(nic));
      EXPECT_EQ(loadOn(plan, {0, toSwitch, node}), 1 / 8.);
    }
  // Each rail has one flow out of each unit and one into it.
  for (int64_t unit : {0, 1})
    for (uint32_t rail = 0; rail < 8; ++rail) {
      EXPECT_EQ(loadOn(plan, {1, 2 * rail, unit}), 1 / 8.);
      EXPECT_EQ(loadOn(plan, {1, 2 * rail + 1, unit}), 1 / 8.);
    }
  // A group under one leaf switch uses no links above it.
  Plan below = make(cluster, range(0, 32))->plan(CollectiveKind::AllGather, MB);
  for (const LinkLoad &load : below.listLoads())
    EXPECT_EQ(load.link.level, 0u);
}

TEST(CommunicatorLinks, RailsMeetAboveTheLeafSwitches) {
  Cluster cluster = h100(4);
  addLeafAndSpine(cluster, 4, 1, /*rails=*/true, /*oversubscription=*/2);
  Plan plan = make(cluster, {0, 11})->plan(CollectiveKind::SendRecv, MB);
  EXPECT_EQ(loadOn(plan, {1, 0, 0}), 1);         // rail 0 up
  EXPECT_EQ(loadOn(plan, {1, 2 * 3 + 1, 0}), 1); // rail 3 down
  Plan same = make(cluster, {3, 11})->plan(CollectiveKind::SendRecv, MB);
  for (const LinkLoad &load : same.listLoads())
    EXPECT_EQ(load.link.level, 0u);
}

TEST(CommunicatorLinks, OversubscriptionSlowsARing) {
  auto transfer = [](double oversubscription) {
    Cluster cluster = h100(4);
    addLeafAndSpine(cluster, 1, 4, /*rails=*/false, oversubscription);
    Plan plan =
        make(cluster, range(0, 32))->plan(CollectiveKind::AllGather, 1024 * MB);
    return cost::toSeconds(plan.alone() - plan.latency);
  };
  EXPECT_NEAR(transfer(2) / transfer(1), 370.8 * .98 / (8 * 46 / 2), 1e-6);
  EXPECT_NEAR(transfer(4) / transfer(2), 2, 1e-6);
}

/// Expects that the loads of an exchange are the sum of scatters from every
/// member.
static void expectSumOfScatters(const Cluster &cluster,
                                std::vector<int64_t> devices) {
  Plan exchange = make(cluster, devices)->plan(CollectiveKind::AllToAll, MB);
  std::map<LinkId, double> sum;
  for (size_t root = 0; root < devices.size(); ++root) {
    std::vector<int64_t> order = devices;
    std::swap(order[0], order[root]);
    Communicator *group = make(cluster, order);
    for (const LinkLoad &load :
         group->plan(CollectiveKind::Scatter, MB).listLoads())
      sum[load.link] += load.load;
  }
  EXPECT_EQ(sum.size(), exchange.listLoads().size());
  for (const LinkLoad &load : exchange.listLoads())
    // Each scatter rounds up once.
    EXPECT_NEAR(sum[load.link], load.load, devices.size() + 1)
        << nameOf(cluster, load.link);
}

TEST(CommunicatorLinks, ExchangesAreSumsOverPairs) {
  for (bool rails : {false, true}) {
    Cluster cluster = h100(8);
    addLeafAndSpine(cluster, 2, 2, rails, /*oversubscription=*/2);
    cluster.fabric.levels.push_back({"core", 2, 1, 0});
    expectSumOfScatters(cluster, range(0, 64));
    // Nodes with different members, some on rails that other nodes do not use.
    expectSumOfScatters(cluster, {0, 1, 9, 10, 11, 20, 40, 41, 42, 43, 63});
    Cluster mesh =
        makeCluster(pcieNode(8, 4, 2, 12 * GB, 12.5 * GB), h100Constants(), 4);
    addLeafAndSpine(mesh, 2, 2, rails, /*oversubscription=*/2);
    expectSumOfScatters(mesh, range(0, 32));
    expectSumOfScatters(mesh, {0, 1, 2, 9, 17, 18, 30});
  }
}

TEST(CommunicatorLinks, ExchangesTakeTheReceiversRail) {
  Cluster cluster = h100(4);
  addLeafAndSpine(cluster, 4, 1, /*rails=*/true, /*oversubscription=*/2);
  Plan plan = make(cluster, range(0, 32))->plan(CollectiveKind::AllToAll, MB);
  // 24 of 31 parts leave the node, and none leaves its leaf switch.
  EXPECT_NEAR(loadOn(plan, {0, nicOut(cluster, 3), 1}), 24 / 31., 1e-4);
  // 7 parts go to neighbours, 21 to the neighbour on the receiver's rail.
  EXPECT_NEAR(loadOn(plan, {0, wire(cluster, "gpu 5", "nvswitch"), 2}),
              28 / 31., 1e-4);
  for (const LinkLoad &load : plan.listLoads())
    EXPECT_EQ(load.link.level, 0u);
}

TEST(CommunicatorLinks, DevicesShareNICs) {
  // Four devices and one NIC at each PCIe switch.
  Cluster cluster =
      makeCluster(pcieNode(8, 4, 1, 12 * GB, 12.5 * GB), h100Constants(), 2);
  Plan plan = make(cluster, range(0, 16))->plan(CollectiveKind::AllToAll, MB);
  EXPECT_NEAR(loadOn(plan, {0, nicOut(cluster, 0), 0}), 4 * 8 / 15., 1e-4);
  EXPECT_NEAR(loadOn(plan, {0, nicOut(cluster, 1), 0}), 4 * 8 / 15., 1e-4);
}

TEST(CommunicatorLinks, WithoutGPUDirectDataPassTheCPU) {
  Cluster cluster = h100(2);
  Plan direct = make(cluster, {0, 8})->plan(CollectiveKind::SendRecv, MB);
  uint32_t up = wire(cluster, "pcie switch 0", "cpu 0");
  EXPECT_EQ(loadOn(direct, {0, up, 0}), 0);
  for (Vertex &vertex : cluster.kinds[0].graph.vertices)
    vertex.directNIC = false;
  Plan staged = make(cluster, {0, 8})->plan(CollectiveKind::SendRecv, MB);
  EXPECT_EQ(loadOn(staged, {0, up, 0}), 1);
  EXPECT_EQ(loadOn(staged, {0, up ^ 1, 0}), 1);
}

TEST(CommunicatorLinks, TreesLoadNICsTwiceAtMost) {
  CollectiveConstants constants = h100Constants();
  constants.inSwitch.reset();
  for (int64_t nodes : {2, 3, 4, 7, 16}) {
    Cluster cluster =
        makeCluster(switchedNode(8, 370.8 * GB), constants, nodes);
    Plan plan = make(cluster, range(0, 8 * nodes))
                    ->plan(CollectiveKind::AllReduce, 32 << 10);
    ASSERT_EQ(plan.algorithm, Algorithm::Tree);
    double most = 0, out = 0, in = 0;
    for (int64_t node = 0; node < nodes; ++node)
      for (uint32_t nic = 0; nic < 8; ++nic) {
        double load = loadOn(plan, {0, nicOut(cluster, nic), node});
        most = std::max(most, load);
        out += load;
        in += loadOn(plan, {0, nicOut(cluster, nic) + 1, node});
      }
    EXPECT_NEAR(out, nodes * (nodes == 2 ? 1. : 2.), 1e-2);
    EXPECT_NEAR(in, out, 1e-9);
    EXPECT_NEAR(most, out / nodes / 8, 1e-4) << "nodes are alike";
  }
}

TEST(CommunicatorLinks, ParallelTreesSendMostToNeighbours) {
  Cluster cluster = h100(16);
  addLeafAndSpine(cluster, 4, 4, /*rails=*/true, /*oversubscription=*/2);
  Plan plan =
      make(cluster, range(2, 128, 8))->plan(CollectiveKind::AllGather, MB);
  ASSERT_EQ(plan.algorithm, Algorithm::ParallelTrees);
  for (int64_t node = 0; node < 16; ++node)
    EXPECT_EQ(loadOn(plan, {0, nicOut(cluster, 2), node}), 1);
  // Of the 15 parts of each of 4 nodes, 8, 4, 2 and 1 go 1, 2, 4 and 8 nodes
  // far. At these distances, 1, 2, 4 and 4 nodes leave their unit.
  EXPECT_NEAR(loadOn(plan, {1, 2 * 2, 1}),
              (8 * 1 + 4 * 2 + 2 * 4 + 1 * 4) / 15., 1e-4);
}

TEST(CommunicatorLinks, RootsSendAndLeavesReceive) {
  Cluster cluster = h100(2);
  Communicator *group = make(cluster, {9, 0, 1, 8});
  uint32_t port = wire(cluster, "gpu 1", "nvswitch");
  Plan scatter = group->plan(CollectiveKind::Scatter, MB);
  EXPECT_NEAR(loadOn(scatter, {0, nicOut(cluster, 1), 1}), 2 / 3., 1e-4);
  EXPECT_NEAR(loadOn(scatter, {0, port, 1}), 1 / 3., 1e-4);
  Plan gather = group->plan(CollectiveKind::Gather, MB);
  EXPECT_NEAR(loadOn(gather, {0, nicOut(cluster, 1) + 1, 1}), 2 / 3., 1e-4);
  EXPECT_EQ(scatter.alone(), gather.alone());
  Plan broadcast = group->plan(CollectiveKind::Broadcast, MB);
  EXPECT_EQ(loadOn(broadcast, {0, port, 1}), 1);
  EXPECT_EQ(loadOn(broadcast, {0, port ^ 1, 1}), 0);
  for (uint32_t nic : {0, 1}) {
    EXPECT_EQ(loadOn(broadcast, {0, nicOut(cluster, nic), 1}), 1 / 2.);
    EXPECT_EQ(loadOn(broadcast, {0, nicOut(cluster, nic), 0}), 0);
    EXPECT_EQ(loadOn(broadcast, {0, nicOut(cluster, nic) + 1, 0}), 1 / 2.);
  }
}

TEST(CommunicatorLinks, EveryMemberReceivesABroadcastOnce) {
  Cluster cluster = h100(2);
  Plan plan =
      make(cluster, {1, 0, 2, 8, 9, 10})->plan(CollectiveKind::Broadcast, MB);
  auto out = [&](int gpu, int64_t node) {
    return loadOn(
        plan,
        {0, wire(cluster, "gpu " + std::to_string(gpu), "nvswitch"), node});
  };
  EXPECT_EQ(out(1, 0), 1);
  EXPECT_EQ(out(0, 0), 1 / 2.);
  EXPECT_EQ(out(2, 0), 1 / 2.);
  for (int gpu : {0, 1, 2})
    EXPECT_NEAR(out(gpu, 1), 2 / 3., 1e-4);
}

TEST(CommunicatorLinks, SwitchesThatAddSendTheSumThroughNICs) {
  for (int64_t nodes : {2, 4}) {
    Cluster cluster = h100(nodes, 16);
    for (Vertex &vertex : cluster.kinds[0].graph.vertices)
      vertex.portBandwidth *= 16; // the network is not the limit
    for (machine::NodeLink &link : cluster.kinds[0].graph.links)
      if (link.kind == LinkKind::PCIe)
        link.bandwidth *= 16;
    Plan plan = make(cluster, range(0, 16 * nodes))
                    ->plan(CollectiveKind::AllReduce, 1024 * MB);
    ASSERT_EQ(plan.algorithm, Algorithm::InSwitchTree);
    EXPECT_EQ(plan.volume, 1024 * MB * 17 / 16);
    EXPECT_EQ(loadOn(plan, {0, wire(cluster, "gpu 3", "nvswitch"), 1}), 1);
    // S or 2 S over 16 NICs, relative to a volume of 17/16 S.
    EXPECT_NEAR(loadOn(plan, {0, nicOut(cluster, 3), 1}),
                (nodes == 2 ? 1 : 2) / 17., 1e-4);
  }
}

TEST(CommunicatorLinks, PresetsPlanEverything) {
  for (const std::string &name : machine::clusterPresetNames()) {
    SCOPED_TRACE(name);
    Cluster cluster = llvm::cantFail(machine::parseClusterPreset(name));
    // A machine without a network has one node.
    int64_t nodes = cluster.kinds[0].graph.numNICs() > 0 ? 4 : 1;
    cluster = llvm::cantFail(
        machine::parseClusterPreset(name + ":" + std::to_string(nodes)));
    int64_t perNode = cluster.devicesPerNode();
    for (const std::vector<int64_t> &group :
         {range(0, perNode), range(0, nodes * perNode),
          range(0, nodes * perNode, perNode)}) {
      if (group.size() < 2)
        continue;
      Communicator *communicator = make(cluster, group);
      for (int kind = 0; kind <= int(CollectiveKind::Shift); ++kind) {
        Plan plan = communicator->plan(CollectiveKind(kind), 64 * MB);
        EXPECT_GT(plan.latency, 0) << kind;
        // No real machine needs a second for this message.
        EXPECT_LT(seconds(plan), 1) << kind;
        EXPECT_FALSE(plan.listLoads().empty());
      }
    }
  }
}

TEST(CommunicatorLinks, RingsThroughAMesh) {
  // Equal to measurements on a DGX-1 within 3 %.
  CollectiveConstants constants;
  machine::RingConstants ring;
  ring.lowBase = 1;
  ring.simpleHop = 1 * us;
  setRings(constants, ring, {0, 0, 0}, {1, 1, 1});
  Cluster cluster = makeCluster(dgx1Node(), constants, 1);
  for (auto [n, width] : {std::pair<int64_t, double>{2, 22},
                          {3, 44},
                          {4, 88},
                          {6, 44},
                          {7, 88},
                          {8, 132}}) {
    Plan plan =
        make(cluster, range(0, n))->plan(CollectiveKind::AllReduce, 1024 * MB);
    // A sixth is not a whole number of load units.
    EXPECT_NEAR(plan.ceiling / GB, width, width / loadUnit * 6) << n;
    for (const LinkLoad &load : plan.listLoads())
      EXPECT_LE(double(load.load) / loadUnit * plan.ceiling,
                capacityOf(cluster, load.link) * 1.0001)
          << nameOf(cluster, load.link);
  }
}

TEST(CommunicatorLinks, MessagesRelayOverNVLink) {
  CollectiveConstants constants = h100Constants();
  Cluster cluster = makeCluster(dgx1Node(), constants, 1);
  // There is no NVLink between 0 and 5: one device relays.
  Plan plan = make(cluster, {0, 5})->plan(CollectiveKind::SendRecv, MB);
  ASSERT_EQ(plan.listLoads().size(), 2u);
  for (const LinkLoad &load : plan.listLoads())
    EXPECT_EQ(cluster.kinds[0].graph.links[load.link.port].kind,
              LinkKind::NVLink);
}

/// Expects that a group shifted by some nodes has the same loads on shifted
/// links.
static void expectMoved(const Cluster &cluster, std::vector<int64_t> devices,
                        int64_t nodes, int64_t perNode) {
  std::vector<int64_t> moved = devices;
  for (int64_t &device : moved)
    device += nodes * perNode;
  Communicator *here = make(cluster, devices), *there = make(cluster, moved);
  for (int kind = 0; kind <= int(CollectiveKind::Shift); ++kind) {
    Plan a = here->plan(CollectiveKind(kind), 8 * MB);
    Plan b = there->plan(CollectiveKind(kind), 8 * MB);
    EXPECT_EQ(a.alone(), b.alone());
    EXPECT_EQ(a.ceiling, b.ceiling);
    std::map<LinkId, int64_t> expected;
    for (const LinkLoad &load : a.listLoads()) {
      LinkId link = load.link;
      int64_t span = 1;
      for (uint32_t level = 0; level < link.level; ++level)
        span *= cluster.fabric.levels[level].span;
      link.unit += nodes / span;
      expected[link] = load.load;
    }
    EXPECT_EQ(expected, mapOf(b)) << kind;
  }
}

TEST(CommunicatorLinks, MovingAGroupMovesItsLoads) {
  for (bool rails : {false, true}) {
    Cluster cluster = h100(16);
    addLeafAndSpine(cluster, 2, 4, rails, /*oversubscription=*/2);
    cluster.fabric.levels.push_back({"core", 2, 1, 0});
    expectMoved(cluster, range(0, 8), 1, 8);
    expectMoved(cluster, range(0, 16), 2, 8);
    expectMoved(cluster, {0, 17, 3, 30, 22}, 2, 8);
    expectMoved(cluster, range(0, 64, 4), 8, 8);
    Cluster mesh = makeCluster(dgx1Node(), h100Constants(), 16);
    addLeafAndSpine(mesh, 2, 8, rails, /*oversubscription=*/2);
    expectMoved(mesh, range(0, 32), 4, 8);
    expectMoved(mesh, {1, 2, 9, 13, 40}, 2, 8);
  }
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static std::string errorOf(const Cluster &cluster,
                           std::vector<int64_t> devices) {
  auto result = Communicator::create(cluster, devices);
  if (result)
    return "";
  return llvm::toString(result.takeError());
}

TEST(CommunicatorLinks, BadGroupsAreNamed) {
  Cluster cluster = h100(2);
  EXPECT_EQ(errorOf(cluster, {}), "a group has no devices; name at least one");
  EXPECT_EQ(errorOf(cluster, {0, 16}),
            "device 16 of a group is not in the cluster, which has 16; use "
            "devices 0 to 15");
  EXPECT_EQ(errorOf(cluster, {4, 2, 4}),
            "device 4 is in a group twice; name it once");
}

TEST(CommunicatorLinks, CutLinksAreNamed) {
  Cluster cluster =
      makeCluster(pcieNode(4, 2, 1, 12 * GB, 12.5 * GB), h100Constants(), 2);
  NodeGraph &graph = cluster.kinds[0].graph;
  uint32_t cut = wire(cluster, "gpu 2", "pcie switch 1");
  graph.links[cut].bandwidth = graph.links[cut ^ 1].bandwidth = 0;
  EXPECT_EQ(errorOf(cluster, {5, 6}),
            "device 5 cannot reach device 6 (gpu 1 and gpu 2 of node 1): "
            "connect them in the node's graph, or keep them out of one group");
  EXPECT_EQ(errorOf(cluster, {2, 5}),
            "device 2 cannot reach device 5 of node 1: there is no route from "
            "gpu 2 to a NIC of node 0 and back; connect one, or keep the group "
            "within the node");
  EXPECT_EQ(errorOf(cluster, {0, 1, 3}), "");
}

TEST(CommunicatorLinks, FabricsThatDoNotMeetAreNamed) {
  Cluster cluster = h100(8);
  addLeafAndSpine(cluster, 2, 2, /*rails=*/false);
  EXPECT_EQ(errorOf(cluster, range(0, 32)), "");
  EXPECT_EQ(errorOf(cluster, {0, 32}),
            "device 0 cannot reach device 32: nodes 0 and 4 are below "
            "different units of the topmost level 'spine' of the fabric; widen "
            "its span or add a level above it");
  cluster.fabric.levels.resize(1);
  cluster.fabric.rails = true;
  EXPECT_EQ(errorOf(cluster, {0, 1, 8, 9}), "");
  EXPECT_EQ(errorOf(cluster, {0, 9}),
            "device 0 cannot reach device 9: their NICs are on rails 0 and 1, "
            "which are not connected; add a level above the leaf switches, or "
            "remove the rails");
}

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

TEST(CommunicatorLinks, ListsOfLargeGroupsAreLinear) {
  Cluster cluster = h100(16384);
  addLeafAndSpine(cluster, 32, 512, /*rails=*/true);
  for (int64_t devices : {8192, 131072}) {
    auto group =
        llvm::cantFail(Communicator::create(cluster, range(0, devices)));
    for (int kind = 0; kind <= int(CollectiveKind::Shift); ++kind) {
      Plan plan = group->plan(CollectiveKind(kind), 1024 * MB);
      EXPECT_GT(plan.ceiling, 0);
      EXPECT_LE(plan.listLoads().size(), 12u * devices);
    }
  }
}
