//===- Paths.h - the ways between devices and NICs of a node ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the packing of rings needs to know of a node: between any two of its
// ends (the group's devices, and NICs if the group spans nodes) the one way
// that a communication library takes, and how a stream loads its links.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_NETWORK_PATHS_H
#define PROTEUS_LIB_NETWORK_PATHS_H

#include "Proteus/Network/RingSearch.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace proteus::net {

/// Bandwidths of the search: whole megabytes (1e6) per second, so that a ring
/// that is taken away leaves exactly what was there before it was laid.
using Rate = int64_t;

/// Most rings that a library lays.
constexpr uint32_t maxChannels = 16;

/// How much of its rate a stream puts on a link.
enum class Share : uint8_t {
  Whole,
  /// Peers that meet in the root complex of an Intel CPU lose a sixth of PCIe.
  ThroughIntel,
  /// What a NIC writes to an older device costs an eighth in the other
  /// direction.
  Acknowledge,
};
constexpr unsigned numShares = 3;
double factorOf(Share share);

/// A link on a way. Links are numbered as in the node graph; the ports of NIC i
/// follow them: numLinks + 2i out of the node, numLinks + 2i + 1 into it.
struct Load {
  uint32_t link;
  Share share;
};

struct Path {
  uint32_t begin = 0, end = 0; ///< into the loads of the table
  Rate width = 0;              ///< narrowest link; 0 = no way
  uint32_t hops = 0;
  PathClass kind = PathClass::Local;
};

/// The ways between the ends of a group's part in one node. Devices and NICs
/// are numbered in the order of their vertices, which is bus order.
class PathTable {
public:
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

  /// Of every link, ports of NICs included.
  llvm::ArrayRef<Rate> capacities() const { return capacity; }
  Rate portRate(uint32_t nic) const;

  /// The widest way from a device: to another one, or to a NIC if there are
  /// NICs.
  Rate widestFromDevice() const;
  /// The most that links move out of one device: PCIe, or all its NVLinks.
  Rate mostOutOfDevice() const;
  /// No more rings than this leave every device, and enter by the NICs, over
  /// ways between devices no worse than `intra`.
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
  std::vector<uint32_t> devices, nics; ///< vertices
  std::vector<uint32_t> cpus;
  std::vector<bool> present;            ///< vertices that take part
  std::vector<std::vector<Edge>> edges; ///< by vertex; ports follow
  std::vector<Rate> capacity;
  std::vector<Path> paths;
  std::vector<Load> allLoads;
};

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_PATHS_H
