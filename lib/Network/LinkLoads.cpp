//===- LinkLoads.cpp - loads of flows on links ----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Network/LinkLoads.h"

#include <cassert>

using namespace llvm;
using namespace proteus::net;

std::vector<LinkLoad> LinkLoads::list() const {
  std::vector<LinkLoad> all;
  for (const Node &node : nodes)
    for (const PortLoad &load : patterns[node.pattern])
      all.push_back({{0, load.port, node.node}, load.load});
  all.insert(all.end(), fabric.begin(), fabric.end());
  return all;
}

/// Number of the empty pattern. The builder leaves out nodes with this pattern.
constexpr uint32_t nothing = ~0u;

uint32_t LinkLoadsBuilder::addPattern(LinkLoads::Pattern pattern) {
  if (pattern.empty())
    return nothing;
  auto [entry, isNew] = numbers.try_emplace(pattern, loads.patterns.size());
  if (isNew)
    loads.patterns.push_back(std::move(pattern));
  return entry->second;
}

void LinkLoadsBuilder::addNode(int64_t node, uint32_t pattern) {
  assert((loads.nodes.empty() || loads.nodes.back().node < node) &&
         "nodes must ascend");
  if (pattern != nothing)
    loads.nodes.push_back({node, pattern});
}

LinkLoads LinkLoadsBuilder::take() {
  numbers.clear();
  return std::move(loads);
}

LinkLoads proteus::net::groupLoads(ArrayRef<LinkLoad> loads) {
  LinkLoadsBuilder builder;
  size_t i = 0;
  while (i < loads.size() && loads[i].link.level == 0) {
    int64_t node = loads[i].link.unit;
    LinkLoads::Pattern pattern;
    for (; i < loads.size() && loads[i].link.level == 0 &&
           loads[i].link.unit == node;
         ++i)
      pattern.push_back({loads[i].link.port, loads[i].load});
    builder.addNode(node, builder.addPattern(std::move(pattern)));
  }
  for (const LinkLoad &load : loads.drop_front(i))
    builder.addFabric(load);
  return builder.take();
}
