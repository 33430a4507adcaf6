//===- NodeWays.cpp - routes of messages inside a node --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeWays.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace proteus;
using namespace proteus::net;
using machine::LinkKind;
using machine::NodeLink;
using machine::VertexKind;

/// The shortest routes from one vertex. Each vertex v has two states. State 2v
/// describes the best route to v that passes no other device, and state 2v + 1
/// the best route to v that passes one other device.
struct NodeWays::Tree {
  struct State {
    uint32_t hops = std::numeric_limits<uint32_t>::max();
    double width = 0;
    uint32_t link = 0, before = 0;
    bool isBetterThan(const State &other) const {
      return hops != other.hops ? hops < other.hops : width > other.width;
    }
  };
  std::vector<State> states;

  static bool isReached(const State &state) {
    return state.hops != std::numeric_limits<uint32_t>::max();
  }
  /// Returns the index of the better of the two states of `vertex`.
  uint32_t at(uint32_t vertex) const {
    return 2 * vertex + states[2 * vertex + 1].isBetterThan(states[2 * vertex]);
  }
};

NodeWays::NodeWays(const machine::NodeGraph &graph)
    : graph(graph), devices(graph.ofKind(VertexKind::Device)),
      nics(graph.ofKind(VertexKind::NIC)), leaving(graph.vertices.size()) {
  for (uint32_t l = 0; l < graph.links.size(); ++l)
    if (graph.links[l].bandwidth > 0)
      leaving[graph.links[l].from].push_back(l);
  findPorts();
  assignNICs();
}

NodeWays::Tree NodeWays::growTree(uint32_t source) const {
  Tree tree;
  tree.states.resize(2 * graph.vertices.size());
  tree.states[2 * source] = {0, std::numeric_limits<double>::infinity(), 0, 0};
  std::vector<uint32_t> layer = {2 * source}, next;
  for (uint32_t hops = 1; !layer.empty(); ++hops) {
    next.clear();
    for (uint32_t s : layer) {
      uint32_t vertex = s / 2;
      bool passed = s % 2;
      bool relays =
          vertex != source && graph.vertices[vertex].kind == VertexKind::Device;
      if (vertex != source && graph.vertices[vertex].kind == VertexKind::NIC)
        continue;
      if (relays &&
          (passed || graph.links[tree.states[s].link].kind != LinkKind::NVLink))
        continue;
      for (uint32_t l : leaving[vertex]) {
        const NodeLink &link = graph.links[l];
        if (relays && link.kind != LinkKind::NVLink)
          continue;
        uint32_t target = 2 * link.to + (passed || relays);
        Tree::State found = {
            hops, std::min(tree.states[s].width, link.bandwidth), l, s};
        if (!found.isBetterThan(tree.states[target]))
          continue;
        if (!Tree::isReached(tree.states[target]))
          next.push_back(target);
        tree.states[target] = found;
      }
    }
    std::sort(next.begin(), next.end());
    std::swap(layer, next);
  }
  return tree;
}

std::optional<Way> NodeWays::find(uint32_t from, uint32_t to) const {
  Tree tree = growTree(from);
  uint32_t state = tree.at(to);
  if (!Tree::isReached(tree.states[state]))
    return std::nullopt;
  Way way(tree.states[state].hops);
  for (auto link = way.rbegin(); link != way.rend(); ++link) {
    *link = tree.states[state].link;
    state = tree.states[state].before;
  }
  return way;
}

std::optional<uint32_t> NodeWays::nextCPU(uint32_t device) const {
  Tree tree = growTree(devices[device]);
  std::optional<uint32_t> nearest;
  for (uint32_t cpu : graph.ofKind(VertexKind::CPU)) {
    const Tree::State &state = tree.states[tree.at(cpu)];
    if (Tree::isReached(state) &&
        (!nearest || state.isBetterThan(tree.states[tree.at(*nearest)])))
      nearest = cpu;
  }
  return nearest;
}

std::optional<Way> NodeWays::join(uint32_t from, uint32_t by,
                                  uint32_t to) const {
  std::optional<Way> first = find(from, by), second = find(by, to);
  if (!first || !second)
    return std::nullopt;
  first->insert(first->end(), second->begin(), second->end());
  return first;
}

std::optional<Way> NodeWays::betweenDevices(uint32_t from, uint32_t to) const {
  return find(devices[from], devices[to]);
}

std::optional<Way> NodeWays::toNIC(uint32_t device, uint32_t nic) const {
  if (!graph.vertices[devices[device]].directNIC)
    if (std::optional<uint32_t> cpu = nextCPU(device))
      return join(devices[device], *cpu, nics[nic]);
  return find(devices[device], nics[nic]);
}

std::optional<Way> NodeWays::fromNIC(uint32_t nic, uint32_t device) const {
  if (!graph.vertices[devices[device]].directNIC)
    if (std::optional<uint32_t> cpu = nextCPU(device))
      return join(nics[nic], *cpu, devices[device]);
  return find(nics[nic], devices[device]);
}

void NodeWays::findPorts() {
  ports.resize(devices.size());
  portSum.resize(devices.size(), 0);
  for (uint32_t d = 0; d < devices.size(); ++d) {
    for (uint32_t l : leaving[devices[d]]) {
      const NodeLink &link = graph.links[l];
      if (link.kind != LinkKind::NVLink ||
          graph.vertices[link.to].kind != VertexKind::NVSwitch ||
          graph.links[l ^ 1].bandwidth <= 0)
        continue;
      ports[d].push_back({l, link.to, link.bandwidth});
      portSum[d] += link.bandwidth;
    }
    for (Port &port : ports[d])
      port.share /= portSum[d];
  }
}

void NodeWays::assignNICs() {
  nicOfDevice.resize(devices.size());
  // Counts, for each set of equally near NICs, the devices that have got a NIC
  // of this set so far.
  std::map<std::vector<uint32_t>, uint32_t> turns;
  for (uint32_t d = 0; d < devices.size(); ++d) {
    Tree tree = growTree(devices[d]);
    std::vector<uint32_t> nearest;
    for (uint32_t n = 0; n < nics.size(); ++n) {
      const Tree::State &state = tree.states[tree.at(nics[n])];
      if (!Tree::isReached(state) || graph.vertices[nics[n]].portBandwidth <= 0)
        continue;
      if (!nearest.empty()) {
        const Tree::State &best = tree.states[tree.at(nics[nearest.front()])];
        if (best.isBetterThan(state))
          continue;
        if (state.isBetterThan(best))
          nearest.clear();
      }
      nearest.push_back(n);
    }
    if (nearest.empty())
      continue;
    uint32_t turn = turns[nearest]++;
    nicOfDevice[d] = nearest[turn % nearest.size()];
  }
}
