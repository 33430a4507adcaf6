//===- FoldingTest.cpp - equivalence of ranks, groups and links -----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Folding.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

namespace {

/// Returns `nodes` nodes of `perNode` devices on a switch, each with its own
/// NIC.
machine::Cluster cluster(int64_t nodes, uint32_t perNode,
                         std::vector<int64_t> spans = {}) {
  machine::Cluster result;
  result.devices.emplace_back();
  machine::NodeKind &kind = result.kinds.emplace_back();
  machine::Vertex hub;
  hub.kind = machine::VertexKind::NVSwitch;
  uint32_t center = kind.graph.addVertex(hub);
  for (uint32_t i = 0; i < perNode; ++i) {
    machine::Vertex device, nic;
    device.index = nic.index = i;
    nic.kind = machine::VertexKind::NIC;
    nic.portBandwidth = 25e9;
    uint32_t at = kind.graph.addVertex(device);
    kind.graph.connect(at, center, machine::LinkKind::NVLink, 300e9);
    kind.graph.connect(at, kind.graph.addVertex(nic), machine::LinkKind::PCIe,
                       30e9);
  }
  result.nodes = {{0, nodes}};
  for (int64_t span : spans)
    result.fabric.levels.push_back({"level", span, 2, 0});
  return result;
}

/// A communicator with simple loads. Each member loads the first link of its
/// node by its local number plus one, and the uplink of its unit of the lowest
/// level by seven. The first link of the group has an additional load of
/// `extra`.
class TestCommunicator : public net::Communicator {
public:
  TestCommunicator(const machine::Cluster &cluster, ArrayRef<int64_t> devices,
                   int64_t extra = 0) {
    std::map<net::LinkId, uint32_t> sums;
    for (int64_t device : devices) {
      int64_t node = cluster.nodeOf(device);
      sums[{0, 0, node}] += cluster.localIndex(device) + 1;
      if (!cluster.fabric.levels.empty())
        sums[{1, 0, cluster.unitOf(0, node)}] += 7;
    }
    std::vector<net::LinkLoad> list;
    for (auto [link, load] : sums)
      list.push_back({link, load});
    list.front().load += extra;
    loads = net::groupLoads(list);
  }
  net::Plan plan(cost::CollectiveKind, int64_t bytes) const override {
    net::Plan plan;
    plan.algorithm = net::Algorithm::Ring;
    plan.volume = bytes;
    plan.ceiling = 1000;
    plan.loads = &loads;
    return plan;
  }

private:
  net::LinkLoads loads;
};

struct Job {
  machine::Cluster machine;
  FoldingRequest request{machine, {}, {}, {}, {}, {}};

  Job(machine::Cluster cluster, std::vector<int64_t> sizes,
      std::vector<std::vector<unsigned>> groups)
      : machine(std::move(cluster)) {
    request.mesh.sizes = std::move(sizes);
    request.coloured.assign(request.mesh.sizes.size(), false);
    request.colourOf = [](ArrayRef<int64_t>) { return std::vector<int64_t>(); };
    for (std::vector<unsigned> &axes : groups)
      request.families.push_back(
          {std::move(axes), {}, {{cost::CollectiveKind::AllReduce, 100}}});
    request.createCommunicator = [this](ArrayRef<int64_t> devices) {
      return Expected<std::unique_ptr<net::Communicator>>(
          std::make_unique<TestCommunicator>(machine, devices));
    };
  }
  void colour(unsigned axis) {
    request.coloured[axis] = true;
    request.colourOf = [axis](ArrayRef<int64_t> coordinates) {
      return std::vector<int64_t>{coordinates[axis]};
    };
  }
  Folding fold() {
    Expected<Folding> folding = foldRanks(request);
    EXPECT_TRUE(static_cast<bool>(folding));
    return std::move(*folding);
  }
};

TEST(Folding, ASymmetricMeshIsOneClassPerStage) {
  // pp 4, dp 16, tp 8 on 64 nodes of 8, with 8 nodes under a leaf switch.
  Job job(cluster(64, 8, {8}), {4, 16, 8}, {{2}, {1}});
  job.colour(0);
  Folding folding = job.fold();
  ASSERT_EQ(folding.ranks.size(), 4 * 8u) << "local numbers load unequally";
  EXPECT_EQ(folding.ranks[0].ranks, 16);
  EXPECT_EQ(folding.groups[0].size(), 4u);
  EXPECT_EQ(folding.groups[0][0].groups, 16);
  EXPECT_EQ(folding.groups[1].size(), 4 * 8u);
  EXPECT_EQ(folding.groups[1][0].size, 16);
}

TEST(Folding, CostDoesNotGrowWithTheReplicas) {
  Job job(cluster(1000000, 8, {10, 10}), {1000000, 8}, {{1}});
  Folding folding = job.fold();
  EXPECT_EQ(folding.ranks.size(), 1u) << "all in one group, all alike";
  EXPECT_EQ(folding.ranks[0].ranks, 8000000);
  EXPECT_EQ(folding.groups[0][0].groups, 1000000);
}

TEST(Folding, LoadsOfAllGroupsOfAClassAddUp) {
  // 8 groups of 4 ranks, one per local number, over 4 nodes. All of them load
  // the first link of each node.
  Job job(cluster(4, 8), {4, 8}, {{0}});
  Folding folding = job.fold();
  int64_t total = 0;
  for (const GroupClass &groups : folding.groups[0]) {
    ASSERT_EQ(groups.collectives[0].flow.loads.size(), 1u);
    total += groups.collectives[0].flow.loads[0].load;
  }
  EXPECT_EQ(total, 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);
  ASSERT_EQ(folding.links.size(), 1u);
  EXPECT_EQ(folding.links[0].count, 4);
}

TEST(Folding, LinksThatAGroupLoadsUnequallyAreNotAlike) {
  // A group over 4 nodes has its root in the first node. A load of 8 more on
  // one of 4 links is not a load of 2 more on each.
  Job job(cluster(4, 1), {4}, {{0}});
  job.request.createCommunicator = [&](ArrayRef<int64_t> devices) {
    return Expected<std::unique_ptr<net::Communicator>>(
        std::make_unique<TestCommunicator>(job.machine, devices, 8));
  };
  Folding folding = job.fold();
  ASSERT_EQ(folding.links.size(), 2u);
  EXPECT_EQ(folding.links[0].count, 1);
  EXPECT_EQ(folding.links[1].count, 3);
  std::vector<int64_t> loads;
  for (LinkClassLoad load : folding.groups[0][0].collectives[0].flow.loads)
    loads.push_back(load.load);
  EXPECT_EQ(loads, (std::vector<int64_t>{9, 1}));
}

TEST(Folding, ADifferentPeerSplitsAlongTheGroup) {
  // Rank 0 differs from the others. Its peers along either axis therefore
  // differ from ranks that are not its peers.
  Job job(cluster(16, 1), {4, 4}, {{0}, {1}});
  job.request.coloured = {true, true};
  job.request.colourOf = [](ArrayRef<int64_t> c) {
    return std::vector<int64_t>{c[0] == 0 && c[1] == 0};
  };
  Folding folding = job.fold();
  std::vector<int64_t> ranks;
  for (const RankClass &found : folding.ranks)
    ranks.push_back(found.ranks);
  EXPECT_EQ(ranks, (std::vector<int64_t>{1, 3, 3, 9}));
}

TEST(Folding, KeptApartEveryRankIsAClass) {
  Job job(cluster(4, 2, {2}), {4, 2}, {{0}, {1}});
  job.request.keepRanksApart = true;
  Folding folding = job.fold();
  ASSERT_EQ(folding.ranks.size(), 8u);
  EXPECT_EQ(folding.groups[1].size(), 4u);
  EXPECT_EQ(folding.groupOf[1][7], 3u);
}

TEST(Folding, MessagesAreGroupsOfTwoPlaces) {
  Job job(cluster(4, 2), {4, 2}, {});
  job.colour(0);
  job.request.families.push_back(
      {{0}, {2, 1}, {{cost::CollectiveKind::SendRecv, 10}}});
  Folding folding = job.fold();
  EXPECT_EQ(folding.groupOf[0][0], Folding::noGroup);
  for (const GroupClass &groups : folding.groups[0])
    EXPECT_EQ(groups.size, 2);
}

/// Folding must give the same loads on every link as all ranks simulated
/// separately, for random meshes on random fabrics, aligned or not.
TEST(Folding, EqualsEveryRankByItself) {
  uint64_t seed = 1;
  auto pick = [&](uint64_t count) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % count;
  };
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<int64_t> sizes;
    int64_t ranks = 1;
    for (int axis = 0; axis < 3; ++axis) {
      sizes.push_back(1 + pick(4));
      ranks *= sizes.back();
    }
    uint32_t perNode = 1 + pick(4);
    std::vector<int64_t> spans;
    for (unsigned level = pick(3); level-- > 0;)
      spans.push_back(1 + pick(4));
    int64_t base = pick(3) * perNode;
    Job job(cluster((ranks + base) / perNode + 1, perNode, spans), sizes,
            {{0}, {1, 2}, {2}});
    if (base) {
      job.request.mesh.devices.resize(ranks);
      std::iota(job.request.mesh.devices.begin(),
                job.request.mesh.devices.end(), base);
    }
    if (pick(2))
      job.colour(pick(3));
    Folding folded = job.fold();
    job.request.keepRanksApart = true;
    Folding every = job.fold();
    int64_t covered = 0;
    for (const RankClass &found : folded.ranks)
      covered += found.ranks;
    EXPECT_EQ(covered, ranks);
    // The total load per family, with all groups counted.
    for (size_t family = 0; family < 3; ++family) {
      auto total = [&](const Folding &folding) {
        int64_t sum = 0;
        for (const GroupClass &groups : folding.groups[family])
          for (const LinkClassLoad &load : groups.collectives[0].flow.loads)
            sum += load.load * folding.links[load.link].count;
        return sum;
      };
      EXPECT_EQ(total(folded), total(every)) << "trial " << trial;
      auto count = [&](const Folding &folding) {
        int64_t sum = 0;
        for (const GroupClass &groups : folding.groups[family])
          sum += groups.groups;
        return sum;
      };
      EXPECT_EQ(count(folded), count(every));
    }
    // The loads on the links of each rank's groups equal those of its class.
    for (size_t family = 0; family < 3; ++family)
      for (size_t c = 0; c < folded.ranks.size(); ++c) {
        int64_t position = folded.ranks[c].representative;
        auto loadsOf = [&](const Folding &folding, uint32_t rank) {
          std::multiset<int64_t> loads;
          const GroupClass &groups =
              folding.groups[family][folding.groupOf[family][rank]];
          for (const LinkClassLoad &load : groups.collectives[0].flow.loads) {
            // Load of all flows on this link.
            int64_t sum = 0;
            for (const auto &others : folding.groups)
              for (const GroupClass &other : others)
                for (const LinkClassLoad &entry :
                     other.collectives[0].flow.loads)
                  sum += entry.link == load.link ? entry.load : 0;
            loads.insert(sum);
          }
          return loads;
        };
        auto mine = loadsOf(folded, c), all = loadsOf(every, position);
        EXPECT_EQ(std::set<int64_t>(mine.begin(), mine.end()),
                  std::set<int64_t>(all.begin(), all.end()))
            << "trial " << trial;
      }
  }
}

} // namespace
