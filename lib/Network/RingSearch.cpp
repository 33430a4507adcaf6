//===- RingSearch.cpp - rings through one node ----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search packs rings onto links under increasingly lenient rules. It
// consists of nested loops, and each loop relaxes one rule. From the innermost
// to the outermost loop: rings may differ, routes between devices may be worse,
// routes to NICs may be worse, a ring may leave through another NIC than it
// enters, and rings may be slower.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Network/RingSearch.h"
#include "Packing.h"
#include "Paths.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <tuple>

using namespace llvm;
using namespace proteus::net;
using namespace proteus::machine;

/// Speeds of one ring that the search tries inside a node, in MB/s.
static constexpr Rate speedsInNode[] = {44000, 30000, 22000, 18000, 15000,
                                        12000, 10000, 9000,  7000,  6000,
                                        5000,  4000,  3000};
/// Speeds of one ring that the search tries inside a node if all devices have
/// compute capability 9.0 or later, in MB/s. The values are those of NCCL 2.30.
static constexpr Rate speedsOfNewDevices[] = {
    60000, 50000, 40000, 30000, 24000, 20000, 15000, 12000, 11000, 6000, 3000};
/// Speeds of one ring that the search tries for rings across nodes, in MB/s.
static constexpr Rate speedsAcrossNodes[] = {
    48000, 30000, 24000, 22000, 18000, 15000, 12000, 10000, 9000,
    7000,  6000,  5000,  4000,  3000,  2400,  1200,  240,   120};

/// Speed in MB/s of the single ring that is used if the search finds no rings.
static constexpr Rate fallbackSpeed = 100;

/// The search ends at the first speed that is at most this share of the speed
/// of the best rings, because slower rings are unlikely to be better.
static constexpr double slowestShare = 0.49;

/// If all searches together have taken this number of steps, the best rings
/// found so far are accepted. Known machines with eight devices need a tenth of
/// these steps. Without this limit, the search takes very long on irregular
/// machines with thirty devices.
static constexpr int64_t maxSteps = 1 << 20;

static PathClass nextClass(PathClass kind) { return PathClass(int(kind) + 1); }

namespace {
/// Searches for rings under the strictest rules first and then under more
/// lenient rules.
class Relaxation {
public:
  explicit Relaxation(const PathTable &table) : table(table), search(table) {
    for (uint32_t d = 0; d < table.numDevices(); ++d) {
      for (uint32_t other = 0; other < table.numDevices(); ++other)
        between.insert(table.between(d, other).kind);
      for (uint32_t n = 0; n < table.numNICs(); ++n) {
        toNICs.insert(table.fromNIC(n, d).kind);
        toNICs.insert(table.toNIC(d, n).kind);
      }
    }
  }

  Packing run() {
    ArrayRef<Rate> speeds = acrossNodes() ? ArrayRef<Rate>(speedsAcrossNodes)
                            : isNewDevices()
                                ? ArrayRef<Rate>(speedsOfNewDevices)
                                : ArrayRef<Rate>(speedsInNode);
    Rate widest = table.widestFromDevice();
    // A single device without NICs has no route that limits the speed.
    bool bounded = acrossNodes() || table.numDevices() > 1;
    while (bounded && speeds.size() > 1 && speeds.front() > widest)
      speeds = speeds.drop_front();
    for (Rate speed : speeds) {
      if (best.channels > 0 && speed <= slowestShare * best.rules.speed)
        break;
      if (tryNICs(speed))
        break;
    }
    return std::move(best);
  }

private:
  bool acrossNodes() const { return table.numNICs() > 0; }
  bool isNewDevices() const {
    for (uint32_t d = 0; d < table.numDevices(); ++d)
      if (table.device(d).computeCapability < 90)
        return false;
    return true;
  }
  bool isEnough() const {
    return best.channels > 0 && (best.bandwidth() >= table.mostOutOfDevice() ||
                                 search.stepsTaken() > maxSteps);
  }

  /// Records a search under `rules`, and returns true if this search is
  /// useless. A search is useless in two cases. First, it repeats an earlier
  /// search, because no route has one of the newly allowed classes. Second,
  /// even the largest possible number of rings has less bandwidth than the best
  /// rings so far.
  bool isHopeless(const PackingRules &rules) {
    auto worstOf = [](const std::set<PathClass> &existing, PathClass allowed) {
      auto next = existing.upper_bound(allowed);
      return next == existing.begin() ? -1 : int(*std::prev(next));
    };
    bool isNew = searched
                     .insert({rules.speed, rules.crossNIC, rules.equalChannels,
                              worstOf(between, rules.intra),
                              worstOf(toNICs, rules.inter)})
                     .second;
    Rate most = table.mostRings(rules.speed, rules.intra) * rules.speed;
    return !isNew || most < best.bandwidth();
  }

  // Each of the following functions returns true if the search is finished, so
  // that callers try no further rules.
  bool tryNICs(Rate speed) {
    if (tryInterClasses(speed, false))
      return true;
    return table.numNICs() > 1 && tryInterClasses(speed, true);
  }

  bool tryInterClasses(Rate speed, bool crossNIC) {
    for (PathClass inter = PathClass::OneSwitch;; inter = nextClass(inter)) {
      if (tryIntraClasses(speed, crossNIC, inter))
        return true;
      bool widen = best.channels == 0 || inter < best.rules.inter ||
                   inter < PathClass::SomeSwitches;
      if (!acrossNodes() || inter == PathClass::System || !widen)
        return false;
    }
  }

  bool tryIntraClasses(Rate speed, bool crossNIC, PathClass inter) {
    PathClass worst = acrossNodes() ? inter : PathClass::System;
    PathClass first =
        table.numDevices() == 1 ? PathClass::Local : PathClass::NVLink;
    for (PathClass intra = first;; intra = nextClass(intra)) {
      for (bool equal : {true, false}) {
        PackingRules rules{speed, intra, inter, equal, crossNIC};
        if (isHopeless(rules))
          continue;
        if (search.run(rules, best) || isEnough())
          return true;
      }
      bool widen = best.channels == 0 || intra < best.rules.intra;
      if (intra >= worst || !widen)
        return false;
    }
  }

  const PathTable &table;
  PackingSearch search;
  Packing best;
  std::set<PathClass> between, toNICs; ///< classes of existing routes
  std::set<std::tuple<Rate, bool, bool, int, int>> searched;
};
} // namespace

static void addLoads(const PathTable &table, const Path &path,
                     uint32_t numLinks, std::map<uint32_t, double> &loads) {
  for (const Load &load : table.loads(path))
    if (load.link < numLinks) // not the ports of NICs
      loads[load.link] += factorOf(load.share);
}

static RingChannel describe(const PathTable &table, const Packing &packing,
                            uint32_t channel, uint32_t numLinks) {
  RingChannel ring;
  uint32_t count = table.numDevices();
  ArrayRef<uint32_t> order =
      ArrayRef(packing.order).slice(size_t(channel) * count, count);
  std::map<uint32_t, double> loads;
  for (uint32_t i = 0; i < count; ++i) {
    ring.order.push_back(table.device(order[i]).index);
    if (i + 1 < count)
      addLoads(table, table.between(order[i], order[i + 1]), numLinks, loads);
  }
  if (table.numNICs() > 0) {
    uint32_t enter = packing.enter[channel], leave = packing.leave[channel];
    ring.enter = table.nic(enter).index;
    ring.leave = table.nic(leave).index;
    addLoads(table, table.fromNIC(enter, order.front()), numLinks, loads);
    addLoads(table, table.toNIC(order.back(), leave), numLinks, loads);
  } else if (count > 1) {
    addLoads(table, table.between(order.back(), order.front()), numLinks,
             loads);
  }
  ring.loads.assign(loads.begin(), loads.end());
  return ring;
}

/// Returns one slow ring through the devices in the order of their numbers,
/// without regard to the capacity of links.
static Packing fallback(const PathTable &table) {
  Packing packing;
  packing.rules.speed = fallbackSpeed;
  packing.rules.intra = packing.rules.inter = PathClass::System;
  packing.channels = 1;
  for (uint32_t d = 0; d < table.numDevices(); ++d)
    packing.order.push_back(d);
  packing.enter = packing.leave = {0};
  return packing;
}

RingSet proteus::net::findRings(const NodeGraph &graph,
                                ArrayRef<uint32_t> local, bool acrossNodes) {
  RingSet set;
  if (local.empty())
    return set;
  PathTable table(graph, local, acrossNodes);
  assert(table.numDevices() == local.size() && "devices must be in the node");
  Packing packing;
  // Rings across nodes need a NIC.
  if (!acrossNodes || table.numNICs() > 0)
    packing = Relaxation(table).run();
  if (packing.channels == 0)
    packing = fallback(table);

  set.speed = packing.rules.speed * 1e6;
  set.intra = packing.rules.intra;
  if (acrossNodes)
    set.inter = packing.rules.inter;
  set.crossNIC = packing.rules.crossNIC;
  for (uint32_t c = 0; c < packing.channels; ++c)
    set.channels.push_back(describe(table, packing, c, graph.links.size()));
  set.equalChannels = llvm::all_of(set.channels, [&](const RingChannel &ring) {
    return ring.order == set.channels.front().order;
  });
  return set;
}
