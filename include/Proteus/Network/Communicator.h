//===- Communicator.h - collectives as flows over links ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A communicator holds the routes between the devices of one group. It turns a
// collective into a plan: a delay during which nothing is sent, then a flow
// that moves a volume at one rate over a set of links. Two bounds limit the
// rate: a ceiling, which is the rate that the algorithm reaches alone, and the
// bandwidth that other flows leave on the links. The simulate pass creates the
// communicators of a job; the engine runs their plans.
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

/// Algorithms by which collectives run.
enum class Algorithm : uint8_t {
  None, ///< no transfer: one member or zero bytes
  Ring,
  Tree,
  InSwitch,     ///< NVLS: the switch adds and multicasts
  InSwitchTree, ///< NVLS within nodes, a tree between them
  /// PAT: all-gather and reduce-scatter with one member per node.
  ParallelTrees,
  Pairwise, ///< all-to-all, scatter, gather
  Chain,    ///< broadcast
  Message,  ///< send/receive, permute, shift
  /// Direct writes into buffers of other members, without the library.
  UserBuffers,
};
/// Returns the name of `algorithm` in reports: "ring", "in-switch tree".
llvm::StringRef stringify(Algorithm algorithm);

/// Mechanisms that move the data of a collective.
enum class Transport : uint8_t {
  /// The communication library.
  Library,
  /// Copies over NVLink into buffers that the members of a node share. Groups
  /// whose members cannot share buffers use the library.
  UserBuffers,
  /// No transfer. Every member sums the parts that the members have written
  /// into its buffer, one part per member.
  LocalSum,
};

/// Protocols of NCCL: LL and LL128 have low latency, Simple has the highest
/// bandwidth.
enum class Protocol : uint8_t { LL, LL128, Simple };
/// Returns "LL", "LL128" or "Simple".
llvm::StringRef stringify(Protocol protocol);

/// Execution of one collective of one size: a delay, then a flow.
struct Plan {
  Algorithm algorithm = Algorithm::None;
  Protocol protocol = Protocol::Simple;
  cost::Time latency = 0; ///< delay before the flow starts
  /// Bytes that the flow moves: those of the member that sends most. The port
  /// of that member therefore has a load of `loadUnit`.
  int64_t volume = 0;
  int64_t ceiling = 0;   ///< highest rate of the flow, bytes/s; > 0 with volume
  uint32_t channels = 0; ///< thread blocks occupied on each device
  /// Links that the flow loads, owned by the communicator. Null if nothing is
  /// sent.
  const LinkLoads *loads = nullptr;

  /// Returns the loads of all links, ascending, each link once.
  std::vector<LinkLoad> listLoads() const {
    return loads ? loads->list() : std::vector<LinkLoad>();
  }

  /// Returns the time of the collective if no other flow uses its links.
  cost::Time alone() const;
};

/// A group of devices that communicate. The order of the devices matters for
/// some collectives: a SendRecv has the order sender, receiver; the first
/// device is the root of a broadcast, scatter or gather; in a permute or shift
/// every device sends to the next one. All other collectives depend on the set
/// of devices only. The cluster must outlive the communicator.
class Communicator {
public:
  /// Creates the communicator of `devices`, given in the order of the group.
  /// Fails if a device is not in the cluster, occurs twice, or cannot reach
  /// another device.
  static llvm::Expected<std::unique_ptr<Communicator>>
  create(const machine::Cluster &cluster, llvm::ArrayRef<int64_t> devices);
  virtual ~Communicator();

  /// Returns the plan that the library chooses for a collective that runs
  /// alone: the fastest one, where the library underestimates the bandwidth of
  /// trees. Of equally fast plans, returns the first in the order of
  /// `Algorithm`, low-latency protocols first. The first plan of an algorithm
  /// takes time linear in the size of the group, because it lists the links;
  /// later plans take constant time. Thread-safe.
  virtual Plan plan(cost::CollectiveKind kind, int64_t bytes) const = 0;

  /// Returns the plan of an all-gather or reduce-scatter over user buffers, or
  /// the plan of the library if the group has none.
  virtual Plan planBuffers(cost::CollectiveKind kind, int64_t bytes) const {
    return plan(kind, bytes);
  }
  /// Returns the plan of the local sum that ends a reduce-scatter of `bytes`
  /// over user buffers.
  virtual Plan planSum(int64_t bytes) const { return {}; }

  /// Calls the function above that plans for `transport`.
  Plan planFor(Transport transport, cost::CollectiveKind kind,
               int64_t bytes) const;
};

class ClusterWays;

/// Factory of the communicators of a cluster. Computes the routes inside each
/// kind of node once for all groups. Thread-safe. The cluster must outlive it.
class Network {
public:
  explicit Network(const machine::Cluster &cluster);
  /// Creates a communicator as Communicator::create does.
  llvm::Expected<std::unique_ptr<Communicator>>
  createCommunicator(llvm::ArrayRef<int64_t> devices) const;

private:
  std::shared_ptr<const ClusterWays> ways; ///< shared with communicators
};

} // namespace proteus::net

#endif // PROTEUS_NETWORK_COMMUNICATOR_H
