//===- Paths.h - routes between devices and NICs ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of the routes inside a node that a communication library takes. It
// contains one route for each pair of *ends*: the devices of a group, and the
// NICs if the group spans several nodes. For each route it contains the loads
// that a ring puts on the links. The search for rings (Packing.h) uses the
// table.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_NETWORK_PATHS_H
#define PROTEUS_LIB_NETWORK_PATHS_H

#include "Proteus/Network/RingSearch.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace proteus::net {

/// Bandwidth in whole MB/s (1e6 bytes/s). The type is integral so that the
/// removal of a ring restores the capacities of the links exactly.
using Rate = int64_t;

/// Largest number of rings that the communication library forms.
constexpr uint32_t maxChannels = 16;

/// Loads that a ring puts on a link, as shares of the ring's rate.
enum class Share : uint8_t {
  Whole,
  /// Load on PCIe links if a device sends through an Intel CPU: 1.2, because
  /// the CPU loses a sixth of the bandwidth.
  ThroughIntel,
  /// Load in the opposite direction if a NIC writes to a device of compute
  /// capability below 8.0, because such a device acknowledges the writes: 1/8.
  Acknowledge,
};
constexpr unsigned numShares = 3;
/// Returns the factor by which the load of `share` multiplies the rate of a
/// ring, for example 1.2.
double factorOf(Share share);

/// A link of a route and the load that a ring puts on this link. A link has its
/// number in the node graph. If the node graph has n links, the port of NIC i
/// has the numbers n + 2i (out of the node) and n + 2i + 1 (into the node).
struct Load {
  uint32_t link;
  Share share;
};

/// A route between two ends.
struct Path {
  uint32_t begin = 0, end = 0; ///< range in PathTable::allLoads
  Rate width = 0; ///< rate of the narrowest link; 0 if there is no route
  uint32_t hops = 0;
  PathClass kind = PathClass::Local;
};

/// The routes between the ends of one node. Devices and NICs are numbered in
/// the order of their vertices in the node graph. In graphs of topology dumps,
/// this is their order on the PCIe bus.
class PathTable {
public:
  /// Finds the routes between the devices with the numbers `local`. If
  /// `withNICs` is true, also finds the routes between these devices and all
  /// NICs.
  PathTable(const machine::NodeGraph &graph, llvm::ArrayRef<uint32_t> local,
            bool withNICs);

  uint32_t numDevices() const { return devices.size(); }
  uint32_t numNICs() const { return nics.size(); }
  const machine::Vertex &device(uint32_t d) const {
    return graph.vertices[devices[d]];
  }
  const machine::Vertex &nic(uint32_t n) const {
    return graph.vertices[nics[n]];
  }

  const Path &between(uint32_t from, uint32_t to) const {
    return paths[from * numEnds() + to];
  }
  const Path &fromNIC(uint32_t nic, uint32_t device) const {
    return between(numDevices() + nic, device);
  }
  const Path &toNIC(uint32_t device, uint32_t nic) const {
    return between(device, numDevices() + nic);
  }
  llvm::ArrayRef<Load> loads(const Path &path) const {
    return llvm::ArrayRef(allLoads).slice(path.begin, path.end - path.begin);
  }

  /// Returns the capacity of every link, including the ports of NICs.
  llvm::ArrayRef<Rate> capacities() const { return capacity; }
  Rate portRate(uint32_t nic) const;

  /// Returns the width of the widest route from a device to another device, or
  /// to a NIC if there are NICs.
  Rate widestFromDevice() const;
  /// Returns the largest bandwidth out of one device. For each device, this is
  /// the bandwidth of its PCIe link or the sum of its NVLinks, whichever is
  /// larger.
  Rate mostOutOfDevice() const;
  /// Returns an upper bound on the number of rings of `speed` if routes between
  /// devices may have the class `intra` or better. The bound is the smallest of
  /// three numbers: the fewest rings that the links out of one device can
  /// carry, the rings that can enter through all NICs together, and
  /// `maxChannels`.
  int64_t mostRings(Rate speed, PathClass intra) const;

private:
  struct Tree;
  struct Edge {
    uint32_t to, link;
    machine::LinkKind kind;
  };

  uint32_t numEnds() const { return devices.size() + nics.size(); }
  uint32_t endVertex(uint32_t end) const;
  uint32_t cardOf(uint32_t nic) const;
  void buildEdges();
  Tree growTree(uint32_t base) const;
  std::vector<uint32_t> follow(const Tree &tree, uint32_t from) const;
  void setPath(uint32_t from, uint32_t to, llvm::ArrayRef<uint32_t> links,
               PathClass kind);
  uint32_t nearestCPU(const Tree &fromDevice) const;
  bool passesIntel(llvm::ArrayRef<uint32_t> links) const;

  const machine::NodeGraph &graph;
  std::vector<uint32_t> devices, nics; ///< numbers of vertices
  std::vector<uint32_t> cpus;          ///< numbers of vertices
  std::vector<bool> present; ///< for each vertex: true if routes may use it
  /// Edges that leave each vertex. The vertices of the graph come first, then
  /// one vertex per NIC for the fabric side of its port.
  std::vector<std::vector<Edge>> edges;
  std::vector<Rate> capacity; ///< capacity of each link and port
  /// The route from the end `from` to the end `to` is at
  /// from * numEnds() + to.
  std::vector<Path> paths;
  std::vector<Load> allLoads;
};

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_PATHS_H
