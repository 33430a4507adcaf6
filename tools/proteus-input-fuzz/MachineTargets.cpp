//===- MachineTargets.cpp - files that describe machines ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Machine/Stack.h"

#include <cmath>

using namespace llvm;
using namespace proteus::machine;

/// Topology dump for clusters in the flat format.
static const char *const topology = R"(<system version="1">
<cpu vendor="GenuineIntel" modelid="85"><pci busid="1"><gpu dev="0" sm="70"/>
</pci></cpu></system>)";

/// Requires that the message of `error` begins with the name of the text.
static void requireLocated(Error error) {
  proteus::fuzz::require(StringRef(toString(std::move(error)))
                             .starts_with(proteus::fuzz::sourceName));
}

void proteus::fuzz::readCluster(StringRef text) {
  Expected<Cluster> cluster = parseClusterJSON(
      text, sourceName,
      [](StringRef) -> Expected<std::string> { return std::string(topology); });
  if (!cluster)
    return requireLocated(cluster.takeError());
  int64_t devices = cluster->numDevices();
  require(devices > 0 && cluster->numNodes() <= maxNodes);
  require(!checkReach(*cluster));
  for (int64_t device : {int64_t(0), devices / 2, devices - 1}) {
    const NodeKind &kind = cluster->kindOf(device);
    require(cluster->nodeOf(device) < cluster->numNodes());
    require(cluster->localIndex(device) < kind.graph.numDevices());
    require(cluster->deviceAt(device).peak(DType::F32) > 0);
    for (const NodeLink &link : kind.graph.links)
      require(link.from < kind.graph.vertices.size() &&
              link.to < kind.graph.vertices.size() && link.bandwidth >= 1);
  }
  for (unsigned level = 0; level < cluster->fabric.levels.size(); ++level)
    require(cluster->unitOf(level, cluster->numNodes() - 1) >= 0);
}

void proteus::fuzz::readTopology(StringRef text) {
  Expected<NodeGraph> graph = parseTopologyXML(text, sourceName);
  if (!graph)
    return requireLocated(graph.takeError());
  require(graph->numDevices() > 0);
  for (VertexKind kind : {VertexKind::Device, VertexKind::NIC}) {
    uint32_t number = 0;
    for (uint32_t vertex : graph->ofKind(kind))
      require(graph->vertices[vertex].index == number++);
  }
  for (const NodeLink &link : graph->links)
    require(link.from < graph->vertices.size() &&
            link.to < graph->vertices.size() && link.from != link.to &&
            link.bandwidth > 0);
}

void proteus::fuzz::readDevice(StringRef text) {
  Expected<Device> device = parseDeviceJSON(text, sourceName);
  if (!device)
    return requireLocated(device.takeError());
  require(device->peak(DType::F32) > 0 &&
          std::isfinite(device->peak(DType::F32)));
}

void proteus::fuzz::readStack(StringRef text) {
  Expected<Stack> stack = parseStackJSON(text, sourceName);
  if (!stack)
    return requireLocated(stack.takeError());
}

void proteus::fuzz::readSite(StringRef text) {
  Expected<Site> site = parseSiteJSON(text, sourceName);
  if (!site)
    return requireLocated(site.takeError());
  require(std::isfinite(site->collectiveGap) && site->collectiveGap >= 0);
}
