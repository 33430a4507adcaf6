//===- Packing.cpp - packing of rings onto links --------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A depth-first search that adds one ring after another and keeps the best set
// of rings. The search has a budget of steps instead of a time limit, so that
// its result is the same on every machine.
//
//===----------------------------------------------------------------------===//

#include "Packing.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace llvm;
using namespace proteus::net;

// Budgets of steps of one search. A search for equal rings succeeds quickly if
// such rings exist. A search for different rings takes longer. A search that
// begins with a ring in bus order, which is the order of the device numbers,
// has a budget of its own.
static constexpr int32_t stepsForEqual = 1 << 10;
static constexpr int32_t stepsForDifferent = 1 << 12;
static constexpr int32_t stepsInBusOrder = 1 << 10;

PackingSearch::PackingSearch(const PathTable &table) : table(table) {
  used.assign(table.numDevices(), false);
  state.order.resize(size_t(maxChannels) * table.numDevices());
  state.enter.resize(maxChannels);
  state.leave.resize(maxChannels);

  // Sort the neighbours of each device: the widest route first, then the fewest
  // hops, then the next higher number, with 0 after the last number. For
  // example, device 2 of 4 has the neighbours 3, 0, 1.
  uint32_t count = table.numDevices();
  neighbours.resize(count);
  for (uint32_t from = 0; from < count; ++from) {
    for (uint32_t to = 0; to < count; ++to)
      if (to != from && table.between(from, to).width > 0)
        neighbours[from].push_back(to);
    llvm::sort(neighbours[from], [&](uint32_t a, uint32_t b) {
      auto key = [&](uint32_t to) {
        const Path &path = table.between(from, to);
        return std::tuple(-path.width, path.hops, (to + count - from) % count);
      };
      return key(a) < key(b);
    });
  }

  // Rings start at the NICs with the widest route to a device, the nearest
  // first. Equally near NICs are rotated by the number of the first device, so
  // that groups with different first devices start at different NICs.
  Rate widest = 0;
  for (uint32_t n = 0; n < table.numNICs(); ++n)
    for (uint32_t d = 0; d < table.numDevices(); ++d)
      widest = std::max(widest, table.fromNIC(n, d).width);
  std::vector<std::pair<uint32_t, uint32_t>> byDistance; // hops, NIC
  for (uint32_t n = 0; n < table.numNICs() && widest > 0; ++n) {
    uint32_t hops = ~0u;
    for (uint32_t d = 0; d < table.numDevices(); ++d)
      if (table.fromNIC(n, d).width == widest)
        hops = std::min(hops, table.fromNIC(n, d).hops);
    if (hops != ~0u)
      byDistance.push_back({hops, n});
  }
  llvm::sort(byDistance);
  for (auto *begin = byDistance.data(), *end = begin + byDistance.size();
       begin != end;) {
    auto *next = std::find_if(begin, end, [&](const auto &entry) {
      return entry.first != begin->first;
    });
    size_t count = next - begin, first = table.device(0).index % count;
    for (size_t i = 0; i < count; ++i)
      startNICs.push_back(begin[(first + i) % count].second);
    begin = next;
  }
}

bool PackingSearch::run(const PackingRules &rules, Packing &result) {
  state.rules = rules;
  state.channels = state.hops = 0;
  best = &result;
  left.assign(table.capacities().begin(), table.capacities().end());
  portLeft.clear();
  for (uint32_t n = 0; n < table.numNICs(); ++n)
    portLeft.push_back(table.portRate(n));
  for (unsigned s = 0; s < numShares; ++s)
    amount[s] = std::llround(rules.speed * factorOf(Share(s)));
  steps = rules.equalChannels ? stepsForEqual : stepsForDifferent;
  complete = false;
  nextRing();
  return complete;
}

bool PackingSearch::spendStep() {
  if (complete || steps <= 0)
    return false;
  --steps;
  ++taken;
  return true;
}

/// Subtracts the load of one ring from the capacities of a route's links and
/// returns true. If a link has too little capacity, or if the class of the
/// route is worse than `allowed`, changes nothing and returns false.
bool PackingSearch::take(const Path &path, PathClass allowed) {
  if (path.width == 0 || path.kind > allowed)
    return false;
  ArrayRef<Load> loads = table.loads(path);
  for (size_t i = 0; i < loads.size(); ++i) {
    Rate need = amount[unsigned(loads[i].share)];
    if (left[loads[i].link] < need) {
      for (size_t k = 0; k < i; ++k)
        left[loads[k].link] += amount[unsigned(loads[k].share)];
      return false;
    }
    left[loads[i].link] -= need;
  }
  state.hops += path.hops;
  return true;
}

void PackingSearch::giveBack(const Path &path) {
  for (const Load &load : table.loads(path))
    left[load.link] += amount[unsigned(load.share)];
  state.hops -= path.hops;
}

void PackingSearch::nextRing() {
  if (table.numNICs() > 0)
    startAtNICs();
  else
    startInNode();
}

void PackingSearch::startInNode() {
  if (state.channels == 0)
    tryStart(0, Order::Bus);
  else
    tryStart(state.order[(state.channels - 1) * table.numDevices()],
             Order::Repeat);
  if (state.channels > 0 && state.rules.equalChannels)
    return;
  for (uint32_t d = 0; d < table.numDevices(); ++d)
    tryStart(d, Order::Free);
}

bool PackingSearch::sameCard(uint32_t a, uint32_t b) const {
  return a == b || (!table.nic(a).guid.empty() &&
                    table.nic(a).guid == table.nic(b).guid &&
                    table.nic(a).port == table.nic(b).port);
}

void PackingSearch::startAtNICs() {
  // The load of a ring on a port is rounded down to whole GB/s. Rings slower
  // than 1 GB/s therefore do not load the port.
  Rate given = state.rules.speed / 1000 * 1000;
  for (uint32_t nic : startNICs) {
    if (portLeft[nic] < given)
      continue;
    for (uint32_t n = 0; n < table.numNICs(); ++n)
      if (sameCard(n, nic))
        portLeft[n] -= given;
    state.enter[state.channels] = nic;
    startAtNIC(nic);
    for (uint32_t n = 0; n < table.numNICs(); ++n)
      if (sameCard(n, nic))
        portLeft[n] += given;
  }
}

void PackingSearch::startAtNIC(uint32_t nic) {
  auto start = [&](uint32_t device, Order order) {
    const Path &path = table.fromNIC(nic, device);
    if (!take(path, state.rules.inter))
      return;
    tryStart(device, order);
    giveBack(path);
  };
  if (state.channels > 0)
    start(state.order[(state.channels - 1) * table.numDevices()],
          Order::Repeat);
  if (state.channels > 0 && state.rules.equalChannels)
    return;
  if (state.channels == 0) {
    // First try a ring in bus order, to have a result that the free search can
    // improve. This attempt has a budget of its own, so that the free search
    // keeps its whole budget.
    int32_t saved = std::exchange(steps, stepsInBusOrder);
    start(0, Order::Bus);
    steps = saved;
  }
  Rate widest = 0;
  uint32_t nearest = ~0u;
  for (uint32_t d = 0; d < table.numDevices(); ++d) {
    const Path &path = table.fromNIC(nic, d);
    if (std::tuple(-path.width, path.hops) < std::tuple(-widest, nearest))
      std::tie(widest, nearest) = std::tuple(path.width, path.hops);
  }
  for (uint32_t d = 0; d < table.numDevices(); ++d) {
    const Path &path = table.fromNIC(nic, d);
    if (path.width == widest && path.hops == nearest)
      start(d, Order::Free);
  }
}

void PackingSearch::tryStart(uint32_t device, Order order) {
  used[device] = true;
  visit(device, 0, order);
  used[device] = false;
}

void PackingSearch::visit(uint32_t device, uint32_t step, Order order) {
  if (!spendStep())
    return;
  place(step) = device;
  uint32_t numDevices = table.numDevices();
  if (step + 1 == numDevices) {
    if (table.numNICs() > 0)
      leaveByNIC(device);
    else
      closeRing(device);
    return;
  }
  switch (order) {
  case Order::Bus:
    tryNext(device, step + 1, step + 1, order);
    return;
  case Order::Repeat:
    tryNext(device, state.order[(state.channels - 1) * numDevices + step + 1],
            step + 1, order);
    return;
  case Order::Free:
    for (uint32_t next : neighbours[device])
      if (!used[next])
        tryNext(device, next, step + 1, order);
    return;
  }
}

void PackingSearch::tryNext(uint32_t from, uint32_t to, uint32_t step,
                            Order order) {
  const Path &path = table.between(from, to);
  if (!take(path, state.rules.intra))
    return;
  used[to] = true;
  visit(to, step, order);
  used[to] = false;
  giveBack(path);
}

void PackingSearch::closeRing(uint32_t last) {
  uint32_t first = place(0);
  if (first == last) // a ring of one device has no link
    return finishRing();
  const Path &path = table.between(last, first);
  if (!take(path, state.rules.intra))
    return;
  finishRing();
  giveBack(path);
}

void PackingSearch::leaveByNIC(uint32_t last) {
  uint32_t enter = state.enter[state.channels];
  for (uint32_t n = 0; n < table.numNICs(); ++n) {
    if (!state.rules.crossNIC && !sameCard(n, enter))
      continue;
    const Path &path = table.toNIC(last, n);
    if (!take(path, state.rules.inter))
      continue;
    state.leave[state.channels] = n;
    finishRing();
    giveBack(path);
  }
}

void PackingSearch::finishRing() {
  if (!spendStep())
    return;
  ++state.channels;
  bool better =
      state.bandwidth() > best->bandwidth() ||
      (state.bandwidth() == best->bandwidth() &&
       state.rules.crossNIC == best->rules.crossNIC && state.hops < best->hops);
  if (better) {
    *best = state;
    complete = state.channels == maxChannels;
  }
  if (state.channels < maxChannels) {
    // The next ring may use the devices of the finished ring.
    std::vector<bool> onRing(table.numDevices(), false);
    used.swap(onRing);
    nextRing();
    used.swap(onRing);
  }
  --state.channels;
}
