//===- NodeGraph.h - what is inside one node --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices, switches, sockets and NICs of one node, and the links between them.
// A cluster holds one graph per kind of node, never one per node.
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

enum class VertexKind : uint8_t { Device, NVSwitch, PCIeSwitch, CPU, NIC };
llvm::StringRef stringify(VertexKind kind);

enum class LinkKind : uint8_t {
  NVLink,  ///< between devices, or device and NVSwitch
  PCIe,    ///< between device, PCIe switch, CPU, NIC
  Socket,  ///< between CPUs
  Network, ///< a NIC's port towards the fabric
};
llvm::StringRef stringify(LinkKind kind);

/// Who makes the CPU matters for the way peers reach each other through it.
enum class CPUVendor : uint8_t { Other, Intel, AMD, ARM, Power };

/// What protocols of the network leave of a NIC's line rate.
constexpr double networkEfficiency = 0.92;

struct Vertex {
  VertexKind kind = VertexKind::Device;
  std::string name; ///< "gpu 3", a bus id, for reports and diagnostics
  /// Device: its number in the node, 0, 1, ... NIC: likewise.
  uint32_t index = 0;
  // Device.
  uint32_t type = 0;              ///< index into Cluster::devices
  uint32_t computeCapability = 0; ///< 70, 80, 90; 0 = unknown
  bool directNIC = false;         ///< NICs read its memory (GPUDirect)
  // CPU.
  CPUVendor vendor = CPUVendor::Other;
  uint32_t model = 0; ///< model number of the CPU, 0 = unknown
  // NIC.
  double portBandwidth = 0; ///< bytes/s per direction
  std::string guid;         ///< NICs of one guid are ports of one card
  uint32_t port = 0;
};

/// One direction of a cable or a bus.
struct NodeLink {
  uint32_t from = 0, to = 0; ///< vertices
  LinkKind kind = LinkKind::NVLink;
  double bandwidth = 0; ///< bytes/s
};

/// Both directions of every connection are links of their own, next to each
/// other: link 2k leads one way, link 2k + 1 back.
struct NodeGraph {
  std::string name;
  std::vector<Vertex> vertices;
  std::vector<NodeLink> links;
  /// What was left out of the source, for the user to know.
  std::vector<std::string> remarks;

  uint32_t addVertex(Vertex vertex);
  /// Adds both directions; returns the number of the first.
  uint32_t connect(uint32_t from, uint32_t to, LinkKind kind, double bandwidth);

  /// Vertices of a kind in the order of their `index`.
  std::vector<uint32_t> ofKind(VertexKind kind) const;
  uint32_t numDevices() const;
  uint32_t numNICs() const;
  /// Links that leave `vertex`, as indices into `links`.
  std::vector<uint32_t> linksFrom(uint32_t vertex) const;
};

} // namespace proteus::machine

#endif // PROTEUS_MACHINE_NODEGRAPH_H
