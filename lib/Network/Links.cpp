//===- Links.cpp - capacities and names of links --------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Network/LinkLoads.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace llvm;
using namespace proteus;
using namespace proteus::net;
using machine::Vertex;
using machine::VertexKind;

/// Rounds a rate to an integer of at least one byte per second, so that
/// division by it is safe.
static int64_t wholeRate(double bytesPerSecond) {
  return std::max<int64_t>(1, std::llround(bytesPerSecond));
}

/// Returns the bandwidth of all NICs of a node in bytes/s: the sum of their
/// line rates, multiplied by the `efficiency` of the fabric. If `rail` is
/// given, counts only the NIC on this rail.
static double bandwidthOut(const machine::Cluster &cluster,
                           const machine::NodeGraph &graph,
                           std::optional<uint32_t> rail) {
  double sum = 0;
  for (const Vertex &vertex : graph.vertices)
    if (vertex.kind == VertexKind::NIC && (!rail || vertex.index == *rail))
      sum += vertex.portBandwidth * cluster.fabric.efficiency;
  return sum;
}

static bool isRailLink(const machine::Cluster &cluster, const LinkId &link) {
  return link.level == 1 && cluster.fabric.rails;
}

/// Returns the bandwidth, in bytes/s, of an uplink or downlink of a unit of the
/// fabric. A unit has uplinks for all nodes of its span, even if the cluster
/// ends before its span is full.
static double bandwidthUp(const machine::Cluster &cluster, const LinkId &link) {
  std::optional<uint32_t> rail;
  if (isRailLink(cluster, link))
    rail = link.port / 2;
  double oversubscription = 1;
  int64_t span = 1;
  for (uint32_t level = 0; level < link.level; ++level) {
    oversubscription *= cluster.fabric.levels[level].oversubscription;
    span *= cluster.fabric.levels[level].span;
  }
  int64_t begin = link.unit * span, end = begin + span;
  int64_t present = 0, runBegin = 0;
  double below = 0;
  for (const machine::NodeRun &run : cluster.nodes) {
    int64_t runEnd = runBegin + run.count;
    int64_t count = std::min(end, runEnd) - std::max(begin, runBegin);
    if (count > 0) {
      below +=
          count * bandwidthOut(cluster, cluster.kinds[run.kind].graph, rail);
      present += count;
    }
    runBegin = runEnd;
  }
  if (present == 0)
    return 0;
  return below * span / present / oversubscription;
}

int64_t proteus::net::capacityOf(const machine::Cluster &cluster,
                                 const LinkId &link) {
  if (link.level > 0)
    return wholeRate(bandwidthUp(cluster, link));
  const machine::NodeGraph &graph =
      cluster.kinds[cluster.kindOfNode(link.unit)].graph;
  if (link.port < graph.links.size())
    return wholeRate(graph.links[link.port].bandwidth);
  uint32_t nic = (link.port - graph.links.size()) / 2;
  return wholeRate(bandwidthOut(cluster, graph, nic));
}

static std::string nameOf(const Vertex &vertex) {
  if (!vertex.name.empty())
    return vertex.name;
  return formatv("{0} {1}", machine::stringify(vertex.kind), vertex.index);
}

std::string proteus::net::nameOf(const machine::Cluster &cluster,
                                 const LinkId &link) {
  StringRef direction = link.port % 2 ? "down" : "up";
  if (link.level > 0) {
    StringRef level = cluster.fabric.levels[link.level - 1].name;
    if (isRailLink(cluster, link))
      return formatv("{0} {1} rail {2} {3}", level, link.unit, link.port / 2,
                     direction);
    return formatv("{0} {1} {2}", level, link.unit, direction);
  }
  const machine::NodeGraph &graph =
      cluster.kinds[cluster.kindOfNode(link.unit)].graph;
  if (link.port < graph.links.size()) {
    const machine::NodeLink &wire = graph.links[link.port];
    return formatv("node {0}: {1} -> {2}", link.unit,
                   ::nameOf(graph.vertices[wire.from]),
                   ::nameOf(graph.vertices[wire.to]));
  }
  uint32_t port = link.port - graph.links.size();
  for (const Vertex &vertex : graph.vertices)
    if (vertex.kind == VertexKind::NIC && vertex.index == port / 2)
      return formatv("node {0}: {1} {2}", link.unit, ::nameOf(vertex),
                     port % 2 ? "in" : "out");
  return formatv("node {0}: port {1}", link.unit, link.port);
}
