//===- CommunicatorTest.cpp - times of collectives alone ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes expected times from the formulas of docs/collectives.md, in
// microseconds and GB/s, the units of published figures.
//
//===----------------------------------------------------------------------===//

#include "TestClusters.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace proteus;
using namespace proteus::net;
using namespace proteus::net::test;
using cost::CollectiveKind;

namespace {
/// Constants of one architecture in microseconds and GB/s.
struct Figures {
  double width;
  double lowBase, lowHop, lowShare;
  double base, hop, fill;
  double extra[3], share[3];
  double switchBase = 0, switchShare = 0, switchExponent = 0, switchFill = 0;
};
} // namespace

static const Figures a100Figures = {
    240, 9, 2.3, .10, 28, 2.6, 2.5, {.34, .5, .34}, {1, 1, 1}};
static const Figures h100Figures = {
    370.8,           11, 2.9, .31, 23, .9, 1.0, {.37, .32, .80},
    {.97, .98, .98}, 55, .84, .01, 2.3};
static const Figures b200Figures = {
    721.8,           15, 1.24, .44, 18, 1.7, 2.3, {.45, .49, .46},
    {.90, .99, .99}, 50, .78,  .11, 7};

static double expectedMicroseconds(const Figures &f, CollectiveKind kind,
                                   double n, double bytes) {
  int row = kind == CollectiveKind::AllReduce   ? 0
            : kind == CollectiveKind::AllGather ? 1
                                                : 2;
  double k = row == 0 ? 2 * (n - 1) : n - 1;
  double w = bytes * (k + f.extra[row]) / n / (1000 * f.width * f.share[row]);
  double low = f.lowBase + k * f.lowHop + w / f.lowShare;
  double simple = f.base + k * f.hop + w + f.fill * std::sqrt(w);
  double time = std::min(low, simple);
  if (row == 0 && n >= 4 && f.switchBase > 0) {
    double crowd = std::min(1.0, std::pow(8 / n, f.switchExponent));
    double v = bytes * (1 + 1 / n) / (1000 * f.width * f.switchShare * crowd);
    time = std::min(time, f.switchBase + v + f.switchFill * std::sqrt(v));
  }
  return time;
}

TEST(Communicator, RingsAndSwitchesWithinANodeFollowTheFormulas) {
  struct {
    const Figures &figures;
    CollectiveConstants constants;
  } machines[] = {{a100Figures, a100Constants()},
                  {h100Figures, h100Constants()},
                  {b200Figures, b200Constants()}};
  for (const auto &[figures, constants] : machines)
    for (int64_t n : {2, 3, 4, 6, 8}) {
      Cluster cluster =
          makeCluster(switchedNode(8, figures.width * GB), constants, 1);
      Communicator *group = make(cluster, range(0, n));
      for (CollectiveKind kind :
           {CollectiveKind::AllReduce, CollectiveKind::AllGather,
            CollectiveKind::ReduceScatter})
        for (int64_t bytes : {1000, 64 << 10, 1 << 20, 16 << 20, 1 << 30}) {
          double expected = expectedMicroseconds(figures, kind, n, bytes) * us;
          EXPECT_NEAR(seconds(group->plan(kind, bytes)) / expected, 1, 1e-6)
              << figures.width << " " << n << " " << int(kind) << " " << bytes;
        }
    }
}

TEST(Communicator, UserBuffersNeedNoLibrary) {
  CollectiveConstants constants = h100Constants();
  Cluster cluster = makeCluster(switchedNode(8, 370.8 * GB), constants, 2);
  cluster.devices[0].memoryBandwidth = 3000 * GB;
  constexpr int64_t bytes = 64 << 20;
  for (int64_t n : {2, 4, 8}) {
    Communicator *group = make(cluster, range(0, n));
    for (CollectiveKind kind :
         {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
      Plan plan = group->planFor(Transport::UserBuffers, kind, bytes);
      EXPECT_EQ(plan.algorithm, Algorithm::UserBuffers);
      // The collective uses no multiprocessors of the kernels.
      EXPECT_EQ(plan.channels, 0u);
      double rate = 370.8 * GB * std::min(1.0, constants.messageEfficiency);
      EXPECT_NEAR(seconds(plan), 4 * us + bytes * (n - 1.0) / n / rate,
                  1e-9 * us + 1e-6 * seconds(plan));
      EXPECT_LT(seconds(plan), seconds(group->plan(kind, bytes)));
    }
    // Reads a part of every member and writes one part.
    Plan sum =
        group->planFor(Transport::LocalSum, CollectiveKind::AllGather, bytes);
    EXPECT_EQ(sum.volume, 0);
    EXPECT_NEAR(seconds(sum),
                bytes * (1 + 1.0 / n) / cluster.devices[0].memoryBandwidth,
                1e-6 * us);
  }
  // User buffers do not reach other nodes.
  Communicator *across = make(cluster, range(0, 16));
  Plan plan =
      across->planFor(Transport::UserBuffers, CollectiveKind::AllGather, bytes);
  EXPECT_EQ(seconds(plan),
            seconds(across->plan(CollectiveKind::AllGather, bytes)));
  EXPECT_EQ(plan.algorithm, Algorithm::Ring);
}

TEST(Communicator, LargeDomainsLoseSomeOfTheSwitch) {
  Cluster cluster =
      makeCluster(switchedNode(72, 721.8 * GB), b200Constants(), 1);
  for (int64_t n : {8, 16, 72}) {
    Plan plan = make(cluster, range(0, n))
                    ->plan(CollectiveKind::AllReduce, int64_t(8) << 30);
    EXPECT_EQ(plan.algorithm, Algorithm::InSwitch);
    EXPECT_NEAR(seconds(plan) / us /
                    expectedMicroseconds(b200Figures, CollectiveKind::AllReduce,
                                         n, double(int64_t(8) << 30)),
                1, 1e-6);
  }
}

static double busBandwidth(const Plan &plan, double steps, double n,
                           double bytes) {
  return bytes * steps / n / seconds(plan);
}

TEST(Communicator, TwoDevicesShowThreeQuartersOfTheBusBandwidthOfEight) {
  Cluster cluster = h100();
  double bytes = double(int64_t(16) << 30);
  auto bus = [&](int64_t n) {
    Plan plan = make(cluster, range(0, n))
                    ->plan(CollectiveKind::AllGather, int64_t(bytes));
    return busBandwidth(plan, n - 1, n, bytes);
  };
  double two = 1 / 1.32, eight = 7 / 7.32;
  EXPECT_NEAR(bus(2) / bus(8), two / eight, 0.002);
  EXPECT_GT(bus(2) / bus(8), 0.75);
  EXPECT_LT(bus(2) / bus(8), 0.81);
}

TEST(Communicator, SwitchesThatAddShowMoreThanTheWire) {
  // busbw = 2 (n - 1) / (n + 1) * 0.84 W, as measured with H200.
  Cluster cluster = h100();
  double bytes = double(int64_t(64) << 30);
  for (int64_t n : {5, 6, 7, 8}) {
    Plan plan = make(cluster, range(0, n))
                    ->plan(CollectiveKind::AllReduce, int64_t(bytes));
    EXPECT_EQ(plan.algorithm, Algorithm::InSwitch);
    double reached = .84 * 370.8 * GB;
    EXPECT_NEAR(busBandwidth(plan, 2 * (n - 1), n, bytes) /
                    (2.0 * (n - 1) / (n + 1) * reached),
                1, 0.01);
  }
  // A group of three can't use the switch.
  EXPECT_EQ(make(cluster, range(0, 3))
                ->plan(CollectiveKind::AllReduce, int64_t(bytes))
                .algorithm,
            Algorithm::Ring);
}

TEST(Communicator, ExchangesWithinANode) {
  Cluster cluster =
      makeCluster(switchedNode(8, 721.8 * GB), b200Constants(), 1);
  for (int64_t n : {2, 4, 8})
    for (int64_t bytes : {1 << 20, 64 << 20, 1 << 30}) {
      double w = bytes * (n - 1 + .83) / n / 758e3;
      double expected = 38 + w + 4.3 * std::sqrt(w);
      EXPECT_NEAR(seconds(make(cluster, range(0, n))
                              ->plan(CollectiveKind::AllToAll, bytes)) /
                      us / expected,
                  1, 1e-6);
    }
}

TEST(Communicator, ExchangesAreLaidOnChannels) {
  CollectiveConstants c = b200Constants();
  c.exchangeHop = 0.01 * us, c.exchangeFill = 0;
  c.exchangeChannel = 20 * GB, c.exchangeLowChannel = 5 * GB;
  Cluster cluster = makeCluster(switchedNode(72, 721.8 * GB), c, 1);
  auto transfer = [&](int64_t n, int64_t toEach) {
    Plan plan =
        make(cluster, range(0, n))->plan(CollectiveKind::AllToAll, n * toEach);
    EXPECT_EQ(plan.protocol,
              toEach <= 512 << 10 ? Protocol::LL : Protocol::Simple);
    EXPECT_NEAR(cost::toSeconds(plan.latency) / us,
                38 + 0.01 * (n - 1) * (n - 1), 1e-5);
    return cost::toSeconds(plan.alone() - plan.latency) /
           (static_cast<double>(toEach) * (n - 1 + .83)) * GB;
  };
  // The parts of 16 and 64 messages are distributed evenly over 32 channels.
  // With 18 and 36 messages, a channel has one or two parts; with 72, two or
  // three.
  for (auto [n, channels] :
       {std::pair(16, 32), std::pair(64, 32), std::pair(18, 18),
        std::pair(36, 18), std::pair(72, 24)}) {
    EXPECT_NEAR(transfer(n, 512 << 10) * channels * 5, 1, 1e-6) << n;
    EXPECT_NEAR(transfer(n, 1 << 20) * channels * 20, 1, 1e-6) << n;
  }
  // Long messages have 8 parts each, of which some channels have five.
  EXPECT_NEAR(transfer(18, 128 << 20) * 28.8 * 20, 1, 1e-6);
}

TEST(Communicator, ShortMessagesGoByTheLowLatencyProtocol) {
  CollectiveConstants c = b200Constants();
  c.messageLowChannel = 5 * GB;
  Cluster cluster = makeCluster(switchedNode(72, 721.8 * GB), c, 1);
  auto time = [&](int64_t bytes) {
    return cost::toSeconds(make(cluster, range(0, 72))
                               ->plan(CollectiveKind::Shift, bytes)
                               .alone());
  };
  // In a group this large, each message has one channel.
  EXPECT_NEAR(time(512 << 10), 11.7 * us + (512 << 10) / (5 * GB), 1e-11);
  EXPECT_NEAR(time(1 << 20), 11.7 * us + (1 << 20) / (22.3 * GB), 1e-11);
  EXPECT_LT(time(1 << 20), time(512 << 10));
}

TEST(Communicator, AMDUsesAllLinksOfAMesh) {
  for (bool isAMD : {true, false}) {
    NodeGraph graph;
    graph.name = "mesh";
    for (uint32_t d = 0; d < 8; ++d)
      addVertex(graph, VertexKind::Device, "gpu " + std::to_string(d), d);
    for (uint32_t a = 0; a < 8; ++a)
      for (uint32_t b = a + 1; b < 8; ++b)
        graph.connect(a, b, LinkKind::NVLink, 64 * GB);
    CollectiveConstants c;
    Cluster cluster = makeCluster(std::move(graph), c, 1);
    cluster.devices.front().architecture =
        isAMD ? machine::Architecture::CDNA : machine::Architecture::Volta;
    for (int64_t n : {4, 8}) {
      Plan plan = make(cluster, range(0, n))
                      ->plan(CollectiveKind::AllGather, int64_t(1) << 30);
      double links = (1 << 30) / static_cast<double>(n) / (64 * GB);
      double taken = cost::toSeconds(plan.alone() - plan.latency);
      if (isAMD)
        EXPECT_NEAR(taken / links, 1, 1e-4) << n;
      else
        EXPECT_GT(taken / links, 1.05) << n;
    }
  }
}

TEST(Communicator, AMDUsesRingsIfLinksDiffer) {
  cost::Time times[2];
  for (bool isAMD : {true, false}) {
    NodeGraph graph;
    graph.name = "mesh";
    for (uint32_t d = 0; d < 4; ++d)
      addVertex(graph, VertexKind::Device, "gpu " + std::to_string(d), d);
    for (uint32_t a = 0; a < 4; ++a)
      for (uint32_t b = a + 1; b < 4; ++b)
        graph.connect(a, b, LinkKind::NVLink, a + b == 3 ? 32 * GB : 64 * GB);
    CollectiveConstants c;
    Cluster cluster = makeCluster(std::move(graph), c, 1);
    cluster.devices.front().architecture =
        isAMD ? machine::Architecture::CDNA : machine::Architecture::Volta;
    times[isAMD] = make(cluster, range(0, 4))
                       ->plan(CollectiveKind::AllGather, int64_t(1) << 30)
                       .alone();
  }
  EXPECT_EQ(times[true], times[false]);
}

TEST(Communicator, LinksBoundWhatAModelPromises) {
  // The fitted rate of H100 exchanges exceeds that of its links: 382 of 370.8.
  Cluster cluster = h100();
  int64_t bytes = int64_t(8) << 30;
  Plan plan = make(cluster, range(0, 8))->plan(CollectiveKind::AllToAll, bytes);
  double atLeast = bytes * 7.0 / 8 / (370.8 * GB);
  EXPECT_GE(cost::toSeconds(plan.alone() - plan.latency), atLeast);
}

TEST(Communicator, BroadcastsAreChains) {
  Cluster cluster = h100();
  double w = (256 << 20) / (1000 * 370.8 * .98);
  double expected = 23 + 7 * .9 + w + std::sqrt(w);
  Plan plan =
      make(cluster, range(0, 8))->plan(CollectiveKind::Broadcast, 256 << 20);
  EXPECT_EQ(plan.algorithm, Algorithm::Chain);
  EXPECT_NEAR(seconds(plan) / us / expected, 1, 1e-6);
}

TEST(Communicator, MessagesGetChannelsBySizeAndGroup) {
  // 72 devices: one channel up to 16 MiB, then as many as keep chunks below it.
  Cluster cluster =
      makeCluster(switchedNode(72, 721.8 * GB), b200Constants(), 1);
  Communicator *large = make(cluster, range(0, 72));
  for (auto [bytes, channels] : {std::pair<int64_t, int>{1 << 20, 1},
                                 {16 << 20, 1},
                                 {20 << 20, 2},
                                 {100 << 20, 8}}) {
    Plan plan = large->plan(CollectiveKind::Shift, bytes);
    EXPECT_EQ(plan.channels, channels);
    EXPECT_NEAR(seconds(plan) / us / (11.7 + bytes / (22.3e3 * channels)), 1,
                1e-6);
  }
  // A message between two devices can use the whole port.
  Plan pair = make(cluster, {3, 5})->plan(CollectiveKind::SendRecv, 16 << 20);
  EXPECT_NEAR(seconds(pair) / us / (11.7 + (16 << 20) / (22.3e3 * 32)), 1,
              1e-6);
  Plan longer = make(cluster, {3, 5})->plan(CollectiveKind::SendRecv, 1 << 30);
  EXPECT_LE(longer.ceiling, int64_t(713.6 * GB));
}

TEST(Communicator, MessagesBetweenNodes) {
  // Measured between pairs of H100: 18 us.
  Cluster cluster = h100(2);
  Plan plan = make(cluster, {0, 8})->plan(CollectiveKind::SendRecv, 1 << 30);
  EXPECT_NEAR(cost::toSeconds(plan.latency) / us, 18.1, 0.01);
  EXPECT_NEAR(static_cast<double>(plan.ceiling), 46 * GB, 1);
}

TEST(Communicator, RingsAcrossNodesFollowTheFormulas) {
  for (int64_t nodes : {2, 4, 8, 64})
    for (int64_t perNode : {1, 4, 8}) {
      Cluster cluster = h100(nodes);
      std::vector<int64_t> devices;
      for (int64_t node = 0; node < nodes; ++node)
        for (int64_t d = 0; d < perNode; ++d)
          devices.push_back(8 * node + d);
      double n = nodes * perNode, k = n - 1, net = nodes - 1;
      double bytes = 1 << 30;
      double inside = perNode == 1 ? 1e9 : 370.8 * .98; // no hops inside a node
      double w =
          bytes * (k + .32) / n / (1000 * std::min(inside, perNode * 46.));
      double expected = 8.4 + (k - net) * 3.4 + net * 14 + w;
      Plan plan =
          make(cluster, devices)->plan(CollectiveKind::AllGather, 1 << 30);
      EXPECT_EQ(plan.algorithm, Algorithm::Ring);
      EXPECT_EQ(plan.protocol, Protocol::Simple);
      EXPECT_NEAR(seconds(plan) / us / expected, 1, 1e-6)
          << nodes << " " << perNode;
    }
}

TEST(Communicator, OneDevicePerNodeUsesParallelTrees) {
  for (int64_t nodes : {8, 64}) {
    Cluster cluster = h100(nodes);
    double n = nodes, k = n - 1;
    double bytes = 4 << 20;
    double w = bytes * (k + .80) / n / 46e3;
    double trees = 8 + std::log2(n) * 4 + 2.8 * n + w / .75;
    double low = 11 + k * 4 + w / .31, ring = 8.4 + k * 14 + w;
    Plan plan = make(cluster, range(3, 8 * nodes, 8))
                    ->plan(CollectiveKind::ReduceScatter, 4 << 20);
    EXPECT_LT(trees, std::min(low, ring));
    EXPECT_EQ(plan.algorithm, Algorithm::ParallelTrees);
    EXPECT_NEAR(seconds(plan) / us / trees, 1, 1e-4);
    // Long collectives are rings.
    EXPECT_EQ(make(cluster, range(3, 8 * nodes, 8))
                  ->plan(CollectiveKind::ReduceScatter, int64_t(1) << 32)
                  .algorithm,
              Algorithm::Ring);
  }
}

TEST(Communicator, AllReduceAcrossNodesTakesWhatTheLibraryTakes) {
  CollectiveConstants constants = h100Constants();
  constants.inSwitch.reset();
  for (int64_t nodes : {2, 4, 16, 64})
    for (int64_t bytes : {1000, 1 << 20, 16 << 20, 256 << 20, 1 << 30}) {
      Cluster cluster =
          makeCluster(switchedNode(8, 370.8 * GB), constants, nodes);
      double n = 8. * nodes, k = 2 * (n - 1), net = 2. * (nodes - 1);
      double w =
          bytes * (k + .37) / n / (1000 * std::min(370.8 * .97, 8 * 46.));
      double log = std::log2(nodes);
      double ringLow = 11 + (k - net) * 2.9 + net * 4 + w / .31;
      double stretch = bytes >= n / 16 * 65536 ? 1.4 : 1;
      double ring = stretch * (8.4 + (k - net) * 3.4 + net * 14) + w;
      double treeRate =
          std::min(.51 * 370.8, nodes == 2 ? 8 * 46. : 8 * 46. / 2);
      double tree = 8.4 + 2 * (7 * 4 + log * 14) + bytes / (1000 * treeRate);
      double treeLow =
          11 + 2 * (7 * 2.9 + log * 8.5) + bytes / (1000 * treeRate * .31);
      // For its choice, the library counts less than half of the cards for a
      // tree, also between two nodes.
      double counted = std::min(treeRate, .46 * 8 * 46);
      double moreForTree = bytes / (1000 * counted) - bytes / (1000 * treeRate);
      double chosenTree = tree + moreForTree;
      double chosenTreeLow = treeLow + moreForTree / .31;
      double shortest = std::min({ringLow, ring, chosenTree, chosenTreeLow});
      double expected = shortest == ringLow      ? ringLow
                        : shortest == ring       ? ring
                        : shortest == chosenTree ? tree
                                                 : treeLow;
      Plan plan = make(cluster, range(0, 8 * nodes))
                      ->plan(CollectiveKind::AllReduce, bytes);
      EXPECT_NEAR(seconds(plan) / us / expected, 1, 1e-6)
          << nodes << " " << bytes;
      EXPECT_EQ(plan.algorithm,
                std::min(ring, ringLow) <= std::min(chosenTree, chosenTreeLow)
                    ? Algorithm::Ring
                    : Algorithm::Tree);
    }
}

TEST(Communicator, LongAllReducesOfTwoNodesAreRings) {
  // A tree would send the data once, a ring nearly twice.
  CollectiveConstants constants = h100Constants();
  constants.inSwitch.reset();
  Cluster cluster = makeCluster(switchedNode(8, 370.8 * GB), constants, 2);
  Plan plan =
      make(cluster, range(0, 16))->plan(CollectiveKind::AllReduce, 1 << 30);
  EXPECT_EQ(plan.algorithm, Algorithm::Ring);
  Plan brief =
      make(cluster, range(0, 16))->plan(CollectiveKind::AllReduce, 32 << 10);
  EXPECT_EQ(brief.algorithm, Algorithm::Tree);
}

TEST(Communicator, SwitchesAddWithinNodesAndTreesBetweenThem) {
  for (int64_t nodes : {2, 4}) {
    Cluster cluster = h100(nodes);
    double bytes = 1 << 30;
    double w = std::max(bytes * (1 + 1 / 8.) / (370.8e3 * .84),
                        (nodes == 2 ? 1 : 2) * bytes / (8 * 46e3));
    double expected = 55 + 2 * std::log2(nodes) * 20.9 + w + 2.3 * std::sqrt(w);
    Plan plan = make(cluster, range(0, 8 * nodes))
                    ->plan(CollectiveKind::AllReduce, 1 << 30);
    if (nodes == 2)
      EXPECT_EQ(plan.algorithm, Algorithm::InSwitchTree);
    if (plan.algorithm == Algorithm::InSwitchTree)
      EXPECT_NEAR(seconds(plan) / us / expected, 1, 1e-4);
    else
      EXPECT_LT(seconds(plan) / us, expected);
  }
}

TEST(Communicator, ExchangesAcrossNodesAreBoundByNICs) {
  Cluster cluster = h100(4);
  double bytes = 1 << 30, n = 32, p = 8;
  double w =
      std::max(bytes * (p - 1 + .12) / n / 382e3, bytes * (n - p) / n / 46e3);
  double expected =
      36 + 1.1 * (p - 1) * (p - 1) + 2.4 * (n - p) + w + 3.6 * std::sqrt(w);
  Plan plan =
      make(cluster, range(0, 32))->plan(CollectiveKind::AllToAll, 1 << 30);
  EXPECT_NEAR(seconds(plan) / us / expected, 1, 1e-4);
}

TEST(Communicator, ASiteReachesAShareOfItsNICs) {
  for (double share : {0.92, 0.5}) {
    Cluster cluster = h100(4);
    cluster.fabric.efficiency = share;
    double n = 32, k = 31, net = 3, bytes = 1 << 30;
    double w =
        bytes * (k + .32) / n / (1000 * std::min(370.8 * .98, 8 * 50 * share));
    Plan plan =
        make(cluster, range(0, 32))->plan(CollectiveKind::AllGather, 1 << 30);
    EXPECT_NEAR(seconds(plan) / us / (8.4 + (k - net) * 3.4 + net * 14 + w), 1,
                1e-6);
    Plan message =
        make(cluster, {0, 8})->plan(CollectiveKind::SendRecv, 1 << 30);
    EXPECT_NEAR(static_cast<double>(message.ceiling), 50 * share * GB, 1);
  }
}

TEST(Communicator, SoftwareMayMakeMembersWaitForEachOther) {
  Cluster plain = h100(2), slow = h100(2);
  slow.kinds[0].collectives.synchronisation = 1250 * us;
  for (int kind = 0; kind <= int(CollectiveKind::Shift); ++kind)
    for (int64_t last : {8, 16}) {
      auto plan = [&](const Cluster &cluster) {
        return make(cluster, range(0, last))
            ->plan(CollectiveKind(kind), 16 << 20);
      };
      bool isMessage = CollectiveKind(kind) == CollectiveKind::Permute ||
                       CollectiveKind(kind) == CollectiveKind::Shift ||
                       CollectiveKind(kind) == CollectiveKind::SendRecv;
      EXPECT_EQ(plan(slow).latency - plan(plain).latency,
                isMessage ? 0 : cost::fromSeconds(1250 * us));
      EXPECT_EQ(plan(slow).ceiling, plan(plain).ceiling);
      EXPECT_EQ(plan(slow).volume, plan(plain).volume);
    }
  // A group of one device does not communicate and waits for no member.
  EXPECT_EQ(make(slow, {3})->plan(CollectiveKind::AllReduce, 8).latency, 0);
}

TEST(Communicator, LongMessagesReachAShareOfThePort) {
  Cluster cluster = h100(2);
  cluster.kinds[0].collectives.messageEfficiency = 0.8;
  auto time = [&](int64_t to, int64_t bytes) {
    return seconds(
               make(cluster, {0, to})->plan(CollectiveKind::SendRecv, bytes)) /
           us;
  };
  EXPECT_NEAR(time(1, 1 << 30) / (7.6 + (1 << 30) / (370.8e3 * .8)), 1, 1e-6);
  // Between nodes, the NIC is the limit.
  EXPECT_NEAR(time(8, 1 << 30) / (18.1 + (1 << 30) / 46e3), 1, 1e-5);
}

TEST(Communicator, FabricLatencyCountsPerStep) {
  Cluster near = h100(4), far = h100(4);
  addLeafAndSpine(far, 1, 4, false);
  far.fabric.latency = 2 * us;
  far.fabric.levels[0].latency = 0.5 * us;
  far.fabric.levels[1].latency = 1 * us;
  auto latency = [](const Cluster &cluster) {
    Plan plan =
        make(cluster, range(0, 32))->plan(CollectiveKind::AllGather, 1 << 30);
    return cost::toSeconds(plan.latency) / us;
  };
  EXPECT_NEAR(latency(far) - latency(near), 3 * (2 + 2 * 0.5 + 1), 1e-3);
}

TEST(Communicator, NothingToDoTakesNoTime) {
  Cluster cluster = h100();
  for (int kind = 0; kind <= int(CollectiveKind::Shift); ++kind) {
    Plan one = make(cluster, {3})->plan(CollectiveKind(kind), 1 << 20);
    EXPECT_EQ(one.algorithm, Algorithm::None);
    EXPECT_EQ(one.alone(), 0);
    Plan empty = make(cluster, {3, 4})->plan(CollectiveKind(kind), 0);
    EXPECT_EQ(empty.algorithm, Algorithm::None);
    EXPECT_EQ(empty.alone(), 0);
    EXPECT_EQ(empty.loads, nullptr);
  }
}

TEST(Communicator, TheSlowestKindOfNodeDecides) {
  Cluster mixed = h100(1);
  Cluster old =
      makeCluster(switchedNode(8, 240 * GB, 25 * GB), a100Constants(), 1);
  mixed.kinds.push_back(old.kinds[0]);
  mixed.nodes.push_back({1, 1});
  Cluster fast = h100(2);
  old.nodes[0].count = 2;
  auto time = [](const Cluster &cluster) {
    return seconds(
        make(cluster, range(0, 16))->plan(CollectiveKind::AllGather, 1 << 30));
  };
  EXPECT_GT(time(mixed), 1.5 * time(fast));
  EXPECT_NEAR(time(mixed) / time(old), 1, 1e-6);
}
