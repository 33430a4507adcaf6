//===- Communicator.h - collectives as flows over links ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A communicator holds the routes between the devices of one group. It turns a
// collective into a plan. A plan is a delay during which nothing is sent,
// followed by a flow that moves a volume of bytes over a set of links. Two
// bounds limit the rate of the flow: a ceiling, which is the rate of the
// algorithm without other traffic, and the bandwidth that other flows leave on
// the links. The simulate pass creates the communicators of a job; the engine
// runs their plans.
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
  None, ///< no transfer, because the group has one member or there are no bytes
  Ring,
  Tree,
  InSwitch,     ///< NVLS of NCCL: the NVSwitch adds and multicasts
  InSwitchTree, ///< in-switch reduction within nodes, a tree between nodes
  /// PAT of NCCL: an all-gather or reduce-scatter by one tree per member, in
  /// groups with one member per node.
  ParallelTrees,
  Pairwise, ///< direct transfers between pairs: all-to-all, scatter, gather
  Chain,    ///< from each member to the next one: broadcast
  Message,  ///< one direct message per sender: send/receive, permute, shift
  /// Direct writes into buffers of other members, without the communication
  /// library.
  UserBuffers,
};
/// Returns the name of `algorithm` for reports, for example "in-switch tree".
llvm::StringRef stringify(Algorithm algorithm);

/// Methods by which a collective, or a part of a collective, is executed.
enum class Transport : uint8_t {
  /// The communication library, for example NCCL.
  Library,
  /// Copies over NVLink into buffers that all members of the group share. If
  /// the members cannot share buffers, the library is used instead.
  UserBuffers,
  /// No transfer. After all members have written their parts into the buffer of
  /// a member, this member adds the parts.
  LocalSum,
};

/// Protocols of NCCL. LL and LL128 have low latency; Simple has the highest
/// bandwidth.
enum class Protocol : uint8_t { LL, LL128, Simple };
/// Returns "LL", "LL128" or "Simple".
llvm::StringRef stringify(Protocol protocol);

/// The execution of one collective of one size: a delay, then a flow.
struct Plan {
  Algorithm algorithm = Algorithm::None;
  Protocol protocol = Protocol::Simple;
  cost::Time latency = 0; ///< delay before the flow starts
  /// Bytes that the flow moves. For most algorithms, these are the bytes that
  /// the busiest member sends (docs/collectives.md). The loads of the links are
  /// relative to this volume.
  int64_t volume = 0;
  /// Highest rate of the flow in bytes/s. Positive if `volume` is positive.
  int64_t ceiling = 0;
  uint32_t channels = 0; ///< thread blocks occupied on each device
  /// Links that the flow loads, owned by the communicator. Null if nothing is
  /// sent.
  const LinkLoads *loads = nullptr;

  /// Returns the loads of all links, each link once, sorted by link.
  std::vector<LinkLoad> listLoads() const {
    return loads ? loads->list() : std::vector<LinkLoad>();
  }

  /// Returns the time of the collective if no other flow uses its links, in
  /// picoseconds.
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

  /// Returns the plan that the library chooses if no other collective runs.
  /// This is the plan that the library expects to be the fastest; it expects
  /// less bandwidth of trees than they reach. Of equally fast algorithms,
  /// returns the first in the order of `Algorithm`. Of equally fast protocols
  /// of one algorithm, returns the low-latency protocol. The first plan of an
  /// algorithm takes time linear in the size of the group, because it computes
  /// the link loads. Later plans take constant time. Thread-safe.
  virtual Plan plan(cost::CollectiveKind kind, int64_t bytes) const = 0;

  /// Returns the plan of an all-gather or reduce-scatter by direct writes into
  /// user buffers. Returns the plan of the library if the members cannot share
  /// buffers.
  virtual Plan planBuffers(cost::CollectiveKind kind, int64_t bytes) const {
    return plan(kind, bytes);
  }
  /// Returns the plan of the local sum at the end of a reduce-scatter of
  /// `bytes` over user buffers: each member adds the parts that it has
  /// received. Returns an empty plan if the members cannot share buffers.
  virtual Plan planSum(int64_t bytes) const { return {}; }

  /// Returns the plan of a collective over `transport`, by a call of `plan`,
  /// `planBuffers` or `planSum`.
  Plan planFor(Transport transport, cost::CollectiveKind kind,
               int64_t bytes) const;
};

class ClusterWays;

/// A factory for the communicators of a cluster. It computes the routes inside
/// each kind of node once for all groups. Thread-safe. The cluster must outlive
/// the factory.
class Network {
public:
  explicit Network(const machine::Cluster &cluster);
  /// Creates the communicator of `devices`, by the rules of
  /// Communicator::create.
  llvm::Expected<std::unique_ptr<Communicator>>
  createCommunicator(llvm::ArrayRef<int64_t> devices) const;

private:
  std::shared_ptr<const ClusterWays> ways; ///< shared with communicators
};

} // namespace proteus::net

#endif // PROTEUS_NETWORK_COMMUNICATOR_H
