//===- FlowNetwork.cpp - flows that share links ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All sums fit into 64 bits except demands, which need 128 bits. `check` limits
// capacities to 2^46 bytes/s and loads to 2^36. A capacity in units of bytes/s
// x loadUnit is therefore at most 2^62, and so is the sum of the loads of up to
// 2^26 flows. The bandwidth of stopped flows exceeds the capacity only if rates
// are raised to 1 byte/s, and then by at most the sum of the loads. Only a
// demand, the sum of loads times ceilings, has no such bound.
//
//===----------------------------------------------------------------------===//

#include "FlowNetwork.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace llvm;
using namespace proteus::sim;

constexpr uint64_t noLevel = std::numeric_limits<uint64_t>::max();

/// Divides the links into classes of links with equal capacities and equal
/// loads. Starts with one class per capacity. Then splits the classes once per
/// flow: two links stay in the same class if the flow puts the same load on
/// both, or loads neither.
void FlowNetwork::classifyLinks(const Workload &workload) {
  std::map<int64_t, uint32_t> ofCapacity;
  for (const LinkClass &link : workload.links)
    classOf.push_back(
        ofCapacity.try_emplace(link.capacity, ofCapacity.size()).first->second);
  uint32_t numClasses = ofCapacity.size();
  DenseMap<std::pair<uint32_t, int64_t>, uint32_t> split;
  for (const Collective &collective : workload.collectives) {
    split.clear();
    for (const LinkClassLoad &load : collective.flow.loads) {
      uint32_t &number = classOf[load.link];
      auto [entry, isNew] = split.try_emplace({number, load.load}, numClasses);
      numClasses += isNew;
      number = entry->second;
    }
  }
  // Renumbers the classes, because some numbers are left without links.
  DenseMap<uint32_t, uint32_t> numbers;
  for (auto [link, number] : llvm::enumerate(classOf)) {
    number = numbers.try_emplace(number, linksOfClass.size()).first->second;
    if (number == linksOfClass.size())
      linksOfClass.emplace_back();
    linksOfClass[number].push_back(link);
  }
}

FlowNetwork::FlowNetwork(const Workload &workload, bool share)
    : share(share), flows(workload.collectives.size()) {
  classifyLinks(workload);
  links.resize(linksOfClass.size());
  statuses.resize(links.size());
  for (size_t l = 0; l < links.size(); ++l)
    links[l].capacity =
        workload.links[linksOfClass[l].front()].capacity * loadUnit;
  for (uint32_t f = 0; f < flows.size(); ++f) {
    flows[f].firstEntry = entries.size();
    for (const LinkClassLoad &load : workload.collectives[f].flow.loads) {
      uint32_t link = classOf[load.link];
      if (linksOfClass[link].front() != load.link)
        continue;
      entries.push_back({static_cast<uint64_t>(load.load), link, 0});
      ++links[link].first; // a count until the offsets are computed
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
// Starting, stopping and limiting flows
//===----------------------------------------------------------------------===//

/// Sets the ceiling of a flow, updates the demand on its links, and marks the
/// flow as dirty. A flow that is not active has the ceiling 0.
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
    link.load += entry.load;
    entry.position = link.numActive++;
    active[link.first + entry.position] = {
        index, static_cast<uint32_t>(&entry - entries.data())};
  }
  demand(index, ceiling);
}

void FlowNetwork::stop(uint32_t index) {
  Flow &flow = flows[index];
  flow.active = false;
  for (const Entry &entry : entriesOf(flow)) {
    // Moves the last active flow of the link to the position of the stopped
    // flow. The order may change, because rates do not depend on it.
    Link &link = links[entry.link];
    link.load -= entry.load;
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
// Finding the flows that a change affects
//===----------------------------------------------------------------------===//

void FlowNetwork::visit(uint32_t index) {
  Flow &flow = flows[index];
  if (std::exchange(flow.visited, true))
    return;
  flow.state = FlowState::Rising;
  componentFlows.push_back(index);
  byCeiling.emplace_back(flow.ceiling, index);
}

/// Adds links of a flow to `componentLinks`, and all flows on these links to
/// `componentFlows`. Adds only links that are contended now or were contended
/// at the last `settle`. Flows that share only other links do not affect each
/// other.
void FlowNetwork::visitLinksOf(const Flow &flow) {
  for (const Entry &entry : entriesOf(flow)) {
    LinkStatus &status = statuses[entry.link];
    if (status.visited || !(status.wasContended || status.isContended))
      continue;
    status.visited = true;
    status.wasContended = status.isContended;
    componentLinks.push_back(entry.link);
    const Link &link = links[entry.link];
    if (status.isContended) {
      status.filling = fillings.size();
      fillings.push_back({link.capacity, link.load, 0, entry.link, false});
      levels.push_back(link.capacity / link.load);
    }
    for (const Active &other : activeOn(link))
      visit(other.flow);
  }
}

void FlowNetwork::collect() {
  componentFlows.clear();
  componentLinks.clear();
  byCeiling.clear();
  fillings.clear();
  levels.clear();
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
// Computing rates by filling links
//===----------------------------------------------------------------------===//

void FlowNetwork::stopAt(uint32_t index, uint64_t rate, FlowState state) {
  Flow &flow = flows[index];
  flow.state = state;
  // Rates are rounded down, but to at least 1 byte/s, so that every flow ends.
  // This matters for links that carry more flows than bytes per second.
  flow.next = std::max<uint64_t>(rate, 1);
  stopping.push_back(index);
}

/// Stops the rising flows of a full link at `rate`. Sets `holdsBack` of the
/// link if it stops a flow, or if another link that is full at the same rate
/// has just stopped a flow that loads both links.
void FlowNetwork::holdBack(uint32_t index, uint64_t rate) {
  Filling &filling = fillings[index];
  for (const Active &active : activeOn(links[filling.link])) {
    FlowState state = flows[active.flow].state;
    if (state == FlowState::Rising)
      stopAt(active.flow, rate, FlowState::HeldBack);
    filling.holdsBack |= state != FlowState::Stopped;
  }
}

/// Updates the contended links of a flow that has stopped: subtracts its load
/// from `rising` and adds its bandwidth to `used`.
void FlowNetwork::leaveRising(Flow &flow) {
  flow.state = FlowState::Stopped;
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
  llvm::sort(byCeiling);
  auto lowest = byCeiling.begin();
  size_t rising = byCeiling.size();
  while (rising > 0) {
    while (flows[lowest->second].state != FlowState::Rising)
      ++lowest;
    uint64_t rate = lowest->first;
    full.clear();
    for (uint32_t index = 0; index < levels.size(); ++index) {
      if (levels[index] > rate)
        continue;
      if (levels[index] < rate)
        full.clear();
      rate = levels[index];
      full.push_back(index);
    }
    stopping.clear();
    for (; lowest != byCeiling.end() && lowest->first == rate; ++lowest)
      if (flows[lowest->second].state == FlowState::Rising)
        stopAt(lowest->second, rate, FlowState::Stopped);
    for (uint32_t index : full)
      holdBack(index, rate);
    rising -= stopping.size();
    // Levels are needed only while flows rise.
    if (rising == 0)
      return;
    for (uint32_t index : stopping)
      leaveRising(flows[index]);
    for (uint32_t index : touched)
      computeLevel(index);
    touched.clear();
  }
}

void FlowNetwork::compareLinks() {
  for (uint32_t link : componentLinks) {
    LinkStatus &status = statuses[link];
    status.visited = false;
    bool holdsBack = status.isContended && fillings[status.filling].holdsBack;
    if (std::exchange(status.holdsBack, holdsBack) != holdsBack)
      llvm::append_range(linksChanged, linksOfClass[link]);
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
    fill();
    compareLinks();
  } else {
    componentFlows.clear();
    for (uint32_t index : dirty) {
      Flow &flow = flows[index];
      flow.dirty = false;
      // Uses the ceiling, not `rateAlone`, because a folded flow has the sum of
      // the loads of several groups. `rateAlone` would let these groups share
      // links, but the ceiling is the rate of one group that runs alone.
      flow.next = flow.ceiling;
      if (flow.active)
        componentFlows.push_back(index);
    }
    dirty.clear();
  }
  for (uint32_t index : componentFlows) {
    Flow &flow = flows[index];
    flow.visited = false;
    if (std::exchange(flow.rate, flow.next) != flow.next)
      changed.push_back(index);
  }
  llvm::sort(changed);
  return changed;
}
