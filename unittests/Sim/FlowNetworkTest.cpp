//===- FlowNetworkTest.cpp - rates of flows on shared links ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Sim/FlowNetwork.h"
#include "TestWorkloads.h"

#include <random>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

/// Links, and flows that can be started.
struct Net : Builder {
  uint32_t add(int64_t ceiling, std::vector<LinkClassLoad> loads) {
    Flow flow;
    flow.volume = 1;
    flow.ceiling = ceiling;
    flow.loads = std::move(loads);
    return this->flow({0}, flow);
  }
  size_t numFlows() const { return workload.collectives.size(); }
  int64_t ceiling(uint32_t flow) const {
    return workload.collectives[flow].flow.ceiling;
  }
  /// Returns the rates of `flows`, started in this order.
  std::vector<uint64_t> rates(ArrayRef<uint32_t> flows,
                              bool share = true) const {
    FlowNetwork network(workload, share);
    for (uint32_t flow : flows)
      network.start(flow, ceiling(flow));
    (void)network.settle();
    std::vector<uint64_t> result;
    for (uint32_t flow : flows)
      result.push_back(network.rate(flow));
    return result;
  }
  std::vector<uint32_t> all() const {
    std::vector<uint32_t> flows(numFlows());
    for (uint32_t f = 0; f < flows.size(); ++f)
      flows[f] = f;
    return flows;
  }
  std::vector<uint64_t> rates(bool share = true) const {
    return rates(all(), share);
  }
};

using Rates = std::vector<uint64_t>;

TEST(FlowNetwork, AloneAFlowHasItsCeilingOrTheNarrowestLink) {
  Net net;
  net.link(100);
  net.link(60);
  net.add(50, {{0, loadUnit}, {1, loadUnit}});
  net.add(80, {{0, loadUnit}, {1, loadUnit}});
  net.add(80, {{0, 3 * loadUnit}});
  net.add(80, {});
  for (auto [flow, rate] :
       {std::pair(0u, 50u), {1u, 60u}, {2u, 33u}, {3u, 80u}})
    EXPECT_EQ(net.rates({flow}, /*share=*/true), Rates{rate});
  // Without sharing, each flow has the rate that it reaches alone, also if it
  // stands for several.
  EXPECT_EQ(net.rates(/*share=*/false), (Rates{50, 80, 80, 80}));
}

TEST(FlowNetwork, EqualFlowsShareEqually) {
  Net net;
  net.link(100);
  for (int i = 0; i < 3; ++i)
    net.add(80, {{0, loadUnit}});
  EXPECT_EQ(net.rates(), (Rates{33, 33, 33}));
}

TEST(FlowNetwork, WhatACeilingLeavesIsForTheOthers) {
  Net net;
  net.link(100);
  net.add(20, {{0, loadUnit}});
  net.add(90, {{0, loadUnit}});
  net.add(90, {{0, loadUnit}});
  EXPECT_EQ(net.rates(), (Rates{20, 40, 40}));
}

TEST(FlowNetwork, ALoadWeighsWhatAFlowTakes) {
  Net net;
  net.link(100);
  net.add(90, {{0, loadUnit}});
  net.add(90, {{0, 3 * loadUnit}});
  EXPECT_EQ(net.rates(), (Rates{25, 25}));
}

TEST(FlowNetwork, WhoIsHeldUpElsewhereLeavesRoom) {
  Net net;
  net.link(30);
  net.link(100);
  net.add(90, {{0, loadUnit}});
  net.add(90, {{0, loadUnit}, {1, loadUnit}});
  net.add(90, {{1, loadUnit}});
  EXPECT_EQ(net.rates(), (Rates{15, 15, 85}));
}

TEST(FlowNetwork, ALinkThatIsWideEnoughRoundsNobodyDown) {
  Net net;
  net.link(21);
  net.add(10, {{0, loadUnit}});
  net.add(11, {{0, loadUnit}});
  // An equal rate would be 10.5 for each, but rates are whole numbers and the
  // link has room for 10 and 11.
  EXPECT_EQ(net.rates(), (Rates{10, 11}));
}

TEST(FlowNetwork, LinksThatAreFullAtTheSameRateStopTheirFlowsTogether) {
  Net net;
  net.link(20);
  net.link(21);
  net.add(90, {{0, loadUnit}});
  net.add(90, {{0, loadUnit}, {1, loadUnit}});
  net.add(90, {{1, loadUnit}});
  // Computed one link after the other, the third flow would get 11.
  EXPECT_EQ(net.rates(), (Rates{10, 10, 10}));
}

TEST(FlowNetwork, ManyMoreFlowsThanBytesStillMove) {
  Net net;
  net.link(2);
  for (int i = 0; i < 5; ++i)
    net.add(90, {{0, loadUnit}});
  EXPECT_EQ(net.rates(), (Rates{1, 1, 1, 1, 1}));
}

TEST(FlowNetwork, LinksThatAreLoadedAlikeAreFullAlike) {
  Net net;
  for (int64_t capacity : {100, 300, 100, 100})
    net.link(capacity);
  // The last link has the capacity of the first and third, but a smaller load.
  net.add(90, {{0, loadUnit}, {1, loadUnit}, {2, loadUnit}, {3, 7}});
  net.add(90, {{0, loadUnit}, {1, loadUnit}, {2, loadUnit}, {3, 7}});
  FlowNetwork network(net.workload, true);
  network.start(0, 90);
  network.start(1, 90);
  (void)network.settle();
  EXPECT_EQ(network.rate(0), 50u);
  EXPECT_EQ(network.changedLinks().vec(), (std::vector<uint32_t>{0, 2}));
  for (uint32_t link = 0; link < 4; ++link)
    EXPECT_EQ(network.holdsBack(link), link == 0 || link == 2) << link;
  network.stop(1);
  (void)network.settle();
  EXPECT_EQ(network.rate(0), 90u);
  EXPECT_EQ(network.changedLinks().vec(), (std::vector<uint32_t>{0, 2}));
  EXPECT_FALSE(network.holdsBack(2));
}

TEST(FlowNetwork, SettlingReportsThoseThatChanged) {
  Net net;
  net.link(100);
  net.link(100);
  for (uint32_t link : {0u, 0u, 1u})
    net.add(80, {{link, loadUnit}});
  FlowNetwork network(net.workload, /*share=*/true);
  auto settled = [&] { return network.settle().vec(); };
  using Flows = std::vector<uint32_t>;
  network.start(2, 80);
  network.start(0, 80);
  EXPECT_EQ(settled(), (Flows{0, 2}));
  EXPECT_EQ(settled(), Flows{});
  network.start(1, 80);
  EXPECT_EQ(settled(), (Flows{0, 1}));
  EXPECT_EQ(network.rate(0), 50u);
  network.limit(1, 30);
  EXPECT_EQ(settled(), (Flows{0, 1}));
  EXPECT_EQ(network.rate(0), 70u);
  network.stop(1);
  EXPECT_EQ(settled(), Flows{0});
  EXPECT_EQ(network.rate(0), 80u);
  // A flow that ends and starts again at the same time is a new flow.
  network.stop(0);
  network.start(0, 80);
  EXPECT_EQ(settled(), Flows{0});
}

//===----------------------------------------------------------------------===//
// Random networks
//===----------------------------------------------------------------------===//

struct RandomNet : Net {
  explicit RandomNet(unsigned seed) : random(seed) {
    for (int64_t n = 1 + pick(6); n > 0; --n)
      link(1 + pick(1000));
    for (int64_t n = 1 + pick(12); n > 0; --n) {
      std::vector<LinkClassLoad> loads;
      for (uint32_t l = 0; l < workload.links.size(); ++l)
        if (pick(3) == 0)
          loads.push_back({l, pick(2) ? loadUnit : 1 + pick(3 * loadUnit)});
      add(1 + pick(600), std::move(loads));
    }
  }
  int64_t pick(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
  }
  std::mt19937 random;
};

TEST(RandomNetworks, RatesAreMaxMinFairWithinTheCapacities) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    RandomNet net(seed);
    Rates rates = net.rates();
    size_t numLinks = net.workload.links.size();
    std::vector<int64_t> used(numLinks), loads(numLinks);
    std::vector<uint64_t> highest(numLinks);
    auto forLoads = [&](auto visit) {
      for (uint32_t f = 0; f < net.numFlows(); ++f)
        for (const LinkClassLoad &load : net.workload.collectives[f].flow.loads)
          visit(f, load);
    };
    forLoads([&](uint32_t f, const LinkClassLoad &load) {
      used[load.link] += load.load * rates[f];
      loads[load.link] += load.load;
      highest[load.link] = std::max(highest[load.link], rates[f]);
    });
    std::vector<bool> held(net.numFlows());
    for (uint32_t f = 0; f < net.numFlows(); ++f) {
      EXPECT_LE(rates[f], uint64_t(net.ceiling(f)));
      held[f] = rates[f] == uint64_t(net.ceiling(f));
    }
    // A flow below its ceiling must be among the fastest flows of a link whose
    // remaining capacity is less than a byte per second for each.
    forLoads([&](uint32_t f, const LinkClassLoad &load) {
      int64_t left =
          net.workload.links[load.link].capacity * loadUnit - used[load.link];
      held[f] = held[f] ||
                (rates[f] == highest[load.link] && left < loads[load.link]);
      if (rates[f] > 1)
        EXPECT_GE(left, 0);
    });
    for (uint32_t f = 0; f < net.numFlows(); ++f)
      EXPECT_TRUE(held[f]) << "flow " << f << " could be faster";
  }
}

TEST(RandomNetworks, RatesDependOnWhoRunsAndNotOnHowItCameToThat) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomNet net(seed);
    FlowNetwork network(net.workload, /*share=*/true);
    std::vector<int64_t> ceilings(net.numFlows()); ///< 0: not running
    for (int step = 0; step < 60; ++step) {
      for (int64_t changes = 1 + net.pick(3); changes > 0; --changes) {
        uint32_t flow = net.pick(net.numFlows());
        if (ceilings[flow] == 0) {
          network.start(flow, ceilings[flow] = net.ceiling(flow));
        } else if (net.pick(2)) {
          network.stop(flow);
          ceilings[flow] = 0;
        } else {
          network.limit(flow, ceilings[flow] = 1 + net.pick(600));
        }
      }
      (void)network.settle();
      FlowNetwork fresh(net.workload, /*share=*/true);
      for (uint32_t f = net.numFlows(); f-- > 0;)
        if (ceilings[f])
          fresh.start(f, ceilings[f]);
      (void)fresh.settle();
      for (uint32_t f = 0; f < net.numFlows(); ++f)
        if (ceilings[f])
          EXPECT_EQ(network.rate(f), fresh.rate(f)) << step << " " << f;
    }
  }
}

/// Compares a flow with an n-fold load on one link class with the n flows for
/// which it stands. These load each of many links equally.
TEST(RandomNetworks, FoldedFlowsHaveTheRatesOfUnfoldedOnes) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomNet small(seed);
    constexpr uint32_t copies = 5;
    Net folded, unfolded;
    folded.workload.links = small.workload.links;
    for (uint32_t copy = 0; copy < copies; ++copy)
      for (const LinkClass &link : small.workload.links)
        unfolded.link(link.capacity);
    uint32_t numLinks = small.workload.links.size();
    for (uint32_t f = 0; f < small.numFlows(); ++f) {
      // Copy i of the flow loads copy i of each link. Some copies also load the
      // next copy of the link.
      const std::vector<LinkClassLoad> &loads =
          small.workload.collectives[f].flow.loads;
      std::vector<LinkClassLoad> sums = loads;
      for (LinkClassLoad &load : sums)
        load.load *= 1 + load.link % 2;
      folded.add(small.ceiling(f), sums);
      for (uint32_t copy = 0; copy < copies; ++copy) {
        std::vector<LinkClassLoad> own;
        for (const LinkClassLoad &load : loads)
          for (uint32_t next = 0; next < 1 + load.link % 2; ++next)
            own.push_back(
                {(copy + next) % copies * numLinks + load.link, load.load});
        unfolded.add(small.ceiling(f), own);
      }
    }
    Rates one = folded.rates(), many = unfolded.rates();
    for (uint32_t f = 0; f < many.size(); ++f)
      EXPECT_EQ(many[f], one[f / copies]) << f;
  }
}

} // namespace
