//===- NodeGraph.cpp - topology of one node -------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/NodeGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <cassert>
#include <tuple>

using namespace llvm;
using namespace proteus::machine;

StringRef proteus::machine::stringify(VertexKind kind) {
  switch (kind) {
  case VertexKind::Device:
    return "device";
  case VertexKind::NVSwitch:
    return "nvswitch";
  case VertexKind::PCIeSwitch:
    return "pcie switch";
  case VertexKind::CPU:
    return "cpu";
  case VertexKind::NIC:
    return "nic";
  }
  llvm_unreachable("unknown kind of vertex");
}

StringRef proteus::machine::stringify(LinkKind kind) {
  switch (kind) {
  case LinkKind::NVLink:
    return "nvlink";
  case LinkKind::PCIe:
    return "pcie";
  case LinkKind::Socket:
    return "socket";
  case LinkKind::Network:
    return "network";
  }
  llvm_unreachable("unknown kind of link");
}

uint32_t NodeGraph::addVertex(Vertex vertex) {
  vertices.push_back(std::move(vertex));
  return vertices.size() - 1;
}

uint32_t NodeGraph::connect(uint32_t from, uint32_t to, LinkKind kind,
                            double bandwidth) {
  assert(from < vertices.size() && to < vertices.size() && from != to);
  links.push_back({from, to, kind, bandwidth});
  links.push_back({to, from, kind, bandwidth});
  return links.size() - 2;
}

std::vector<uint32_t> NodeGraph::ofKind(VertexKind kind) const {
  std::vector<uint32_t> found;
  for (uint32_t v = 0; v < vertices.size(); ++v)
    if (vertices[v].kind == kind)
      found.push_back(v);
  llvm::sort(found, [&](uint32_t a, uint32_t b) {
    return std::tuple(vertices[a].index, a) < std::tuple(vertices[b].index, b);
  });
  return found;
}

static uint32_t countOf(const NodeGraph &graph, VertexKind kind) {
  return llvm::count_if(graph.vertices,
                        [&](const Vertex &v) { return v.kind == kind; });
}

uint32_t NodeGraph::numDevices() const {
  return countOf(*this, VertexKind::Device);
}

uint32_t NodeGraph::numNICs() const { return countOf(*this, VertexKind::NIC); }

std::vector<uint32_t> NodeGraph::linksFrom(uint32_t vertex) const {
  std::vector<uint32_t> found;
  for (uint32_t l = 0; l < links.size(); ++l)
    if (links[l].from == vertex)
      found.push_back(l);
  return found;
}
