//===- TopologyFuzzer.cpp - fuzzer of topology dumps ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libFuzzer target. Any bytes must be rejected with a message or give a
// consistent graph.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Cluster.h"

#include <cstdlib>

using namespace llvm;
using namespace proteus::machine;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  Expected<NodeGraph> graph = parseTopologyXML(text, "fuzz");
  if (!graph) {
    require(StringRef(toString(graph.takeError())).starts_with("fuzz"));
    return 0;
  }
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
  return 0;
}
