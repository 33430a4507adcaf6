//===- Loads.cpp - link loads of algorithms -------------------------------===//
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
    // In a node with NVSwitches, a ring enters and leaves through the same NIC,
    // so that the data stay on one rail. The ring therefore begins and ends at
    // the member nearest to this NIC, and every member sends and receives the
    // volume over NVLink.
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

/// Adds the loads of two trees between nodes. Each tree carries half of `data`.
/// An inner node of one tree is a leaf of the other tree. All nodes except the
/// roots therefore send and receive `data` twice, or once if there are two
/// nodes. Two simplifications give all nodes the same loads. First, the roots
/// have the loads of the other nodes. Second, all edges connect neighbouring
/// nodes, which is true for most edges of a tree.
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
    // In a node with NVSwitches, one chain begins at each member, and each
    // chain carries an equal share of the data. The members therefore have
    // equal loads.
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
    // Every node receives one part from each other node. A part from j nodes
    // away moves by the set bits of j, the highest first: by 4 and 2 if j is 6.
    // Its last hop therefore has the length of the lowest set bit of j. Count
    // the parts that arrive over a hop of the length `distance`.
    uint64_t parts = (n - 1 + distance) / (2 * distance);
    for (uint64_t place = 0; place < n; ++place)
      builder.addEdge(place, (place + distance) % n, parts);
  }
  return builder.finish(1.0 / (n - 1));
}

//===----------------------------------------------------------------------===//
// Chains and messages
//===----------------------------------------------------------------------===//

/// Adds the loads of the chains that carry data to all members of one node. The
/// data start at the member `root`, or at all gateways if `root` is absent.
/// `continues` is true if the data then leave for other nodes.
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
    // If the data continue to other nodes, there is one chain per gateway, and
    // every member except the root is the last member of one chain. Otherwise
    // there is a single chain, which ends at the member before the root in the
    // ring.
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
  // The first and the last node of the chain differ from other nodes of their
  // shapes: no data enter the node of the root, and no data leave the last
  // node.
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
  // The order of the group determines which members send to other nodes. Nodes
  // of the same shape may therefore have different loads.
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
