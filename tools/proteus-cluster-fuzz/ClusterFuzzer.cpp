//===- ClusterFuzzer.cpp - fuzzer of cluster files ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libFuzzer target. Any bytes must be rejected with a message or give a
// consistent cluster.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Cluster.h"

#include <cstdlib>

using namespace llvm;
using namespace proteus::machine;

/// Topology file for clusters in the flat format.
static const char *const topology = R"(<system version="1">
<cpu vendor="GenuineIntel" modelid="85"><pci busid="1"><gpu dev="0" sm="70"/>
</pci></cpu></system>)";

static void require(bool condition) {
  if (!condition)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  Expected<Cluster> cluster =
      parseClusterJSON(text, "fuzz", [](StringRef) -> Expected<std::string> {
        return std::string(topology);
      });
  if (!cluster) {
    require(StringRef(toString(cluster.takeError())).starts_with("fuzz"));
    return 0;
  }
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
  return 0;
}
