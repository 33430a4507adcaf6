//===- Communicator.h - collectives as flows over links ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A communicator knows the ways between the devices of one group. A collective
// on it becomes a plan: a delay in which nothing is sent, then a flow that
// moves a volume at one rate over a set of links. The rate is bounded by a
// ceiling (what the algorithm reaches alone) and by what the links have left
// for it.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_NETWORK_COMMUNICATOR_H
#define PROTEUS_NETWORK_COMMUNICATOR_H

#include "Proteus/Cost/CostModel.h"
#include "Proteus/Machine/Cluster.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

namespace proteus::net {

/// A link of the cluster, one direction.
struct LinkId {
  /// 0: inside a node, or a NIC's port; k + 1: above units of fabric level k.
  uint32_t level = 0;
  /// Level 0: index into the links of the node graph; the ports of NIC i
  /// towards the fabric follow them: numLinks + 2i out, numLinks + 2i + 1 in.
  /// Above: 2 * rail up, 2 * rail + 1 down (rail 0 without rails, and above the
  /// lowest level).
  uint32_t port = 0;
  int64_t unit = 0; ///< the node, or the unit of the fabric level

  friend bool operator==(const LinkId &a, const LinkId &b) {
    return a.level == b.level && a.port == b.port && a.unit == b.unit;
  }
  friend bool operator<(const LinkId &a, const LinkId &b) {
    return std::tie(a.level, a.unit, a.port) <
           std::tie(b.level, b.unit, b.port);
  }
};

/// Bytes/s that a link carries. A NIC's port carries `networkEfficiency` of its
/// line rate; the way up from a switch what is below it, divided by the
/// oversubscription of all levels up to it.
int64_t capacityOf(const machine::Cluster &cluster, const LinkId &link);
/// "node 3: gpu 2 -> nvswitch", "leaf 7 rail 2 up".
std::string nameOf(const machine::Cluster &cluster, const LinkId &link);

using machine::networkEfficiency;

/// Loads are integers so that sums over any grouping of flows are equal.
constexpr uint32_t loadUnit = 1 << 16;

/// A flow of rate x puts x * load / loadUnit on the link.
struct LinkLoad {
  LinkId link;
  int64_t load = loadUnit;
};

enum class Algorithm : uint8_t {
  None, ///< one member: nothing to do
  Ring,
  Tree,
  InSwitch,     ///< NVLS: the switch adds and multicasts
  InSwitchTree, ///< NVLS in the nodes, a tree between them
  /// PAT: all-gather, reduce-scatter with one member per node
  ParallelTrees,
  Pairwise, ///< all-to-all, scatter, gather
  Chain,    ///< broadcast
  Message,  ///< send/recv, permute, shift
};
llvm::StringRef stringify(Algorithm algorithm);

enum class Protocol : uint8_t { LL, LL128, Simple };
llvm::StringRef stringify(Protocol protocol);

/// How one collective of one size runs.
struct Plan {
  Algorithm algorithm = Algorithm::None;
  Protocol protocol = Protocol::Simple;
  cost::Time latency = 0; ///< nothing is sent during it
  /// Bytes that the flow moves: those of the member that sends most, so that
  /// a load of `loadUnit` is its port.
  int64_t volume = 0;
  int64_t ceiling = 0;   ///< bytes/s it reaches alone; > 0 if volume > 0
  uint32_t channels = 0; ///< thread blocks it occupies on each device
  /// The links it loads, ascending, each once; the communicator owns the list.
  llvm::ArrayRef<LinkLoad> loads;

  /// Time without anyone else on the links.
  cost::Time alone() const;
};

/// A group of devices that communicate. For a SendRecv: sender, receiver. The
/// first device is the root of a broadcast, scatter or gather; in a permute or
/// shift each sends to the next one. Everything else depends on the set of
/// devices only. The cluster must outlive it.
class Communicator {
public:
  /// `devices` in the order of the group. Fails if one is not in the cluster or
  /// there twice, and if some cannot reach another.
  static llvm::Expected<std::unique_ptr<Communicator>>
  create(const machine::Cluster &cluster, llvm::ArrayRef<int64_t> devices);
  virtual ~Communicator();

  /// The fastest way, chosen as if the collective ran alone. Of equally fast
  /// ones the first in the order of `Algorithm`, low-latency protocols first.
  /// The first plan of an algorithm lists its links (linear in the size of the
  /// group), later ones take constant time. May be called by several threads.
  virtual Plan plan(cost::CollectiveKind kind, int64_t bytes) const = 0;
};

} // namespace proteus::net

#endif // PROTEUS_NETWORK_COMMUNICATOR_H
