//===- NodeGraph.h - topology of one node -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The devices, switches, CPUs and NICs of one node, and the links between them.
// A cluster holds one graph per kind of node. lib/Network finds routes and
// rings in these graphs.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_MACHINE_NODEGRAPH_H
#define PROTEUS_MACHINE_NODEGRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace proteus::machine {

/// Kinds of components of a node.
enum class VertexKind : uint8_t { Device, NVSwitch, PCIeSwitch, CPU, NIC };
llvm::StringRef stringify(VertexKind kind);

/// Kinds of links inside a node.
enum class LinkKind : uint8_t {
  NVLink,  ///< between devices, or between a device and an NVSwitch
  PCIe,    ///< between devices, PCIe switches, CPUs and NICs
  Socket,  ///< between CPUs
  Network, ///< port between a NIC and the fabric
};
llvm::StringRef stringify(LinkKind kind);

/// Vendors of CPUs. The vendor determines the bandwidth of routes through a
/// CPU.
enum class CPUVendor : uint8_t { Other, Intel, AMD, ARM, Power };

/// Share of a NIC's line rate that remains after the overhead of network
/// protocols.
constexpr double networkEfficiency = 0.92;

/// A component of a node: a device, a switch, a CPU or a NIC.
struct Vertex {
  VertexKind kind = VertexKind::Device;
  /// Name in reports and diagnostics, for example "gpu 3" or a bus id.
  std::string name;
  /// Number of the vertex among the devices of the node if it is a device, or
  /// among the NICs of the node if it is a NIC. Numbers start at 0.
  uint32_t index = 0;
  // Fields of devices only.
  uint32_t type = 0;              ///< index into Cluster::devices
  uint32_t computeCapability = 0; ///< for example 90; 0 = unknown
  /// True if NICs can access the memory of the device directly (GPUDirect).
  bool directNIC = false;
  // Fields of CPUs only.
  CPUVendor vendor = CPUVendor::Other;
  uint32_t model = 0; ///< model number of the CPU, 0 = unknown
  // Fields of NICs only.
  double portBandwidth = 0; ///< bytes/s per direction
  std::string guid;         ///< identifier, the same for all ports of a card
  uint32_t port = 0;        ///< number of the port on its card
};

/// One direction of a connection, for example of a cable or a bus.
struct NodeLink {
  uint32_t from = 0, to = 0; ///< indices of vertices
  LinkKind kind = LinkKind::NVLink;
  double bandwidth = 0; ///< bytes/s
};

/// The graph of one node. Each connection consists of two links, one per
/// direction: link 2k + 1 is the opposite direction of link 2k.
struct NodeGraph {
  std::string name;
  std::vector<Vertex> vertices;
  std::vector<NodeLink> links;
  /// Remarks for the user about parts of the input file that the graph leaves
  /// out.
  std::vector<std::string> remarks;

  /// Adds a vertex and returns its number.
  uint32_t addVertex(Vertex vertex);
  /// Adds both directions of a connection and returns the number of the link
  /// from `from` to `to`.
  uint32_t connect(uint32_t from, uint32_t to, LinkKind kind, double bandwidth);

  /// Returns the vertices of a kind in the order of their `index`.
  std::vector<uint32_t> ofKind(VertexKind kind) const;
  uint32_t numDevices() const;
  uint32_t numNICs() const;
  /// Returns the links that leave `vertex`, as indices into `links`.
  std::vector<uint32_t> linksFrom(uint32_t vertex) const;
};

} // namespace proteus::machine

#endif // PROTEUS_MACHINE_NODEGRAPH_H
