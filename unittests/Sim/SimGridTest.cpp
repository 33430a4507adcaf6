//===- SimGridTest.cpp - rates of flows against SimGrid -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the rates of FlowNetwork with those of SimGrid, which has a max-min
// solver of its own, for random links and flows. SimGrid runs its plain fluid
// model: no latencies, no cross-traffic, no factors on bandwidths, and no
// limits by windows of TCP. A flow of SimGrid is a communication between two
// hosts of its own, and its links are the route between them. A link that a
// flow loads n-fold is n times in the route. The ceiling is one more link,
// which only this flow uses.
//
// SimGrid computes in floating point, FlowNetwork in whole bytes/s. FlowNetwork
// rounds a rate down whenever flows stop, which leaves less than one byte/s per
// flow and unit of load to flows that stop later. The rates may therefore
// differ by the largest sum of loads on a link, which is below 100 bytes/s
// here, while rates are 1e8 to 1e12 bytes/s.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Sim/FlowNetwork.h"
#include "TestWorkloads.h"

#include <simgrid/s4u.hpp>

#include <cmath>
#include <map>
#include <random>

using namespace proteus::sim;
using namespace proteus::sim::test;
namespace s4u = simgrid::s4u;

namespace {

constexpr int numCases = 200;
/// Duration of the measurement in seconds of SimGrid.
constexpr double duration = 1;
/// Bytes of a communication; more than any flow moves in the measurement.
constexpr double volume = 1e14;

/// Random links and flows.
struct Case : Builder {
  struct Flow {
    int64_t ceiling;
    /// Number of times that the flow loads each of its links.
    std::map<uint32_t, int64_t> links;
  };

  explicit Case(unsigned seed) : random(seed) {
    uint32_t numLinks = between(1, 10);
    int64_t numFlows = between(1, 20);
    // Few different numbers make links and flows that are full together.
    bool coarse = between(0, 1);
    auto bandwidth = [&](int64_t most) {
      return coarse ? between(1, 10) * (most / 10) : between(most / 1000, most);
    };
    for (uint32_t l = 0; l < numLinks; ++l)
      link(bandwidth(1'000'000'000'000));
    for (int64_t f = 0; f < numFlows; ++f) {
      Flow flow{bandwidth(1'000'000'000'000), {}};
      for (int64_t l = between(1, std::min<int64_t>(numLinks, 5)); l > 0; --l)
        flow.links[between(0, numLinks - 1)] =
            between(0, 2) ? 1 : between(2, 3);
      proteus::sim::Flow ours;
      ours.volume = 1;
      ours.ceiling = flow.ceiling;
      for (auto [l, times] : flow.links)
        ours.loads.push_back({l, times * loadUnit});
      this->flow({0}, ours);
      flows.push_back(std::move(flow));
    }
    for (uint32_t f = 0; f < flows.size(); ++f) {
      all.push_back(f);
      if (between(0, 1))
        left.push_back(f);
    }
  }
  int64_t between(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  }

  std::mt19937_64 random;
  std::vector<Flow> flows;
  /// All flows, and those that are left when the others stop.
  std::vector<uint32_t> all, left;
};

/// Returns the rates of the flows of a case: those of all, and then those of
/// the flows that are left when others have stopped.
std::vector<double> ratesOfFlowNetwork(const Case &input) {
  FlowNetwork network(input.workload, /*share=*/true);
  std::vector<double> rates;
  for (uint32_t f : input.all)
    network.start(f, input.flows[f].ceiling);
  (void)network.settle();
  for (uint32_t f : input.all)
    rates.push_back(static_cast<double>(network.rate(f)));
  for (uint32_t f : input.all)
    if (!llvm::is_contained(input.left, f))
      network.stop(f);
  (void)network.settle();
  for (uint32_t f : input.left)
    rates.push_back(static_cast<double>(network.rate(f)));
  return rates;
}

/// One simulation of SimGrid with all cases. SimGrid can build one platform per
/// process, so every case has links and hosts of its own: once for all flows,
/// and once for those that are left.
class Platform {
public:
  Platform() {
    static int numWords = 2;
    static char name[] = "ProteusSimGridTests";
    static char quiet[] = "--log=root.threshold:warning";
    static char *words[] = {name, quiet, nullptr};
    engine = std::make_unique<s4u::Engine>(&numWords, words);
    for (const char *setting :
         {"network/model:CM02", "network/crosstraffic:0",
          "network/latency-factor:1", "network/bandwidth-factor:1",
          "network/weight-S:0", "network/TCP-gamma:0", "maxmin/precision:1e-9"})
      s4u::Engine::set_config(setting);
    zone = s4u::create_full_zone("world");
  }

  /// Adds the links of a case and some of its flows.
  void add(const Case &input, llvm::ArrayRef<uint32_t> flows) {
    std::vector<s4u::Link *> links;
    for (const LinkClass &link : input.workload.links)
      links.push_back(addLink(link.capacity));
    for (uint32_t f : flows) {
      std::string name = std::to_string(ends.size());
      s4u::Host *from = zone->create_host("from " + name, 1)->seal();
      s4u::Host *to = zone->create_host("to " + name, 1)->seal();
      std::vector<s4u::LinkInRoute> route{
          s4u::LinkInRoute(addLink(input.flows[f].ceiling))};
      for (auto [l, times] : input.flows[f].links)
        route.insert(route.end(), times, s4u::LinkInRoute(links[l]));
      zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr,
                      nullptr, route, /*symmetrical=*/false);
      ends.emplace_back(from, to);
    }
  }

  /// Returns the rates of all flows in the order in which they were added.
  std::vector<double> run() {
    s4u::Host *driver = zone->create_host("driver", 1)->seal();
    zone->seal();
    std::vector<double> rates;
    s4u::Actor::create("driver", driver, [&] {
      std::vector<s4u::CommPtr> flows;
      for (auto [from, to] : ends)
        flows.push_back(
            s4u::Comm::sendto_async(from, to, static_cast<uint64_t>(volume)));
      s4u::this_actor::sleep_for(duration);
      for (const s4u::CommPtr &flow : flows)
        rates.push_back((volume - flow->get_remaining()) / duration);
      for (const s4u::CommPtr &flow : flows)
        flow->cancel();
    });
    engine->run();
    return rates;
  }

private:
  s4u::Link *addLink(int64_t capacity) {
    std::string name = "link " + std::to_string(numLinks++);
    return zone->create_link(name, static_cast<double>(capacity))
        ->set_latency(0)
        ->seal();
  }

  std::unique_ptr<s4u::Engine> engine;
  s4u::NetZone *zone;
  /// Both ends of every flow.
  std::vector<std::pair<s4u::Host *, s4u::Host *>> ends;
  int numLinks = 0;
};

TEST(SimGrid, HasTheSameRatesOfFlowsThatShareLinks) {
  std::vector<Case> cases;
  Platform platform;
  for (int seed = 0; seed < numCases; ++seed) {
    const Case &input = cases.emplace_back(seed);
    platform.add(input, input.all);
    platform.add(input, input.left);
  }
  std::vector<double> theirs = platform.run();
  auto next = theirs.begin();
  int heldBack = 0;
  double largest = 0;
  for (auto [number, input] : llvm::enumerate(cases))
    for (auto [f, ours] : llvm::enumerate(ratesOfFlowNetwork(input))) {
      ASSERT_NE(next, theirs.end());
      EXPECT_NEAR(ours, *next, 100) << "case " << number << ", rate " << f;
      largest = std::max(largest, std::fabs(ours - *next++));
      heldBack += f < input.all.size() &&
                  ours < static_cast<double>(input.flows[f].ceiling);
    }
  EXPECT_EQ(next, theirs.end());
  RecordProperty("largest_difference", std::to_string(largest));
  // Most flows must share, or the test would not bite.
  EXPECT_GT(heldBack, 5 * numCases);
}

} // namespace
