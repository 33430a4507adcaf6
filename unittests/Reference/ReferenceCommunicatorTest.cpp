//===- ReferenceCommunicatorTest.cpp - the reference's costs as flows -----===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Reference/Costs/ReferenceCommunicator.h"
#include "ReferenceFiles.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace llvm;
using namespace proteus;
using namespace proteus::net;
using cost::CollectiveKind;

namespace {

std::shared_ptr<const machine::Cluster> preset(StringRef name) {
  return std::make_shared<const machine::Cluster>(
      cantFail(machine::parseClusterPreset(name)));
}

class Parity {
public:
  explicit Parity(StringRef name)
      : cluster(preset(name)),
        network(cantFail(ReferenceNetwork::create(
            cluster, cantFail(parseReferenceConstants(
                         embeddedReferenceConstants(), "constants.json"))))),
        model({cluster->name, cluster->kindOf(0).graph, cluster->numNodes(),
               cluster->devicesPerNode()},
              readConstants()) {}

  std::unique_ptr<Communicator> communicator(ArrayRef<int64_t> devices) {
    return cantFail(network->createCommunicator(devices));
  }

  /// Returns the share of its ceiling that each of `groups` has if all run at
  /// once. The most loaded link determines it.
  double share(std::vector<std::vector<int64_t>> groups) {
    std::map<LinkId, double> sum;
    for (const std::vector<int64_t> &group : groups) {
      auto c = communicator(group);
      Plan plan = c->plan(CollectiveKind::AllReduce, 1 << 20);
      for (const LinkLoad &load : plan.listLoads())
        sum[load.link] += double(load.load) / loadUnit * plan.ceiling /
                          capacityOf(*cluster, load.link);
    }
    double worst = 0;
    for (auto [link, load] : sum)
      worst = std::max(worst, load);
    return std::min(1.0, 1 / worst);
  }

  std::shared_ptr<const machine::Cluster> cluster;
  std::shared_ptr<ReferenceNetwork> network;
  ReferenceModel model; ///< separate from that of the machine
};

std::vector<int64_t> first(int64_t count) {
  std::vector<int64_t> devices(count);
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

struct Kind {
  CollectiveKind ours;
  ReferenceKind original;
  bool perMember = false;
};
constexpr Kind kinds[] = {
    {CollectiveKind::AllReduce, ReferenceKind::AllReduce},
    {CollectiveKind::AllGather, ReferenceKind::AllGather},
    {CollectiveKind::ReduceScatter, ReferenceKind::ReduceScatter},
    {CollectiveKind::Broadcast, ReferenceKind::Broadcast},
    {CollectiveKind::AllToAll, ReferenceKind::AllToAll, true},
    {CollectiveKind::Scatter, ReferenceKind::Scatter, true},
    {CollectiveKind::Gather, ReferenceKind::Gather, true},
    {CollectiveKind::Shift, ReferenceKind::PointToPoint},
    {CollectiveKind::Permute, ReferenceKind::PointToPoint},
    {CollectiveKind::SendRecv, ReferenceKind::PointToPoint},
};

TEST(ReferenceCommunicator, AloneCostsWhatTheModelSays) {
  for (StringRef name : {"titanxp-pcie", "gtx1080-pcie:2", "dgx1-v100:4"}) {
    Parity parity(name);
    for (std::vector<int64_t> group :
         std::vector<std::vector<int64_t>>{{0, 1},
                                           {0, 2},
                                           {3, 5},
                                           first(4),
                                           first(8),
                                           {0, 4, 8, 12},
                                           first(16)}) {
      if (group.back() >= parity.cluster->numDevices())
        continue;
      auto communicator = parity.communicator(group);
      for (const Kind &kind : kinds)
        for (int64_t bytes : {1LL << 10, 24LL << 20}) {
          Plan plan = communicator->plan(kind.ours, bytes);
          double volume = double(bytes) / (kind.perMember ? group.size() : 1);
          double expected = parity.model.milliseconds(
              kind.original, parity.model.group(group), volume);
          EXPECT_NEAR(plan.alone() * 1e-9, expected, expected * 1e-6)
              << name.str() << ", " << group.size() << " ranks, "
              << stringify(kind.ours).str() << " of " << bytes;
        }
      // No link keeps the group below its ceiling.
      EXPECT_EQ(parity.share({group}), 1) << name.str() << " " << group.size();
    }
  }
}

TEST(ReferenceCommunicator, TwoGroupsOnOneWayHaveHalfOfIt) {
  Parity titan("titanxp-pcie");
  // Pairs under one socket that share the links up from their switches.
  EXPECT_NEAR(titan.share({{0, 2}, {1, 3}}), 0.5, 1e-4);
  // Groups on the other socket or under other switches share no link.
  EXPECT_EQ(titan.share({{0, 2}, {4, 6}}), 1);
  EXPECT_EQ(titan.share({{0, 1}, {2, 3}}), 1);
  // All groups share one NIC.
  Parity gtx("gtx1080-pcie:2");
  EXPECT_NEAR(gtx.share({{0, 8}, {1, 9}}), 0.5, 1e-4);
  EXPECT_NEAR(gtx.share({{0, 8}, {1, 9}, {2, 10}}), 1.0 / 3, 1e-4);
  // Each group has its own NVLinks.
  Parity volta("dgx1-v100");
  EXPECT_EQ(volta.share({{0, 3}, {1, 2}}), 1);
}

TEST(ReferenceCommunicator, OneMemberHasNothingToDo) {
  Parity titan("titanxp-pcie");
  Plan plan = titan.communicator({3})->plan(CollectiveKind::AllReduce, 1 << 20);
  EXPECT_EQ(plan.algorithm, Algorithm::None);
  EXPECT_EQ(plan.alone(), 0);
}

TEST(ReferenceCommunicator, SaysWhatTheOriginalDoesNotKnow) {
  auto errorOn = [](StringRef name) {
    auto network = ReferenceNetwork::create(preset(name), readConstants());
    return network ? "" : toString(network.takeError());
  };
  EXPECT_EQ(errorOn("dgx-h100"),
            "fidelity=paper cannot run on the cluster 'dgx-h100': its devices "
            "are connected by NVSwitches, for which the reference has no "
            "rules; use fidelity=flow");
  EXPECT_EQ(errorOn("dgx1-v100"), "");

  Parity titan("titanxp-pcie");
  EXPECT_EQ(toString(titan.network->createCommunicator({0, 8}).takeError()),
            "device 8 is not in the cluster 'titanxp-pcie', which has 8");
  EXPECT_EQ(toString(titan.network->createCommunicator({0, 0}).takeError()),
            "device 0 is twice in a group");
}

} // namespace
