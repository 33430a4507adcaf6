//===- ClusterJSON.cpp - readers of cluster files -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <limits>

using namespace llvm;
using namespace proteus;
using namespace proteus::machine;
using json::Reader;

static constexpr size_t maxFabricLevels = 16;

//===----------------------------------------------------------------------===//
// Devices on one switch
//===----------------------------------------------------------------------===//

NodeKind proteus::machine::makeSimpleNode(int64_t count, const Link &intraNode,
                                          const Link &interNode) {
  NodeKind kind;
  NodeGraph &graph = kind.graph;
  graph.name = "node";
  auto add = [&](VertexKind vertexKind, StringRef name, int64_t index) {
    Vertex vertex;
    vertex.kind = vertexKind;
    vertex.name = (name + " " + Twine(index)).str();
    vertex.index = index;
    return graph.addVertex(std::move(vertex));
  };
  uint32_t center = add(VertexKind::NVSwitch, "switch", 0);
  for (int64_t i = 0; i < count; ++i) {
    uint32_t device = add(VertexKind::Device, "gpu", i);
    graph.vertices[device].directNIC = true;
    graph.connect(device, center, LinkKind::NVLink, intraNode.bandwidth);
    uint32_t pcie = add(VertexKind::PCIeSwitch, "pcie switch", i);
    graph.connect(device, pcie, LinkKind::PCIe, interNode.bandwidth);
    uint32_t nic = add(VertexKind::NIC, "nic", i);
    // The bandwidth of `interNode` already excludes the overhead of network
    // protocols, whereas a port has the full line rate.
    graph.vertices[nic].portBandwidth = interNode.bandwidth / networkEfficiency;
    graph.vertices[nic].guid = graph.vertices[nic].name;
    graph.connect(nic, pcie, LinkKind::PCIe, interNode.bandwidth);
  }
  CollectiveConstants &constants = kind.collectives;
  for (RingConstants *ring :
       {&constants.allReduce, &constants.allGather, &constants.reduceScatter})
    ring->lowHop = ring->simpleHop = intraNode.latency;
  constants.exchangeHop = constants.messageBase = intraNode.latency;
  constants.messageChannel = std::max(intraNode.bandwidth, interNode.bandwidth);
  constants.networkHop = interNode.latency;
  constants.networkBase = 0;
  constants.ringsOnly = true;
  indexDevices(kind);
  return kind;
}

/// Reads the short format of a cluster file. All nodes are equal, and the
/// devices of a node are on one switch.
static void readSimpleCluster(const Reader &root, Cluster &cluster) {
  root.expectKeys({"name", "source", "device", "nodes", "devices_per_node",
                   "intra_node", "inter_node", "host"});
  cluster.devices.push_back(readDevice(root["device"]));
  int64_t nodes = root["nodes"].integer(1, maxNodes);
  int64_t perNode = root["devices_per_node"].integer(1, maxDevicesPerNode);
  cluster.intraNode = readLink(root["intra_node"]);
  cluster.interNode = readLink(root["inter_node"]);
  NodeKind kind = makeSimpleNode(perNode, cluster.intraNode, cluster.interNode);
  for (Vertex &vertex : kind.graph.vertices)
    if (vertex.kind == VertexKind::Device)
      vertex.computeCapability = cluster.devices[0].computeCapability;
  if (root.has("host"))
    kind.host = readLink(root["host"]);
  cluster.kinds.push_back(std::move(kind));
  cluster.nodes.push_back({0, nodes});
}

//===----------------------------------------------------------------------===//
// Kinds of nodes and the fabric
//===----------------------------------------------------------------------===//

static void readDevices(const Reader &root, Cluster &cluster) {
  if (root.has("device") == root.has("devices"))
    return root.fail("expected either 'device' (one type) or 'devices' (a list "
                     "of types)");
  if (root.has("device")) {
    cluster.devices.push_back(readDevice(root["device"]));
    return;
  }
  StringSet<> names;
  for (const Reader &entry : root["devices"].elements()) {
    cluster.devices.push_back(readDevice(entry));
    if (!names.insert(cluster.devices.back().name).second)
      return entry.fail("the device '" + cluster.devices.back().name +
                        "' is listed twice; list each type once");
  }
  if (cluster.devices.empty())
    root["devices"].fail("expected at least one device");
}

static void readKinds(const Reader &root, Cluster &cluster) {
  if (root.has("node") == root.has("node_kinds"))
    return root.fail(
        "expected either 'node' (one kind of node), 'node_kinds' (several), or "
        "'devices_per_node' (devices on one switch)");
  if (root.has("node")) {
    cluster.kinds.push_back(readNodeKind(root["node"], "node", cluster));
    return;
  }
  for (const auto &[name, reader] : root["node_kinds"].members())
    cluster.kinds.push_back(readNodeKind(reader, name, cluster));
  if (cluster.kinds.empty())
    root["node_kinds"].fail("expected at least one kind of node");
}

static void readNodes(const Reader &nodes, Cluster &cluster) {
  if (!nodes.isArray()) {
    int64_t count = nodes.integer(1, maxNodes);
    if (cluster.kinds.size() > 1)
      nodes.fail("there are several kinds of nodes; write "
                 "[{\"kind\": NAME, \"count\": N}, ...]");
    cluster.nodes.push_back({0, count});
    return;
  }
  for (const Reader &entry : nodes.elements()) {
    entry.expectKeys({"kind", "count"});
    std::string name = entry["kind"].string();
    int64_t count = entry["count"].integer(1, maxNodes);
    auto kind = llvm::find_if(cluster.kinds, [&](const NodeKind &candidate) {
      return candidate.graph.name == name;
    });
    if (kind == cluster.kinds.end()) {
      std::string known;
      for (const NodeKind &candidate : cluster.kinds)
        known += (known.empty() ? "'" : ", '") + candidate.graph.name + "'";
      return entry["kind"].fail("unknown kind of node '" + name +
                                "' (known: " + known + ")");
    }
    cluster.nodes.push_back(
        {static_cast<uint32_t>(kind - cluster.kinds.begin()), count});
    if (cluster.numNodes() > maxNodes)
      return nodes.fail("expected at most " + Twine(maxNodes) + " nodes, got " +
                        Twine(cluster.numNodes()));
  }
  if (cluster.nodes.empty())
    nodes.fail("expected at least one node");
}

static FabricLevel readLevel(const Reader &reader, bool isHighest) {
  reader.expectKeys({"name", "span", "oversubscription", "latency_us"});
  FabricLevel level;
  level.name = reader["name"].nonEmptyString();
  level.span = reader.has("span") || !isHighest
                   ? reader["span"].integer(1, maxNodes)
                   : maxNodes;
  if (reader.has("oversubscription")) {
    Reader ratio = reader["oversubscription"];
    level.oversubscription = ratio.positive(1000);
    if (level.oversubscription < 1)
      ratio.fail("expected at least 1 (capacity below over capacity above), "
                 "got " +
                 json::formatNumber(level.oversubscription));
  }
  if (reader.has("latency_us"))
    level.latency = readMicroseconds(reader, "latency_us");
  return level;
}

static void readFabric(const Reader &reader, Fabric &fabric) {
  reader.expectKeys({"source", "rails", "latency_us", "efficiency", "levels"});
  if (reader.has("source"))
    reader["source"].string();
  if (reader.has("latency_us"))
    fabric.latency = readMicroseconds(reader, "latency_us");
  if (reader.has("efficiency"))
    fabric.efficiency = readShare(reader["efficiency"], 1);
  if (reader.has("levels")) {
    std::vector<Reader> levels = reader["levels"].elements();
    if (levels.size() > maxFabricLevels)
      return reader["levels"].fail("expected at most " +
                                   Twine(maxFabricLevels) + " levels");
    StringSet<> names;
    for (const Reader &level : levels) {
      fabric.levels.push_back(readLevel(level, &level == &levels.back()));
      if (!names.insert(fabric.levels.back().name).second)
        level["name"].fail("two levels have the name '" +
                           fabric.levels.back().name + "'");
    }
  }
  if (reader.has("rails"))
    fabric.rails = reader["rails"].boolean();
  if (fabric.rails && fabric.levels.size() < 2)
    reader["rails"].fail("rails need a level above the leaf switches, where "
                         "traffic between rails passes");
}

//===----------------------------------------------------------------------===//
// Links for cost models with two levels
//===----------------------------------------------------------------------===//

/// Returns the bandwidth of the device with the lowest bandwidth in a node. The
/// bandwidth of a device is the sum of its NVLinks, or of its PCIe links if it
/// has no NVLinks, or 0 if it has no links.
static double leastDeviceBandwidth(const NodeGraph &graph) {
  std::vector<double> nvlink(graph.vertices.size()),
      pcie(graph.vertices.size());
  for (const NodeLink &link : graph.links)
    (link.kind == LinkKind::NVLink ? nvlink : pcie)[link.from] +=
        link.bandwidth;
  double least = std::numeric_limits<double>::max();
  for (uint32_t device : graph.ofKind(VertexKind::Device))
    least = std::min(least, nvlink[device] > 0 ? nvlink[device] : pcie[device]);
  return least;
}

static double nicShare(const NodeKind &kind) {
  double all = 0;
  for (const Vertex &vertex : kind.graph.vertices)
    if (vertex.kind == VertexKind::NIC)
      all += vertex.portBandwidth;
  return all / kind.numDevices();
}

/// Sets the bandwidths of `intraNode` and `interNode` to the lowest value of
/// all kinds of nodes in the cluster, and their latencies to the highest value.
static void deriveLinks(Cluster &cluster) {
  bool first = true;
  for (const NodeRun &run : cluster.nodes) {
    const NodeKind &kind = cluster.kinds[run.kind];
    Link intra = {leastDeviceBandwidth(kind.graph),
                  kind.collectives.allReduce.simpleHop};
    Link inter = {nicShare(kind), kind.collectives.networkHop};
    auto slower = [&](Link &link, const Link &other) {
      link.bandwidth =
          first ? other.bandwidth : std::min(link.bandwidth, other.bandwidth);
      link.latency = std::max(link.latency, other.latency);
    };
    slower(cluster.intraNode, intra);
    slower(cluster.interNode, inter);
    first = false;
  }
}

static void readFullCluster(const Reader &root, Cluster &cluster) {
  root.expectKeys({"name", "source", "device", "devices", "node", "node_kinds",
                   "nodes", "fabric", "intra_node", "inter_node"});
  readDevices(root, cluster);
  if (cluster.devices.empty())
    return;
  readKinds(root, cluster);
  if (cluster.kinds.empty())
    return;
  readNodes(root["nodes"], cluster);
  if (root.has("fabric"))
    readFabric(root["fabric"], cluster.fabric);
}

Expected<Cluster>
proteus::machine::parseClusterJSON(StringRef text, StringRef source,
                                   const FileReader &readFile) {
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  Reader root = document->root();
  Cluster cluster;
  if (root.has("n_node")) {
    cluster.name = source.str();
    readFlatCluster(root, readFile, cluster);
  } else {
    cluster.name = root["name"].nonEmptyString();
    if (root.has("source"))
      root["source"].string();
    if (root.has("devices_per_node"))
      readSimpleCluster(root, cluster);
    else
      readFullCluster(root, cluster);
  }
  if (Error error = document->takeError())
    return error;
  if (Error error = checkReach(cluster))
    root.fail(toString(std::move(error)));
  if (!root.has("n_node") && !root.has("devices_per_node")) {
    deriveLinks(cluster);
    if (root.has("intra_node"))
      cluster.intraNode = readLink(root["intra_node"]);
    if (root.has("inter_node"))
      cluster.interNode = readLink(root["inter_node"]);
  }
  if (Error error = document->takeError())
    return error;
  return cluster;
}
