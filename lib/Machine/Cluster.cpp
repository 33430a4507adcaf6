//===- Cluster.cpp - clusters: nodes and the fabric -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Cluster.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cassert>

using namespace llvm;
using namespace proteus::machine;

uint32_t NodeKind::numDevices() const {
  return deviceTypes.empty() ? graph.numDevices() : deviceTypes.size();
}

int64_t Cluster::numNodes() const {
  int64_t count = 0;
  for (const NodeRun &run : nodes)
    count += run.count;
  return count;
}

int64_t Cluster::numDevices() const {
  int64_t count = 0;
  for (const NodeRun &run : nodes)
    count += run.count * kinds[run.kind].numDevices();
  return count;
}

int64_t Cluster::devicesPerNode() const {
  int64_t most = 0;
  for (const NodeRun &run : nodes)
    most = std::max<int64_t>(most, kinds[run.kind].numDevices());
  return most;
}

namespace {
/// A device within a cluster: its node, its number in the node, and the kind of
/// the node.
struct Place {
  int64_t node = 0;
  uint32_t local = 0;
  uint32_t kind = 0;
};
} // namespace

/// Finds `device` in the cluster. If the cluster has too few devices, assumes
/// that its last run has further nodes, because passes may use a mesh before
/// they check its size against the cluster.
static Place placeOf(const Cluster &cluster, int64_t device) {
  assert(device >= 0 && !cluster.nodes.empty());
  int64_t firstNode = 0;
  for (const NodeRun &run : cluster.nodes) {
    int64_t perNode = cluster.kinds[run.kind].numDevices();
    if (device < run.count * perNode || &run == &cluster.nodes.back())
      return {firstNode + device / perNode,
              static_cast<uint32_t>(device % perNode), run.kind};
    device -= run.count * perNode;
    firstNode += run.count;
  }
  llvm_unreachable("the last run takes all");
}

int64_t Cluster::nodeOf(int64_t device) const {
  return placeOf(*this, device).node;
}

uint32_t Cluster::localIndex(int64_t device) const {
  return placeOf(*this, device).local;
}

uint32_t Cluster::kindOfNode(int64_t node) const {
  for (const NodeRun &run : nodes) {
    if (node < run.count)
      return run.kind;
    node -= run.count;
  }
  return nodes.back().kind;
}

uint32_t Cluster::deviceTypeOf(int64_t device) const {
  Place place = placeOf(*this, device);
  const NodeKind &kind = kinds[place.kind];
  if (!kind.deviceTypes.empty())
    return kind.deviceTypes[place.local];
  for (const Vertex &vertex : kind.graph.vertices)
    if (vertex.kind == VertexKind::Device && vertex.index == place.local)
      return vertex.type;
  llvm_unreachable("devices of a node are numbered from 0");
}

const Device &Cluster::deviceAt(int64_t device) const {
  return devices[deviceTypeOf(device)];
}

bool Cluster::isHomogeneous() const {
  std::optional<uint32_t> type;
  for (const NodeRun &run : nodes)
    for (const Vertex &vertex : kinds[run.kind].graph.vertices)
      if (vertex.kind == VertexKind::Device) {
        if (type && *type != vertex.type)
          return false;
        type = vertex.type;
      }
  return true;
}

bool Cluster::hasOneKind() const {
  return llvm::all_of(nodes, [&](const NodeRun &run) {
    return run.kind == nodes.front().kind;
  });
}

int64_t Cluster::unitOf(unsigned level, int64_t node) const {
  int64_t unit = node;
  for (unsigned below = 0; below <= level; ++below)
    unit /= fabric.levels[below].span;
  return unit;
}

ClusterName proteus::machine::splitClusterName(StringRef text) {
  // A path may contain a colon, so only the colon after its ending counts.
  constexpr StringLiteral ending = ".json";
  size_t end = text.rfind(".json:");
  if (text.ends_with(ending))
    return {text, std::nullopt};
  if (end != StringRef::npos)
    return {text.take_front(end + ending.size()),
            text.drop_front(end + ending.size() + 1)};
  auto [base, nodes] = text.split(':');
  return {base, text.contains(':') ? std::optional(nodes) : std::nullopt};
}

Error proteus::machine::setNodes(Cluster &cluster, const ClusterName &name) {
  if (!name.nodes)
    return Error::success();
  int64_t nodes = 0;
  if (name.nodes->getAsInteger(10, nodes) || nodes < 1 || nodes > maxNodes)
    return createStringError("expected a number of nodes from 1 to " +
                             Twine(maxNodes) + " after '" + name.base +
                             ":', got '" + *name.nodes + "'");
  std::string text = cluster.name + ":" + std::to_string(nodes);
  if (!cluster.hasOneKind()) {
    const NodeKind &first = cluster.kinds[cluster.nodes.front().kind];
    const NodeRun &other = *llvm::find_if(cluster.nodes, [&](const NodeRun &r) {
      return r.kind != cluster.nodes.front().kind;
    });
    return createStringError(
        "cluster '" + text +
        "': only nodes of one kind can be multiplied, but "
        "it has nodes '" +
        first.graph.name + "' and '" + cluster.kinds[other.kind].graph.name +
        "'; state their numbers under 'nodes' in the file");
  }
  cluster.nodes = {{cluster.nodes.front().kind, nodes}};
  cluster.name = text;
  if (Error error = checkReach(cluster))
    return createStringError("cluster '" + text +
                             "': " + toString(std::move(error)));
  return Error::success();
}
