//===- NodeWays.h - routes of messages inside a node ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The routes of data between the devices and NICs of one kind of node.
// Placements of groups use these routes. Rings take other routes (Paths.h).
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_NETWORK_NODEWAYS_H
#define PROTEUS_LIB_NETWORK_NODEWAYS_H

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Machine/NodeGraph.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace proteus::net {

/// A route: links of a node graph in the order in which data pass them.
using Way = std::vector<uint32_t>;

/// The routes inside one kind of node. A route between two vertices is the one
/// with the fewest hops; of several such routes, the widest one. The numbers of
/// vertices and links decide between equally wide ones. A route passes at most
/// one other device, and only over NVLink. It passes no NIC. Links without
/// bandwidth are ignored. Some routes to and from NICs take a detour (`toNIC`).
class NodeWays {
public:
  explicit NodeWays(const machine::NodeGraph &graph);

  const machine::NodeGraph &graph;
  std::vector<uint32_t> devices; ///< for each device: its vertex
  std::vector<uint32_t> nics;    ///< for each NIC: its vertex

  /// Returns the route between two devices, or nullopt if there is none.
  std::optional<Way> betweenDevices(uint32_t from, uint32_t to) const;
  /// Returns the route from a device to a NIC, or nullopt if there is none. If
  /// NICs have no direct access to the memory of the device, the route passes
  /// the CPU nearest to the device, if it reaches a CPU.
  std::optional<Way> toNIC(uint32_t device, uint32_t nic) const;
  /// Returns the route from a NIC to a device, by the rules of `toNIC`.
  std::optional<Way> fromNIC(uint32_t nic, uint32_t device) const;

  /// Returns the nearest NIC of a device, or nullopt if the device reaches no
  /// NIC. The nearest NIC has the fewest hops and, among these, the widest
  /// route. If several NICs are equally near, they are assigned in turn. For
  /// example, if NICs 0 and 1 are nearest to devices 0 to 3, these devices get
  /// the NICs 0, 1, 0, 1.
  std::optional<uint32_t> nicOf(uint32_t device) const {
    return nicOfDevice[device];
  }

  /// An NVLink from a device to an NVSwitch. The link in the opposite direction
  /// has the number link ^ 1.
  struct Port {
    uint32_t link;
    uint32_t nvswitch;
    double share; ///< share of the bandwidth of all ports of the device
  };
  /// Returns the NVLinks from a device to NVSwitches.
  llvm::ArrayRef<Port> portsOf(uint32_t device) const { return ports[device]; }
  /// Returns the bandwidth, in bytes/s, of all NVLinks from a device to
  /// NVSwitches.
  double portBandwidth(uint32_t device) const { return portSum[device]; }

private:
  struct Tree;
  Tree growTree(uint32_t source) const;
  std::optional<Way> find(uint32_t from, uint32_t to) const;
  std::optional<uint32_t> nextCPU(uint32_t device) const;
  std::optional<Way> join(uint32_t from, uint32_t by, uint32_t to) const;
  void findPorts();
  void assignNICs();

  std::vector<std::vector<uint32_t>>
      leaving; ///< for each vertex: the links that leave it
  std::vector<std::optional<uint32_t>> nicOfDevice;
  std::vector<std::vector<Port>> ports;
  std::vector<double> portSum;
};

/// A cache of the routes of each kind of node of a cluster. The search for
/// these routes takes most of the time to create a communicator on large nodes.
/// Thread-safe. The cluster must outlive the cache.
class ClusterWays {
public:
  explicit ClusterWays(const machine::Cluster &cluster)
      : cluster(cluster), kinds(cluster.kinds.size()) {}

  /// Returns the routes of a kind of node. The first call computes them.
  const NodeWays &ofKind(uint32_t kind) const {
    const Kind &entry = kinds[kind];
    std::call_once(entry.once, [&] {
      entry.ways = std::make_unique<NodeWays>(cluster.kinds[kind].graph);
    });
    return *entry.ways;
  }

  const machine::Cluster &cluster;

private:
  struct Kind {
    mutable std::once_flag once;
    mutable std::unique_ptr<NodeWays> ways;
  };
  std::vector<Kind> kinds;
};

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_NODEWAYS_H
