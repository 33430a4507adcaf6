//===- Cluster.h - clusters: nodes and the fabric ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The description of a cluster: types of devices, kinds of nodes, the number of
// nodes of each kind, and the levels of switches above the NICs. Consecutive
// nodes of one kind are one entry, so the description of a cluster with many
// equal nodes is small. The lowering passes, the cost models and the simulation
// read it.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_MACHINE_CLUSTER_H
#define PROTEUS_MACHINE_CLUSTER_H

#include "Proteus/Machine/Device.h"
#include "Proteus/Machine/NodeGraph.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace proteus::machine {

/// Bandwidth and latency of a connection: between two devices, between a device
/// and the network, or between a device and the memory of its host. Cost models
/// that do not use the node graph use this type.
struct Link {
  double bandwidth = 0; ///< bytes/s per device and direction
  double latency = 0;   ///< seconds per hop
};

/// Constants of one collective that runs in rings: all-reduce, all-gather or
/// reduce-scatter. Times are in seconds. Fill costs are in square roots of
/// seconds, see docs/clusters.md. In the formulas, `steps` is the number of
/// ring steps. The wire time is the number of bytes that each member sends,
/// divided by the bandwidth that the ring reaches.
struct RingConstants {
  // Time of a collective in one node with a low-latency protocol:
  //   lowBase + steps * lowHop + (wire time) / lowEfficiency
  double lowBase = 0, lowHop = 0, lowEfficiency = 0.5;
  // Time of a collective in one node with the Simple protocol:
  //   simpleBase + steps * simpleHop + (wire time)
  //     + simpleFill * sqrt(wire time)
  // The last term is the time to fill the pipeline.
  double simpleBase = 0, simpleHop = 0, simpleFill = 0;
  /// Data that each member moves in addition to the data of the ring steps. The
  /// unit is one member's part of the data: bytes / members.
  double extra = 0;
  /// Share of the links' bandwidth that the ring reaches.
  double efficiency = 1;
};

/// Constants of the communication library on one kind of node. Times are in
/// seconds and rates in bytes/s. docs/collectives.md contains the formulas.
struct CollectiveConstants {
  RingConstants allReduce, allGather, reduceScatter;
  // Time of an all-to-all in a node with p members:
  //   exchangeBase + (p - 1)^2 * exchangeHop + (wire time)
  //     + exchangeFill * sqrt(wire time)
  // `exchangeExtra` and `exchangeEfficiency` correspond to `extra` and
  // `efficiency` of RingConstants.
  double exchangeBase = 0, exchangeHop = 0, exchangeExtra = 0,
         exchangeEfficiency = 1, exchangeFill = 0;
  /// Rates of one channel in an all-to-all within a node: with the Simple
  /// protocol, and with the low-latency protocol, which short transfers use. A
  /// channel is a thread block that moves data. If `exchangeChannel` is 0, only
  /// the links limit the rate. If `exchangeLowChannel` is 0, short transfers
  /// use the Simple protocol.
  double exchangeChannel = 0, exchangeLowChannel = 0;
  /// Constants of an in-switch reduction (NVLS). `base`, `efficiency` and
  /// `fill` correspond to `simpleBase`, `efficiency` and `simpleFill` of
  /// RingConstants. With p > 8 members in a node, the rate is multiplied by
  /// (8 / p)^groupExponent.
  struct InSwitch {
    double base = 0, efficiency = 0.85, groupExponent = 0, fill = 0;
  };
  std::optional<InSwitch> inSwitch; ///< absent if the switches cannot reduce
  // Constants of messages between two devices: base time, rate of one channel,
  // and share of the links' bandwidth that messages within a node reach.
  double messageBase = 0, messageChannel = 0, messageEfficiency = 1;
  /// Rate of one channel for short messages, which use the low-latency
  /// protocol. If it is 0, short messages have the rate of long messages.
  double messageLowChannel = 0;
  /// Thread blocks that a running collective occupies on each device.
  uint32_t channels = 0;
  // Constants of collectives across nodes.
  double networkHop = 14e-6;   ///< seconds per step between nodes
  double networkBase = 8.4e-6; ///< seconds before the first step
  /// Time that is added to each collective of the library, but not to messages
  /// or to transfers over user buffers. In this time, the members of a
  /// collective wait for each other in the software around the library.
  double synchronisation = 0;
  /// True if only the latency and bandwidth of ring steps are known.
  /// Collectives then never use trees.
  bool ringsOnly = false;
  /// Mean relative error of predicted times on machines to which the constants
  /// were not fitted. The entries are for sizes below 1 MiB, from 1 MiB to
  /// below 16 MiB, and from 16 MiB. 0 = unknown.
  double relativeError[3] = {0, 0, 0};

  /// Returns the relative error for a collective of `bytes`.
  double relativeErrorOf(int64_t bytes) const {
    return relativeError[bytes < (1 << 20) ? 0 : bytes < (16 << 20) ? 1 : 2];
  }
};

/// Returns the constants of the communication library for devices of the
/// generation `architecture`. The devices are connected by NVLink if `nvlink`
/// is true, otherwise only by PCIe. The constants come from the embedded files
/// of clusters/communication. They include the in-switch reduction if the
/// generation supports it. Callers remove `inSwitch` for nodes without
/// NVSwitches.
const CollectiveConstants &defaultConstants(Architecture architecture,
                                            bool nvlink);

/// Reads constants from a JSON object, such as the `collectives` of a node.
/// Constants that the object does not contain keep their values.
llvm::Error parseConstants(llvm::StringRef text, llvm::StringRef source,
                           CollectiveConstants &constants);

/// Writes `constants` as a JSON object that `parseConstants` reads.
void printConstants(const CollectiveConstants &constants,
                    llvm::StringRef source, llvm::raw_ostream &os);

/// Returns the names of the embedded sets of constants, sorted.
std::vector<std::string> constantSetNames();

/// A kind of node: its topology and the constants of its collectives.
struct NodeKind {
  NodeGraph graph;
  /// For each device of the node, the index of its type in Cluster::devices.
  /// This cache makes lookups fast in large nodes. If it is empty, each lookup
  /// searches the graph.
  std::vector<uint32_t> deviceTypes;
  CollectiveConstants collectives;
  /// Connection between a device and the memory of its host; absent if the
  /// cluster file states none. Strategies that offload tensors require it.
  std::optional<Link> host;

  uint32_t numDevices() const;
};

/// Consecutive nodes of one kind.
struct NodeRun {
  uint32_t kind = 0; ///< index into Cluster::kinds
  int64_t count = 1;
};

/// One level of switches. Level 0 contains the leaf switches, which connect the
/// NICs. Every other level connects the units of the level below. A unit is one
/// switch, or a group of switches, for example one leaf switch per rail.
struct FabricLevel {
  std::string name; ///< for example "leaf", "spine", "pod"
  /// Number of units of the level below that one unit of this level connects.
  /// For level 0, the number of nodes that one unit connects.
  int64_t span = 1;
  /// Ratio of the bandwidth below a unit to the bandwidth of its uplinks; 1 =
  /// full bisection bandwidth.
  double oversubscription = 1;
  double latency = 0; ///< seconds that data take through a switch
};

/// The network between nodes. Traffic between two NICs goes up to the lowest
/// level at which a unit connects them. The topmost level has no uplinks.
/// Without levels, one switch connects all NICs.
struct Fabric {
  std::vector<FabricLevel> levels;
  /// True if the fabric is rail-optimised: leaf switch i of a unit connects NIC
  /// i of every node below the unit, and traffic between different rails passes
  /// the level above. If false, a leaf switch connects all NICs of the nodes
  /// below it.
  bool rails = false;
  /// Seconds that data take from NIC to NIC, without the latencies of the
  /// switches in `levels`.
  double latency = 0;
  /// Share of the NICs' line rate, and of the bandwidth of the fabric's levels,
  /// that communication reaches on this cluster.
  double efficiency = networkEfficiency;
};

/// A cluster. Devices are numbered node by node: first the devices of node 0,
/// then the devices of node 1.
struct Cluster {
  std::string name;
  std::vector<Device> devices; ///< types of devices
  std::vector<NodeKind> kinds;
  std::vector<NodeRun> nodes;
  Fabric fabric;
  /// Connections for cost models that distinguish only communication within a
  /// node and between nodes. `intraNode` connects two devices of a node.
  /// `interNode` connects a device to the network. If the cluster file does not
  /// state `interNode`, its bandwidth is the device's share of the bandwidth of
  /// all NICs of the node, in the kind of node where this share is lowest.
  Link intraNode, interNode;

  int64_t numNodes() const;
  int64_t numDevices() const;
  /// Returns the number of devices in the largest node.
  int64_t devicesPerNode() const;
  int64_t nodeOf(int64_t device) const;
  /// Returns the number of the device within its node.
  uint32_t localIndex(int64_t device) const;
  uint32_t kindOfNode(int64_t node) const;
  const Device &deviceAt(int64_t device) const;
  uint32_t deviceTypeOf(int64_t device) const;
  /// Returns true if all devices are of one type.
  bool isHomogeneous() const;
  /// Returns true if all nodes are of one kind.
  bool hasOneKind() const;
  const NodeKind &kindOf(int64_t device) const {
    return kinds[kindOfNode(nodeOf(device))];
  }

  /// Returns the unit of fabric level `level` that contains `node`.
  int64_t unitOf(unsigned level, int64_t node) const;
};

/// The parts of the name of a cluster: a preset or the path of a file, and the
/// number of nodes after the colon of "dgx-a100:16" or "cluster.json:16".
struct ClusterName {
  llvm::StringRef base;
  /// The text after the colon; absent without a colon.
  std::optional<llvm::StringRef> nodes;

  bool isFile() const { return base.ends_with(".json"); }
};
ClusterName splitClusterName(llvm::StringRef text);

/// Gives `cluster` the number of nodes in `name`, and does nothing if `name`
/// states none. Fails if the number is not valid, if the cluster has nodes of
/// several kinds, or if its fabric does not connect as many nodes.
llvm::Error setNodes(Cluster &cluster, const ClusterName &name);

/// Returns the embedded preset `text`, for example "dgx-a100", or "dgx-a100:16"
/// for 16 nodes. The error for an unknown name lists all presets.
llvm::Expected<Cluster> parseClusterPreset(llvm::StringRef text);

/// Returns true if `text` is the name of an embedded preset, with or without a
/// number of nodes such as ":16".
bool isClusterPreset(llvm::StringRef text);

/// Returns the names of the embedded presets, sorted.
std::vector<std::string> clusterPresetNames();

/// Largest number of nodes of a cluster.
constexpr int64_t maxNodes = 1000000;

/// Fails if a device or a NIC has no route to the rest of its node, if a NIC
/// has no bandwidth, if nodes cannot reach each other, or if there are more
/// than `maxNodes` nodes.
llvm::Error checkReach(const Cluster &cluster);

/// A function that returns the text of a file, given its path relative to the
/// cluster file.
using FileReader = std::function<llvm::Expected<std::string>(llvm::StringRef)>;
/// Reads a cluster from JSON text: the format of docs/clusters.md, or the flat
/// format of the reference (`n_node`, `n_gpu_per_node`, ...). Error messages
/// call the text `source`. `readFile` reads the files to which the text refers,
/// such as NCCL topology dumps. Without `readFile`, a reference to a file is an
/// error.
llvm::Expected<Cluster> parseClusterJSON(llvm::StringRef text,
                                         llvm::StringRef source,
                                         const FileReader &readFile = nullptr);

/// Reads an NCCL topology dump (NCCL_TOPO_DUMP_FILE), which describes one node.
/// Links have the bandwidths that NCCL assumes for the speeds and widths in the
/// dump.
llvm::Expected<NodeGraph> parseTopologyXML(llvm::StringRef text,
                                           llvm::StringRef source);

} // namespace proteus::machine

#endif // PROTEUS_MACHINE_CLUSTER_H
