//===- FlatJSON.cpp - clusters in the format of the reference -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The flat format is one JSON object of numbers, for example the number of
// nodes and of GPUs per node. An NCCL topology dump, which the object may name,
// describes a node. With "topology": "none", the GPUs are on one switch.
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace llvm;
using namespace proteus;
using namespace proteus::machine;
using json::Reader;

/// Latencies in seconds; the flat format contains none. `hopLatency` (PCIe) and
/// `networkLatency` are NCCL's values for the steps of rings. `hostLatency`,
/// for a copy to the host, is an estimate.
static constexpr double hopLatency = 5.7e-6;
static constexpr double networkLatency = 9.6e-6;
static constexpr double hostLatency = 10e-6;

/// Returns true if `path` leads to a file in the folder of the cluster file, or
/// in a folder below. A cluster file from a stranger can't name other files.
static bool isBelow(StringRef path) {
  return sys::path::is_relative(path) &&
         llvm::none_of(
             llvm::make_range(sys::path::begin(path), sys::path::end(path)),
             [](StringRef part) { return part == ".."; });
}

static NodeKind readTopology(const Reader &root, const FileReader &readFile,
                             int64_t gpus) {
  NodeKind kind;
  std::string path = root.has("topology")
                         ? root["topology"].nonEmptyString()
                         : "topos/topo-n" + std::to_string(gpus) + ".xml";
  std::string remedy =
      "; put an NCCL topology dump there, name one by 'topology', or write "
      "\"topology\": \"none\" for GPUs on one switch";
  if (!isBelow(path)) {
    root["topology"].fail("the topology '" + path +
                          "' is not in the folder of this file; put it there, "
                          "or in a folder below, and give its relative path");
    return kind;
  }
  if (!readFile) {
    root.fail("the topology '" + path + "' can't be read from here" + remedy);
    return kind;
  }
  Expected<std::string> text = readFile(path);
  if (!text) {
    root.fail("can't read the topology '" + path +
              "': " + toString(text.takeError()) + remedy);
    return kind;
  }
  Expected<NodeGraph> graph = parseTopologyXML(*text, path);
  if (!graph) {
    root.fail(toString(graph.takeError()));
    return kind;
  }
  if (graph->numDevices() != gpus)
    root.fail("the topology '" + path + "' has " + Twine(graph->numDevices()) +
              " GPUs, but 'n_gpu_per_node' is " + Twine(gpus));
  kind.graph = std::move(*graph);
  return kind;
}

void proteus::machine::readFlatCluster(const Reader &root,
                                       const FileReader &readFile,
                                       Cluster &cluster) {
  root.expectKeys({"n_node", "n_gpu_per_node", "gpu_gflops", "gpu_memory",
                   "gpu_memory_bw", "n_cpu_per_node", "cpu_gflops",
                   "cpu_memory", "cpu_memory_bw", "gpu_to_gpu", "cpu_to_gpu",
                   "cpu_to_cpu", "inter_node", "topology"});
  int64_t nodes = root["n_node"].integer(1, maxNodes);
  int64_t gpus = root["n_gpu_per_node"].integer(1, maxDevicesPerNode);
  Device device;
  device.name = "gpu";
  device.peakFlops = {
      {DType::F32, root["gpu_gflops"].positive(maxTeraflops * 1e3) * 1e9}};
  device.memoryBytes =
      std::llround(root["gpu_memory"].positive(maxMemoryGigabytes * 1e3) * 1e6);
  device.memoryBandwidth = readBandwidth(root, "gpu_memory_bw");
  cluster.intraNode = {readBandwidth(root, "gpu_to_gpu"), hopLatency};
  cluster.interNode = {readBandwidth(root, "inter_node"), networkLatency};

  bool oneSwitch = root.has("topology") && root["topology"].string() == "none";
  NodeKind kind =
      oneSwitch ? makeSimpleNode(gpus, cluster.intraNode, cluster.interNode)
                : readTopology(root, readFile, gpus);
  if (kind.graph.vertices.empty())
    return;
  bool hasNVLink = false;
  for (const NodeLink &link : kind.graph.links)
    hasNVLink |= link.kind == LinkKind::NVLink;
  for (Vertex &vertex : kind.graph.vertices)
    if (vertex.kind == VertexKind::Device) {
      vertex.type = 0;
      device.computeCapability = vertex.computeCapability;
    }
  device.architecture = architectureOf(device.computeCapability);
  if (!oneSwitch) {
    kind.collectives = defaultConstants(device.architecture, hasNVLink);
    if (kind.graph.ofKind(VertexKind::NVSwitch).empty())
      kind.collectives.inSwitch.reset();
  }
  if (root.has("cpu_to_gpu"))
    kind.host = {readBandwidth(root, "cpu_to_gpu"), hostLatency};
  indexDevices(kind);
  cluster.devices.push_back(std::move(device));
  cluster.kinds.push_back(std::move(kind));
  cluster.nodes.push_back({0, nodes});
}
