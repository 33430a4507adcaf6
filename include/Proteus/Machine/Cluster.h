//===- Cluster.h - nodes, their insides and the fabric ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cluster is data: kinds of nodes, how many of each, and the levels of
// switches above the NICs. Its size in memory does not depend on the number of
// nodes.
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

/// Latency and bandwidth between two places, for models that know no links.
struct Link {
  double bandwidth = 0; ///< bytes/s per device and direction
  double latency = 0;   ///< seconds per message hop
};

/// Constants of a ring, in one collective. Times in seconds, the fill cost in
/// the square root of seconds, as docs/clusters.md explains.
struct RingConstants {
  // Low-latency protocols: base + steps * hop, then `lowEfficiency` of the
  // wire.
  double lowBase = 0, lowHop = 0, lowEfficiency = 0.5;
  // Simple protocol: base + steps * hop, then the wire, with a fill cost
  // `simpleFill` * sqrt(wire time).
  double simpleBase = 0, simpleHop = 0, simpleFill = 0;
  /// Share of one part that is moved beyond the ring's steps.
  double extra = 0;
  /// Share of the wire that is reached.
  double efficiency = 1;
};

/// Constants of the communication library on one kind of node. Times in
/// seconds, rates in bytes/s.
struct CollectiveConstants {
  RingConstants allReduce, allGather, reduceScatter;
  // All-to-all.
  double exchangeBase = 0, exchangeHop = 0, exchangeExtra = 0,
         exchangeEfficiency = 1, exchangeFill = 0;
  /// What one of the channels carries that an all-to-all within a node is laid
  /// on, and what it carries of short messages, which go by the low-latency
  /// protocol; 0 = not known: the links alone decide.
  double exchangeChannel = 0, exchangeLowChannel = 0;
  // Reduction in the switch; absent = the hardware has none.
  struct InSwitch {
    double base = 0, efficiency = 0.85, groupExponent = 0, fill = 0;
  };
  std::optional<InSwitch> inSwitch;
  // Messages between two devices: base, what one channel carries, and the share
  // of the links within a node that is reached.
  double messageBase = 0, messageChannel = 0, messageEfficiency = 1;
  /// As of exchanges; 0 = short messages are as fast as long ones.
  double messageLowChannel = 0;
  /// Thread blocks a running collective occupies on each device.
  uint32_t channels = 0;
  // Across nodes.
  double networkHop = 14e-6; ///< seconds per step between nodes
  double networkBase = 8.4e-6;
  /// What the software around the library adds to each collective: its members
  /// wait for each other. Messages have none.
  double synchronisation = 0;
  /// Nothing is known but the latency and bandwidth of steps: no trees.
  bool ringsOnly = false;
  /// Mean relative error of times on machines that were not fitted, for less
  /// than 1 MiB, less than 16 MiB, and more; 0 = not known.
  double relativeError[3] = {0, 0, 0};

  /// The one for a collective of `bytes`.
  double relativeErrorOf(int64_t bytes) const {
    return relativeError[bytes < (1 << 20) ? 0 : bytes < (16 << 20) ? 1 : 2];
  }
};

/// What is known of the communication library on devices of a generation that
/// NVLink connects, or (`nvlink` false) PCIe only: a set of
/// clusters/communication. Reduction in the switch is included where the
/// generation has it; it needs an NVSwitch.
const CollectiveConstants &defaultConstants(Architecture architecture,
                                            bool nvlink);

/// Reads an object of constants, the `collectives` of a node; those that it
/// does not name stay.
llvm::Error parseConstants(llvm::StringRef text, llvm::StringRef source,
                           CollectiveConstants &constants);

/// The object that `parseConstants` reads back.
void printConstants(const CollectiveConstants &constants,
                    llvm::StringRef source, llvm::raw_ostream &os);

/// Names of the embedded sets of constants, sorted.
std::vector<std::string> constantSetNames();

/// A kind of node.
struct NodeKind {
  NodeGraph graph;
  /// Type of each device of the graph by its number in the node, so that
  /// looking up a device costs the same in large nodes. Empty = found in the
  /// graph each time.
  std::vector<uint32_t> deviceTypes;
  CollectiveConstants collectives;
  /// The way between a device and the memory of its host. Needed where a
  /// strategy offloads.
  std::optional<Link> host;

  uint32_t numDevices() const;
};

/// `count` consecutive nodes of one kind.
struct NodeRun {
  uint32_t kind = 0;
  int64_t count = 1;
};

/// One level of switches above the NICs (level 0: leaf switches) or above the
/// level below. `span` units of the level below (nodes, for level 0) share one
/// unit of this level.
struct FabricLevel {
  std::string name; ///< "leaf", "spine", "pod"
  int64_t span = 1;
  /// Capacity below a unit over capacity above it: 1 = full bisection.
  double oversubscription = 1;
  double latency = 0; ///< seconds to pass it
};

/// The network between nodes. Traffic between NICs below the same unit of a
/// level does not go higher. The topmost level has no way up. Without levels
/// all NICs hang on one switch.
struct Fabric {
  std::vector<FabricLevel> levels;
  /// NIC i of every node below a leaf unit hangs on leaf switch i of that unit
  /// (rail-optimised): traffic between different rails passes the level above.
  /// Otherwise one leaf switch serves all NICs of its nodes.
  bool rails = false;
  /// Seconds a message needs from NIC to NIC below one switch.
  double latency = 0;
  /// Share of the NICs' line rate, and of the capacity of the levels above,
  /// that communication reaches on this site.
  double efficiency = networkEfficiency;
};

/// Device ids are node-major: the devices of node 0, then those of node 1.
struct Cluster {
  std::string name;
  std::vector<Device> devices; ///< types of devices
  std::vector<NodeKind> kinds;
  std::vector<NodeRun> nodes;
  Fabric fabric;
  /// What planning by two levels uses: the way between neighbours in a node,
  /// and a device's share of its node's NICs (bandwidth 0 = there are none).
  Link intraNode, interNode;

  int64_t numNodes() const;
  int64_t numDevices() const;
  /// Most devices in one node.
  int64_t devicesPerNode() const;
  int64_t nodeOf(int64_t device) const;
  /// Number of the device within its node.
  uint32_t localIndex(int64_t device) const;
  uint32_t kindOfNode(int64_t node) const;
  const Device &deviceAt(int64_t device) const;
  uint32_t deviceTypeOf(int64_t device) const;
  /// Whether all devices are of one type.
  bool isHomogeneous() const;
  /// Whether all nodes are of one kind.
  bool hasOneKind() const;
  const NodeKind &kindOf(int64_t device) const {
    return kinds[kindOfNode(nodeOf(device))];
  }

  /// Unit of fabric level `level` that `node` is below.
  int64_t unitOf(unsigned level, int64_t node) const;
};

/// The embedded preset `text` names: "dgx-a100" or "dgx-a100:16" (16 nodes).
/// Unknown names give an error that lists the presets.
llvm::Expected<Cluster> parseClusterPreset(llvm::StringRef text);

/// True if `text` names an embedded preset (with or without node count).
bool isClusterPreset(llvm::StringRef text);

/// Names of the embedded presets, sorted.
std::vector<std::string> clusterPresetNames();

/// Most nodes a cluster may have.
constexpr int64_t maxNodes = 1000000;

/// Fails if a device or a NIC has no way to the rest of its node, if nodes
/// can't reach each other, or if there are more than `maxNodes`.
llvm::Error checkReach(const Cluster &cluster);

/// Reads a cluster from JSON text: our own format (docs/clusters.md), or the
/// flat one of the original (`n_node`, `n_gpu_per_node`, ...). `source` names
/// the text in errors; `readFile` gives the text of a file that it refers to,
/// such as an NCCL topology dump, by a path relative to the text.
using FileReader = std::function<llvm::Expected<std::string>(llvm::StringRef)>;
llvm::Expected<Cluster> parseClusterJSON(llvm::StringRef text,
                                         llvm::StringRef source,
                                         const FileReader &readFile = nullptr);

/// Reads an NCCL topology dump (NCCL_TOPO_DUMP_FILE): the inside of one node.
/// Bandwidths are those that NCCL assumes for speeds and widths.
llvm::Expected<NodeGraph> parseTopologyXML(llvm::StringRef text,
                                           llvm::StringRef source);

} // namespace proteus::machine

#endif // PROTEUS_MACHINE_CLUSTER_H
