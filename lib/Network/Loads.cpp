//===- Loads.cpp - the links that algorithms load -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loads.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace proteus;
using namespace proteus::net;

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

LoadSet proteus::net::ringLoads(const Placement &placement) {
  LoadBuilder builder(placement);
  uint32_t numPlaces = placement.numPlaces();
  for (uint32_t place = 0; place < numPlaces; ++place) {
    const NodeShape &shape = placement.shapeAt(place);
    // Between switches and NICs: the channel of a NIC begins and ends at the
    // member next to it, so that it keeps its rail.
    if (!shape.switched)
      builder.addLoads(place, shape.ringLoads, 1);
    else if (shape.size() > 1)
      for (uint32_t m = 0; m < shape.size(); ++m) {
        builder.addPortsOut(place, m, 1);
        builder.addPortsIn(place, m, 1);
      }
    if (numPlaces > 1)
      builder.addRingEdge(place, (place + 1) % numPlaces);
  }
  return builder.finish();
}

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

/// Two trees, each with half of the data, in which a node that is inside of one
/// is a leaf of the other: all nodes but the roots send and receive everything
/// twice (once, if there are two). Roots count as the others, so that nodes
/// stay alike, and edges are those between neighbours, as most of a tree's are.
static void addDoubleTree(LoadBuilder &builder, uint32_t numPlaces,
                          double data) {
  double amount = (numPlaces == 2 ? 1 : 2) * data;
  for (uint32_t place = 0; place < numPlaces; ++place)
    builder.addEdge(place, (place + 1) % numPlaces, amount);
}

LoadSet proteus::net::treeLoads(const Placement &placement) {
  LoadBuilder builder(placement);
  for (uint32_t place = 0; place < placement.numPlaces(); ++place) {
    const NodeShape &shape = placement.shapeAt(place);
    double hops = shape.size() - 1;
    // Chains begin at every gateway alike.
    if (shape.switched) {
      for (uint32_t m = 0; m < shape.size(); ++m) {
        builder.addPortsOut(place, m, 2 * hops / shape.size());
        builder.addPortsIn(place, m, 2 * hops / shape.size());
      }
      continue;
    }
    double share = 1.0 / shape.orders.size();
    for (const std::vector<uint32_t> &chain : shape.orders)
      for (uint32_t i = 0; i + 1 < chain.size(); ++i) {
        builder.addLocal(place, chain[i], chain[i + 1], share);
        builder.addLocal(place, chain[i + 1], chain[i], share);
      }
  }
  addDoubleTree(builder, placement.numPlaces(), 1);
  return builder.finish();
}

LoadSet proteus::net::inSwitchTreeLoads(const Placement &placement) {
  LoadBuilder builder(placement);
  uint32_t fewest = placement.shapeAt(0).size();
  for (const NodeShape &shape : placement.shapes)
    fewest = std::min(fewest, shape.size());
  double data = 1 / (1 + 1.0 / fewest);
  for (uint32_t place = 0; place < placement.numPlaces(); ++place) {
    uint32_t members = placement.shapeAt(place).size();
    for (uint32_t m = 0; m < members; ++m) {
      builder.addPortsOut(place, m, data * (1 + 1.0 / members));
      builder.addPortsIn(place, m, data * (1 + 1.0 / members));
    }
  }
  addDoubleTree(builder, placement.numPlaces(), data);
  return builder.finish();
}

LoadSet proteus::net::parallelTreeLoads(const Placement &placement) {
  LoadBuilder builder(placement);
  uint64_t n = placement.numPlaces();
  for (uint64_t distance = 1; distance < n; distance *= 2) {
    // The last hop of a part from j places away is the lowest set bit of j.
    uint64_t parts = (n - 1 + distance) / (2 * distance);
    for (uint64_t place = 0; place < n; ++place)
      builder.addEdge(place, (place + distance) % n, parts);
  }
  return builder.finish(1.0 / (n - 1));
}

//===----------------------------------------------------------------------===//
// Chains and messages
//===----------------------------------------------------------------------===//

/// Data that are in one member, or (`root` absent) come through all gateways,
/// reach all members of a node.
static void addChain(LoadBuilder &builder, const NodeShape &shape,
                     uint32_t place, std::optional<uint32_t> root,
                     bool continues) {
  double size = shape.size();
  if (size < 2)
    return;
  if (!shape.switched) {
    double share = 1.0 / shape.orders.size();
    for (std::vector<uint32_t> chain : shape.orders) {
      if (root)
        std::rotate(chain.begin(), llvm::find(chain, *root), chain.end());
      for (uint32_t i = 0; i + 1 < chain.size(); ++i)
        builder.addLocal(place, chain[i], chain[i + 1], share);
    }
    return;
  }
  for (uint32_t m = 0; m < shape.size(); ++m) {
    if (!root) {
      builder.addPortsOut(place, m, (size - 1) / size);
      builder.addPortsIn(place, m, (size - 1) / size);
      continue;
    }
    // With one channel per gateway every member is the last of one chain;
    // within one node it is the one before the root in the ring.
    bool isLast = m == (*root + shape.size() - 1) % shape.size();
    double out = m == *root || (!continues && !isLast) ? 1
                 : continues                           ? (size - 2) / (size - 1)
                                                       : 0;
    builder.addPortsOut(place, m, out);
    if (m != *root)
      builder.addPortsIn(place, m, 1);
  }
}

LoadSet proteus::net::chainLoads(const Placement &placement) {
  MemberPlace root = placement.order.front();
  uint32_t numPlaces = placement.numPlaces();
  // Nothing enters the first node from others, nothing leaves the last one.
  LoadBuilder builder(placement,
                      {root.place, (root.place + numPlaces - 1) % numPlaces});
  for (uint32_t i = 0; i < numPlaces; ++i) {
    uint32_t place = (root.place + i) % numPlaces;
    std::optional<uint32_t> from;
    if (i == 0)
      from = root.member;
    addChain(builder, placement.shapeAt(place), place, from, numPlaces > 1);
    if (i + 1 < numPlaces)
      builder.addEdge(place, (place + 1) % numPlaces, 1);
  }
  return builder.finish();
}

LoadSet proteus::net::scatterLoads(const Placement &placement, bool toRoot) {
  MemberPlace root = placement.order.front();
  LoadBuilder builder(placement, {root.place});
  for (const MemberPlace &member : llvm::drop_begin(placement.order))
    if (toRoot)
      builder.addMessage(member, root, 1);
    else
      builder.addMessage(root, member, 1);
  return builder.finish(1.0 / (placement.size - 1));
}

LoadSet proteus::net::shiftLoads(const Placement &placement) {
  // Which members have their neighbours in other nodes is up to the order.
  std::vector<uint32_t> all(placement.numPlaces());
  std::iota(all.begin(), all.end(), 0);
  LoadBuilder builder(placement, all);
  for (size_t i = 0; i < placement.order.size(); ++i)
    builder.addMessage(placement.order[i],
                       placement.order[(i + 1) % placement.order.size()], 1);
  return builder.finish();
}

LoadSet proteus::net::messageLoads(const Placement &placement) {
  MemberPlace from = placement.order[0], to = placement.order[1];
  LoadBuilder builder(placement, {from.place, to.place});
  builder.addMessage(from, to, 1);
  return builder.finish();
}
