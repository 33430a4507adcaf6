//===- Reach.cpp - connectivity checks of clusters ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "llvm/ADT/Twine.h"

#include <algorithm>

using namespace llvm;
using namespace proteus::machine;

std::string proteus::machine::findUnreachable(const NodeGraph &graph) {
  std::vector<std::vector<uint32_t>> next(graph.vertices.size());
  for (const NodeLink &link : graph.links)
    if (link.bandwidth > 0)
      next[link.from].push_back(link.to);
  std::vector<uint32_t> devices = graph.ofKind(VertexKind::Device);
  if (devices.empty())
    return "the node has no device";
  std::vector<bool> reached(graph.vertices.size());
  std::vector<uint32_t> open = {devices.front()};
  reached[devices.front()] = true;
  while (!open.empty()) {
    uint32_t vertex = open.back();
    open.pop_back();
    for (uint32_t neighbour : next[vertex])
      if (!reached[neighbour]) {
        reached[neighbour] = true;
        open.push_back(neighbour);
      }
  }
  const std::string &first = graph.vertices[devices.front()].name;
  for (uint32_t device : devices)
    if (!reached[device])
      return graph.vertices[device].name + " has no route to " + first +
             "; connect it by 'nvlink' or 'pcie'";
  for (uint32_t nic : graph.ofKind(VertexKind::NIC)) {
    if (!reached[nic])
      return graph.vertices[nic].name + " has no route to " + first +
             "; place it in 'pcie' or give devices that are 'near'";
    if (!(graph.vertices[nic].portBandwidth > 0))
      return graph.vertices[nic].name + " has no port speed; give 'speed_gbit'";
  }
  return "";
}

Error proteus::machine::checkReach(const Cluster &cluster) {
  for (const NodeRun &run : cluster.nodes) {
    const NodeGraph &graph = cluster.kinds[run.kind].graph;
    if (std::string what = findUnreachable(graph); !what.empty())
      return createStringError("node '" + graph.name + "': " + what);
  }
  int64_t numNodes = cluster.numNodes();
  if (numNodes > maxNodes)
    return createStringError("expected at most " + Twine(maxNodes) +
                             " nodes, got " + Twine(numNodes));
  if (numNodes <= 1)
    return Error::success();
  for (const NodeRun &run : cluster.nodes)
    if (cluster.kinds[run.kind].graph.numNICs() == 0)
      return createStringError("nodes can't reach each other: there are " +
                               Twine(numNodes) + ", but node '" +
                               cluster.kinds[run.kind].graph.name +
                               "' has no NIC; add 'nics' or use one node");
  const std::vector<FabricLevel> &levels = cluster.fabric.levels;
  if (levels.empty())
    return Error::success();
  // Number of nodes below one unit of the topmost level. Limiting each product
  // to maxNodes avoids an overflow.
  int64_t spanned = 1;
  for (const FabricLevel &level : levels)
    spanned = std::min(spanned * level.span, maxNodes);
  if (spanned < numNodes)
    return createStringError(
        "nodes can't reach each other: one unit of the highest level of the "
        "fabric ('" +
        levels.back().name + "') spans " + Twine(spanned) +
        " nodes, but there are " + Twine(numNodes) +
        "; leave out its 'span' or add a level");
  return Error::success();
}
