//===- FlowNetwork.cpp - flows that share links ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums fit: `check` bounds capacities by 2^46 bytes/s and loads by 2^36, so a
// capacity is below 2^62 in units of bytes/s x loadUnit, a link may carry 2^26
// flows before the sum of their loads reaches that, and what stopped flows use
// never exceeds the capacity. Only demands, at the ceilings, need 128 bits.
//
//===----------------------------------------------------------------------===//

#include "FlowNetwork.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

using namespace llvm;
using namespace proteus::sim;

constexpr uint64_t noLevel = std::numeric_limits<uint64_t>::max();

FlowNetwork::FlowNetwork(const Workload &workload, bool share)
    : share(share), links(workload.links.size()), statuses(links.size()),
      flows(workload.collectives.size()) {
  for (size_t l = 0; l < links.size(); ++l)
    links[l].capacity = workload.links[l].capacity * loadUnit;
  for (uint32_t f = 0; f < flows.size(); ++f) {
    flows[f].firstEntry = entries.size();
    for (const LinkClassLoad &load : workload.collectives[f].flow.loads) {
      entries.push_back({static_cast<uint64_t>(load.load), f, load.link, 0});
      ++links[load.link].first; // a count until offsets are known
    }
    flows[f].lastEntry = entries.size();
  }
  active.resize(entries.size());
  size_t first = 0;
  for (Link &link : links)
    first += std::exchange(link.first, first);
}

uint64_t FlowNetwork::rateAlone(uint32_t flow, uint64_t ceiling) const {
  uint64_t rate = ceiling;
  for (uint32_t e = flows[flow].firstEntry; e < flows[flow].lastEntry; ++e)
    rate = std::min(rate, links[entries[e].link].capacity / entries[e].load);
  return std::max<uint64_t>(rate, 1);
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

/// Sets the ceiling of a flow; 0 if it is not active.
void FlowNetwork::demand(uint32_t index, uint64_t ceiling) {
  Flow &flow = flows[index];
  for (const Entry &entry : entriesOf(flow)) {
    Link &link = links[entry.link];
    link.demand -= Wide(entry.load) * flow.ceiling;
    link.demand += Wide(entry.load) * ceiling;
    statuses[entry.link].isContended = link.isContended();
  }
  flow.ceiling = ceiling;
  if (!std::exchange(flow.dirty, true))
    dirty.push_back(index);
}

void FlowNetwork::start(uint32_t index, uint64_t ceiling) {
  Flow &flow = flows[index];
  flow.active = true;
  flow.rate = 0;
  for (Entry &entry : entriesOf(flow)) {
    Link &link = links[entry.link];
    entry.position = link.numActive++;
    active[link.first + entry.position] = {
        entry.load, index, static_cast<uint32_t>(&entry - entries.data())};
  }
  demand(index, ceiling);
}

void FlowNetwork::stop(uint32_t index) {
  Flow &flow = flows[index];
  flow.active = false;
  for (const Entry &entry : entriesOf(flow)) {
    // The last active entry takes the place; rates do not depend on the order.
    Link &link = links[entry.link];
    const Active &last = active[link.first + --link.numActive];
    entries[last.entry].position = entry.position;
    active[link.first + entry.position] = last;
  }
  demand(index, 0);
}

void FlowNetwork::limit(uint32_t index, uint64_t ceiling) {
  if (flows[index].ceiling != ceiling)
    demand(index, ceiling);
}

//===----------------------------------------------------------------------===//
// The flows that changes concern
//===----------------------------------------------------------------------===//

void FlowNetwork::visit(uint32_t index) {
  if (!std::exchange(flows[index].visited, true))
    componentFlows.push_back(index);
}

/// A link that neither was nor is contended passes no change on.
void FlowNetwork::visitLinksOf(const Flow &flow) {
  for (const Entry &entry : entriesOf(flow)) {
    LinkStatus &status = statuses[entry.link];
    if (status.visited || !(status.wasContended || status.isContended))
      continue;
    status.visited = true;
    componentLinks.push_back(entry.link);
    for (const Active &other : activeOn(links[entry.link]))
      visit(other.flow);
  }
}

void FlowNetwork::collect() {
  componentFlows.clear();
  componentLinks.clear();
  for (uint32_t index : dirty) {
    Flow &flow = flows[index];
    flow.dirty = false;
    if (flow.active)
      visit(index);
    else
      visitLinksOf(flow);
  }
  dirty.clear();
  for (size_t i = 0; i < componentFlows.size(); ++i)
    visitLinksOf(flows[componentFlows[i]]);
}

//===----------------------------------------------------------------------===//
// Filling
//===----------------------------------------------------------------------===//

void FlowNetwork::beginFilling() {
  byCeiling.clear();
  for (uint32_t index : componentFlows) {
    Flow &flow = flows[index];
    flow.visited = false;
    flow.stopped = false;
    byCeiling.emplace_back(flow.ceiling, index);
  }
  llvm::sort(byCeiling);
  fillings.clear();
  levels.clear();
  for (uint32_t index : componentLinks) {
    LinkStatus &status = statuses[index];
    status.visited = false;
    status.wasContended = status.isContended;
    if (!status.isContended)
      continue;
    const Link &link = links[index];
    uint64_t rising = 0;
    for (const Active &flow : activeOn(link))
      rising += flow.load;
    status.filling = fillings.size();
    fillings.push_back({link.capacity, rising, 0, index, false});
    levels.push_back(link.capacity / rising);
  }
}

void FlowNetwork::stopAt(uint32_t index, uint64_t rate) {
  Flow &flow = flows[index];
  if (std::exchange(flow.stopped, true))
    return;
  // A link that carries more flows than bytes per second still moves them.
  flow.next = std::max<uint64_t>(rate, 1);
  if (fillings.empty())
    return;
  for (const Entry &entry : entriesOf(flow)) {
    const LinkStatus &status = statuses[entry.link];
    if (!status.isContended)
      continue;
    Filling &filling = fillings[status.filling];
    filling.rising -= entry.load;
    filling.used += entry.load * flow.next;
    if (!std::exchange(filling.changed, true))
      touched.push_back(status.filling);
  }
}

void FlowNetwork::computeLevel(uint32_t index) {
  Filling &filling = fillings[index];
  filling.changed = false;
  levels[index] = filling.rising == 0 ? noLevel
                  : filling.used < filling.capacity
                      ? (filling.capacity - filling.used) / filling.rising
                      : 0;
}

void FlowNetwork::fill() {
  auto lowest = byCeiling.begin();
  while (true) {
    while (lowest != byCeiling.end() && flows[lowest->second].stopped)
      ++lowest;
    if (lowest == byCeiling.end())
      return;
    uint64_t rate = lowest->first;
    for (uint64_t level : levels)
      rate = std::min(rate, level);
    full.clear();
    for (uint32_t index = 0; index < levels.size(); ++index)
      if (levels[index] == rate)
        full.push_back(index);
    for (; lowest != byCeiling.end() && lowest->first == rate; ++lowest)
      stopAt(lowest->second, rate);
    for (uint32_t index : full)
      fillings[index].holdsBack |= llvm::any_of(
          activeOn(links[fillings[index].link]),
          [&](const Active &active) { return !flows[active.flow].stopped; });
    for (uint32_t index : full)
      for (const Active &flow : activeOn(links[fillings[index].link]))
        stopAt(flow.flow, rate);
    for (uint32_t index : touched)
      computeLevel(index);
    touched.clear();
  }
}

void FlowNetwork::compareLinks() {
  for (uint32_t link : componentLinks) {
    LinkStatus &status = statuses[link];
    bool holdsBack = status.isContended && fillings[status.filling].holdsBack;
    if (std::exchange(status.holdsBack, holdsBack) != holdsBack)
      linksChanged.push_back(link);
  }
  llvm::sort(linksChanged);
}

ArrayRef<uint32_t> FlowNetwork::settle() {
  changed.clear();
  linksChanged.clear();
  if (dirty.empty())
    return changed;
  if (share) {
    collect();
    beginFilling();
    fill();
    compareLinks();
  } else {
    componentFlows.clear();
    for (uint32_t index : dirty) {
      Flow &flow = flows[index];
      flow.dirty = false;
      // A folded flow stands for groups that would meet on its links; the
      // ceiling is what one of them reaches alone.
      flow.next = flow.ceiling;
      if (flow.active)
        componentFlows.push_back(index);
    }
    dirty.clear();
  }
  for (uint32_t index : componentFlows)
    if (flows[index].rate != flows[index].next) {
      flows[index].rate = flows[index].next;
      changed.push_back(index);
    }
  llvm::sort(changed);
  return changed;
}
