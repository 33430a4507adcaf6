//===- CommunicatorPropertyTest.cpp - properties of all plans -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestClusters.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <random>

using namespace proteus;
using namespace proteus::net;
using namespace proteus::net::test;
using cost::CollectiveKind;

namespace {
struct Machine {
  const char *name;
  Cluster cluster;
};
} // namespace

static std::vector<Machine> machines() {
  std::vector<Machine> all;
  Cluster rails = h100(8);
  addLeafAndSpine(rails, 2, 4, /*rails=*/true, 2);
  all.push_back({"rails", rails});

  Cluster levels =
      makeCluster(switchedNode(8, 240 * GB, 25 * GB), a100Constants(), 12);
  addLeafAndSpine(levels, 2, 3, /*rails=*/false, 3);
  levels.fabric.levels.push_back({"core", 2, 1, 1e-6});
  all.push_back({"levels", levels});

  all.push_back({"pcie", makeCluster(pcieNode(8, 4, 1, 12 * GB, 12.5 * GB),
                                     h100Constants(), 3)});
  Cluster mesh = makeCluster(dgx1Node(), a100Constants(), 4);
  addLeafAndSpine(mesh, 2, 2, /*rails=*/true);
  all.push_back({"mesh", mesh});

  Cluster mixed = h100(2);
  mixed.kinds.push_back(levels.kinds[0]);
  mixed.kinds.push_back(mesh.kinds[0]);
  mixed.nodes.push_back({1, 2});
  mixed.nodes.push_back({2, 2});
  all.push_back({"mixed", mixed});
  return all;
}

static std::vector<int64_t> randomGroup(std::mt19937 &random, int64_t devices) {
  std::vector<int64_t> all(devices);
  std::iota(all.begin(), all.end(), 0);
  // The group is a block, a strided set or an arbitrary set.
  std::vector<int64_t> group;
  int64_t count = 2 + random() % std::min<int64_t>(20, devices - 1);
  switch (random() % 3) {
  case 0: {
    int64_t begin = random() % (devices - count + 1);
    group.assign(all.begin() + begin, all.begin() + begin + count);
    break;
  }
  case 1: {
    int64_t stride = 1 + random() % 8;
    for (int64_t d = random() % stride; d < devices; d += stride)
      group.push_back(d);
    break;
  }
  default:
    // std::shuffle differs between standard libraries.
    for (int64_t i = 0; i < count; ++i)
      std::swap(all[i], all[i + random() % (devices - i)]);
    group.assign(all.begin(), all.begin() + count);
  }
  return group;
}

/// Expects that the loads out of NICs equal those into NICs, and that loads up
/// equal loads down on every level.
static void expectConserved(const Cluster &cluster, const Plan &plan) {
  std::map<uint32_t, double> sums; // by level
  size_t links = 0;
  for (const LinkLoad &load : plan.listLoads()) {
    uint32_t port = load.link.port;
    if (load.link.level == 0) {
      const NodeGraph &graph =
          cluster.kinds[cluster.kindOfNode(load.link.unit)].graph;
      if (port < graph.links.size())
        continue;
      port -= graph.links.size();
    }
    sums[load.link.level] += port % 2 ? -load.load : load.load;
    ++links;
  }
  for (auto [level, sum] : sums)
    EXPECT_NEAR(sum, 0, links) << "level " << level; // each link rounds
}

static void expectSound(const Cluster &cluster, const Plan &plan) {
  EXPECT_NE(plan.algorithm, Algorithm::None);
  EXPECT_GE(plan.latency, 0);
  EXPECT_GT(plan.volume, 0);
  EXPECT_GT(plan.ceiling, 0);
  std::vector<LinkLoad> loads = plan.listLoads();
  ASSERT_FALSE(loads.empty());
  for (size_t i = 0; i < loads.size(); ++i) {
    const LinkLoad &load = loads[i];
    EXPECT_GT(load.load, 0);
    if (i > 0)
      EXPECT_TRUE(loads[i - 1].link < load.link) << "not sorted";
    double atLeast = double(plan.volume) * load.load / loadUnit /
                     capacityOf(cluster, load.link);
    EXPECT_GE(cost::toSeconds(plan.alone() - plan.latency),
              atLeast * (1 - 1e-9) - 1e-12)
        << nameOf(cluster, load.link);
  }
  expectConserved(cluster, plan);
}

/// Returns true if some link out of the device (or into it) has a load.
static bool isLoaded(const Cluster &cluster, const Plan &plan, int64_t device,
                     bool leaving) {
  int64_t node = cluster.nodeOf(device);
  uint32_t local = cluster.localIndex(device);
  const NodeGraph &graph = cluster.kinds[cluster.kindOfNode(node)].graph;
  return llvm::any_of(plan.listLoads(), [&](const LinkLoad &load) {
    if (load.link.level > 0 || load.link.unit != node ||
        load.link.port >= graph.links.size())
      return false;
    const machine::NodeLink &link = graph.links[load.link.port];
    const Vertex &vertex = graph.vertices[leaving ? link.from : link.to];
    return vertex.kind == VertexKind::Device && vertex.index == local;
  });
}

static void expectMembersLoaded(const Cluster &cluster, const Plan &plan,
                                CollectiveKind kind,
                                const std::vector<int64_t> &group) {
  for (int64_t device : group) {
    bool isRoot = device == group.front();
    bool isOther = kind == CollectiveKind::SendRecv && device != group[1];
    bool isReceiver = kind == CollectiveKind::Scatter ||
                      kind == CollectiveKind::Broadcast ||
                      kind == CollectiveKind::SendRecv;
    bool isSender = kind == CollectiveKind::Gather;
    if (isRoot ? !isSender : !isReceiver)
      EXPECT_TRUE(isLoaded(cluster, plan, device, true)) << device;
    if (isRoot ? !isReceiver : !isSender && !isOther)
      EXPECT_TRUE(isLoaded(cluster, plan, device, false)) << device;
  }
}

TEST(CommunicatorProperties, EveryPlanIsSound) {
  std::mt19937 random(20240917);
  for (const Machine &machine : machines()) {
    SCOPED_TRACE(machine.name);
    for (int round = 0; round < 40; ++round) {
      std::vector<int64_t> group =
          randomGroup(random, machine.cluster.numDevices());
      SCOPED_TRACE(round);
      Communicator *communicator = make(machine.cluster, group);
      for (int k = 0; k <= int(CollectiveKind::Shift); ++k) {
        auto kind = CollectiveKind(k);
        SCOPED_TRACE(k);
        bool isMessage = kind == CollectiveKind::Permute ||
                         kind == CollectiveKind::SendRecv ||
                         kind == CollectiveKind::Shift;
        Plan last;
        for (int64_t bytes = 1; bytes < int64_t(1) << 40;
             bytes = bytes * 3 + random() % 5) {
          Plan plan = communicator->plan(kind, bytes);
          expectSound(machine.cluster, plan);
          // More channels make longer messages faster, so only equal numbers
          // are compared.
          if (!isMessage || plan.channels == last.channels)
            EXPECT_GE(plan.alone() + 1, last.alone()) << bytes;
          last = plan;
        }
        expectMembersLoaded(machine.cluster, last, kind, group);
        if (HasFatalFailure())
          return;
      }
    }
  }
}

TEST(CommunicatorProperties, HugeSizesSaturate) {
  Cluster cluster = h100(2);
  Communicator *group = make(cluster, range(0, 16));
  for (int kind = 0; kind <= int(CollectiveKind::Shift); ++kind) {
    Plan plan =
        group->plan(CollectiveKind(kind), std::numeric_limits<int64_t>::max());
    EXPECT_GT(plan.ceiling, 0);
    EXPECT_GT(plan.volume, 0);
    EXPECT_GT(plan.alone(), 0);
  }
}

TEST(CommunicatorProperties, TheOrderOfTheGroupOnlyMattersToMessages) {
  std::mt19937 random(7);
  for (const Machine &machine : machines()) {
    std::vector<int64_t> group =
        randomGroup(random, machine.cluster.numDevices());
    std::vector<int64_t> reversed(group.rbegin(), group.rend());
    Communicator *a = make(machine.cluster, group),
                 *b = make(machine.cluster, reversed);
    for (CollectiveKind kind :
         {CollectiveKind::AllReduce, CollectiveKind::AllGather,
          CollectiveKind::ReduceScatter, CollectiveKind::AllToAll}) {
      Plan first = a->plan(kind, 1 << 24), second = b->plan(kind, 1 << 24);
      EXPECT_EQ(first.alone(), second.alone());
      std::vector<LinkLoad> ofFirst = first.listLoads();
      std::vector<LinkLoad> ofSecond = second.listLoads();
      ASSERT_EQ(ofFirst.size(), ofSecond.size());
      for (size_t i = 0; i < ofFirst.size(); ++i) {
        EXPECT_TRUE(ofFirst[i].link == ofSecond[i].link);
        EXPECT_EQ(ofFirst[i].load, ofSecond[i].load);
      }
    }
  }
}
