//===- NodeWays.h - ways of messages inside one node ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// Links of a node graph in the order in which a message passes them.
using Way = std::vector<uint32_t>;

/// The ways between devices and NICs of one kind of node: fewest hops, then
/// widest, then the first in the order of links. Data pass at most one other
/// device, over NVLink, and no NIC. Links without bandwidth are cut.
class NodeWays {
public:
  explicit NodeWays(const machine::NodeGraph &graph);

  const machine::NodeGraph &graph;
  std::vector<uint32_t> devices; ///< vertices by number in the node
  std::vector<uint32_t> nics;    ///< likewise

  std::optional<Way> betweenDevices(uint32_t from, uint32_t to) const;
  /// A NIC that doesn't read the memory of the device is reached through the
  /// CPU next to the device.
  std::optional<Way> toNIC(uint32_t device, uint32_t nic) const;
  std::optional<Way> fromNIC(uint32_t nic, uint32_t device) const;

  /// The NIC of a device: the nearest one. Devices to which the same NICs are
  /// equally near take turns.
  std::optional<uint32_t> nicOf(uint32_t device) const {
    return nicOfDevice[device];
  }

  /// NVLinks from a device to switches, each with its share of their
  /// bandwidth; empty if there are none. The way back is link ^ 1.
  struct Port {
    uint32_t link;
    uint32_t nvswitch;
    double share;
  };
  llvm::ArrayRef<Port> portsOf(uint32_t device) const { return ports[device]; }
  double portBandwidth(uint32_t device) const { return portSum[device]; }

private:
  struct Tree;
  Tree growTree(uint32_t source) const;
  std::optional<Way> find(uint32_t from, uint32_t to) const;
  std::optional<uint32_t> nextCPU(uint32_t device) const;
  std::optional<Way> join(uint32_t from, uint32_t by, uint32_t to) const;
  void findPorts();
  void assignNICs();

  std::vector<std::vector<uint32_t>> leaving; ///< links by vertex
  std::vector<std::optional<uint32_t>> nicOfDevice;
  std::vector<std::vector<Port>> ports;
  std::vector<double> portSum;
};

/// The ways in the nodes of a cluster, found once for all groups on it: to find
/// them in a large node takes longer than all else of a group. May be asked by
/// several threads. The cluster must outlive it.
class ClusterWays {
public:
  explicit ClusterWays(const machine::Cluster &cluster)
      : cluster(cluster), kinds(cluster.kinds.size()) {}

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
