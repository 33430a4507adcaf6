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
#include "Proteus/Network/LinkLoads.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace proteus::net {

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
  /// Members write into buffers of each other, without the library.
  UserBuffers,
};
llvm::StringRef stringify(Algorithm algorithm);

/// Who moves the data of a collective.
enum class Transport : uint8_t {
  Library,
  /// Copies into buffers that the members of a node have opened to each other
  /// over NVLink. Groups that this does not reach use the library.
  UserBuffers,
  /// Nothing is left to move: each adds up what all have written into its
  /// buffers, a part per member.
  LocalSum,
};

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
  /// The links it loads; the communicator owns them. None: nothing is sent.
  const LinkLoads *loads = nullptr;

  /// The same written out, ascending, each link once.
  std::vector<LinkLoad> listLoads() const {
    return loads ? loads->list() : std::vector<LinkLoad>();
  }

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

  /// The same without the library, for all-gathers and reduce-scatters.
  virtual Plan planBuffers(cost::CollectiveKind kind, int64_t bytes) const {
    return plan(kind, bytes);
  }
  /// The sum that ends a reduce-scatter of `bytes` by user buffers.
  virtual Plan planSum(int64_t bytes) const { return {}; }

  Plan planFor(Transport transport, cost::CollectiveKind kind,
               int64_t bytes) const;
};

class ClusterWays;

/// Makes the communicators of a cluster. What all groups ask of a node is found
/// once. May be used by several threads. The cluster must outlive it.
class Network {
public:
  explicit Network(const machine::Cluster &cluster);
  /// As Communicator::create.
  llvm::Expected<std::unique_ptr<Communicator>>
  createCommunicator(llvm::ArrayRef<int64_t> devices) const;

private:
  std::shared_ptr<const ClusterWays> ways; ///< communicators keep it too
};

} // namespace proteus::net

#endif // PROTEUS_NETWORK_COMMUNICATOR_H
