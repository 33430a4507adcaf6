//===- Site.cpp - the machine on which a site was measured ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Machine/Stack.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace proteus::machine;

Error proteus::machine::checkDevices(const Site &site, const Cluster &cluster) {
  if (site.devices.empty())
    return Error::success();
  for (const NodeRun &run : cluster.nodes)
    for (const Vertex &vertex : cluster.kinds[run.kind].graph.vertices) {
      if (vertex.kind != VertexKind::Device)
        continue;
      const std::string &device = cluster.devices[vertex.type].name;
      if (!is_contained(site.devices, device))
        return createStringError(
            "site '" + site.name + "' was measured on " +
            join(site.devices, " and ") + ", but cluster '" + cluster.name +
            "' has " + device +
            "; leave the site out, or describe the site of this cluster in a "
            "file");
    }
  return Error::success();
}

std::string proteus::machine::remarkCards(const Site &site,
                                          const Cluster &cluster) {
  if (!site.cards || cluster.numNodes() == 1)
    return "";
  auto textOf = [](uint32_t count, double bandwidth) {
    return formatv("{0} network cards of {1:f0} Gbit/s", count,
                   bandwidth * 8 / 1e9)
        .str();
  };
  for (const NodeRun &run : cluster.nodes) {
    const NodeGraph &graph = cluster.kinds[run.kind].graph;
    for (uint32_t card : graph.ofKind(VertexKind::NIC)) {
      double bandwidth = graph.vertices[card].portBandwidth;
      if (graph.numNICs() != site.cards->count ||
          bandwidth != site.cards->bandwidth)
        return "site '" + site.name + "' was measured on nodes with " +
               textOf(site.cards->count, site.cards->bandwidth) +
               ", but those of cluster '" + cluster.name + "' have " +
               textOf(graph.numNICs(), bandwidth);
    }
  }
  return "";
}
