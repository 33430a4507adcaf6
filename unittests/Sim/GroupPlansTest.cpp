//===- GroupPlansTest.cpp - plans that groups share -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Sim/GroupPlans.h"

#include "gtest/gtest.h"

#include <numeric>
#include <random>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

namespace {

/// A mesh on nodes of 8, with groups along its axes that run all kinds of
/// collectives.
struct Job {
  machine::Cluster cluster;
  FoldingRequest request{cluster, {}, {}, {}, {}, {}};
  int made = 0; ///< number of communicators

  Job(int64_t nodes, std::vector<int64_t> sizes) {
    cluster = cantFail(
        machine::parseClusterPreset("dgx-h100:" + std::to_string(nodes)));
    request.mesh.sizes = std::move(sizes);
    request.coloured.assign(request.mesh.sizes.size(), false);
    request.createCommunicator = [this](ArrayRef<int64_t> devices) {
      ++made;
      return net::Communicator::create(cluster, devices);
    };
  }
  void addFamily(std::vector<unsigned> axes, std::vector<int64_t> places = {}) {
    GroupFamily family{std::move(axes), std::move(places), {}};
    for (int kind = 0; kind <= int(cost::CollectiveKind::Shift); ++kind)
      for (int64_t bytes : {1000, 100000000})
        family.collectives.push_back({cost::CollectiveKind(kind), bytes});
    request.families.push_back(std::move(family));
  }
};

/// Returns the figures of a plan with its loads moved to the group's devices.
std::vector<int64_t> figuresOf(const net::Plan &plan, int64_t from, int64_t to,
                               const Translations &translations) {
  std::vector<int64_t> figures = {int(plan.algorithm), int(plan.protocol),
                                  plan.latency,        plan.volume,
                                  plan.ceiling,        plan.channels};
  for (const net::LinkLoad &load : plan.listLoads()) {
    net::LinkId link = translations.movedLink(load.link, from, to);
    figures.insert(figures.end(),
                   {link.level, link.port, link.unit, load.load});
  }
  return figures;
}

/// Compares the plans of all groups with those of separate communicators.
void expectOwnPlans(Job &job) {
  const FoldingRequest &request = job.request;
  Translations translations(request);
  GroupPlans plans(request, translations);
  for (unsigned f = 0; f < request.families.size(); ++f)
    for (int64_t first = 0; first < request.mesh.numRanks(); ++first) {
      const GroupFamily &family = request.families[f];
      std::vector<int64_t> own = request.mesh.coordinatesOf(first);
      if (any_of(family.axes, [&](unsigned axis) { return own[axis] != 0; }))
        continue;
      std::vector<int64_t> devices;
      for (int64_t offset : plans.offsetsOf(f))
        devices.push_back(request.mesh.deviceAt(first + offset));
      auto group = net::Communicator::create(job.cluster, devices);
      Expected<const GroupPlan *> found = plans.find(f, first);
      ASSERT_EQ(bool(group), bool(found));
      if (!group) {
        EXPECT_EQ(toString(group.takeError()), toString(found.takeError()));
        break; // as folding does
      }
      int64_t device = plans.deviceOf(f, first);
      for (auto [c, collective] : enumerate(family.collectives)) {
        net::Plan plan = (*group)->plan(collective.kind, collective.bytes);
        ASSERT_EQ(figuresOf((*found)->plans[c], (*found)->device, device,
                            translations),
                  figuresOf(plan, 0, 0, translations))
            << "family " << f << " at " << first << " collective " << c;
      }
    }
}

TEST(GroupPlans, EveryGroupHasItsOwnPlansAndLinks) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE(trial);
    std::vector<int64_t> sizes;
    for (int axis = 0; axis < 3; ++axis)
      sizes.push_back(1 + random() % 6);
    int64_t ranks = sizes[0] * sizes[1] * sizes[2];
    int64_t base = random() % 3 == 0 ? random() % 20 : 0;
    Job job((ranks + base + 7) / 8 + random() % 3, sizes);
    machine::Fabric &fabric = job.cluster.fabric;
    fabric.rails = random() % 2;
    fabric.levels.clear();
    bool isFast = random() % 3 == 0; // no oversubscription and no latency
    for (int level = random() % 4; level-- > 0;)
      fabric.levels.push_back({"level", int64_t(1 + random() % 4),
                               !isFast && random() % 3 ? 1.5 : 1.0,
                               isFast || random() % 3 ? 0 : 1e-7});
    // In most cases, add a level that spans all nodes.
    if (!fabric.levels.empty() && random() % 4)
      fabric.levels.back().span = 1000;
    if (base) {
      job.request.mesh.devices.resize(ranks);
      std::iota(job.request.mesh.devices.begin(),
                job.request.mesh.devices.end(), base);
      if (random() % 4 == 0)
        std::swap(job.request.mesh.devices[0],
                  job.request.mesh.devices[random() % ranks]);
    }
    for (unsigned axis = 0; axis < 3; ++axis)
      if (sizes[axis] > 1)
        job.addFamily({axis});
    if (sizes[1] * sizes[2] > 1)
      job.addFamily({2, 1});
    if (sizes[1] > 1)
      job.addFamily({1}, {sizes[1] - 1, 0});
    expectOwnPlans(job);
  }
}

TEST(GroupPlans, AGroupAcrossTopmostSwitchesDoesNotShareAPlan) {
  // Nodes 0 to 2 are under one switch of 4 nodes, nodes 3 to 5 under two.
  Job job(6, {2, 3, 8});
  job.cluster.fabric.levels = {{"leaf", 4, 1, 0}};
  job.addFamily({1});
  expectOwnPlans(job);
  EXPECT_EQ(job.made, 8 + 1);
}

TEST(GroupPlans, GroupsThatAreMovedByNodesShareOne) {
  // dp 64, pp 8, tp 8: groups along dp differ only in their position in the
  // node.
  Job job(512, {64, 8, 8});
  job.addFamily({0});
  job.addFamily({2});
  Translations translations(job.request);
  GroupPlans plans(job.request, translations);
  for (int64_t first = 0; first < 64; ++first)
    ASSERT_TRUE(bool(plans.find(0, first)));
  EXPECT_EQ(job.made, 8);
  for (int64_t first = 0; first < 64 * 64; first += 8)
    ASSERT_TRUE(bool(plans.find(1, first)));
  EXPECT_EQ(job.made, 8 + 1);
}

} // namespace
