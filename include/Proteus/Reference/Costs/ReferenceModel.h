//===- ReferenceModel.h - collective costs of the reference -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bandwidth and latency of collectives as the published Proteus computes them.
// The model uses the same ring search as the flow model, and the constants of
// the reference from validation/reference/constants.json. Its purpose is parity
// with the reference, not accuracy. The model serves fidelity=paper and
// `proteus parity`.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_REFERENCE_COSTS_REFERENCEMODEL_H
#define PROTEUS_REFERENCE_COSTS_REFERENCEMODEL_H

#include "Proteus/Machine/NodeGraph.h"
#include "Proteus/Network/RingSearch.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace proteus::net {

/// The kinds of collectives that the reference distinguishes.
enum class ReferenceKind : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  Broadcast,
  Reduce,
  PointToPoint,
  Scatter,
  Gather,
  AllToAll,
};
/// Returns the name of `kind` in the reference, for example "all_reduce" or
/// "p2p".
llvm::StringRef stringify(ReferenceKind kind);
/// Returns the kind with the name `name`, or nullopt if the reference has no
/// such kind.
std::optional<ReferenceKind> parseReferenceKind(llvm::StringRef name);

/// Fitted constants of the reference, as in
/// validation/reference/constants.json. Latencies are in us.
struct ReferenceConstants {
  /// Latency of every collective, and additional latency of one step over
  /// NVLink, over PCIe and between nodes.
  double baseLatency = 0, nvlinkHop = 0, pcieHop = 0, networkHop = 0;
  /// An all-reduce across nodes has `plateauFactor` times the latency if it
  /// moves at least `plateauBytes` per rank.
  double plateauFactor = 0, plateauBytes = 0;
  /// If the rings of a node visit the devices in different orders, a broadcast,
  /// reduce, scatter, gather or message has this latency per rank, instead of
  /// the latency of one step, in addition to `baseLatency`.
  double unequalRings = 0;
  /// Factor on the bandwidth of a group of four ranks in one node.
  double fourRanks = 0;
  /// The latency and the bandwidth of an all-to-all are those of a broadcast,
  /// multiplied by these factors. The suffix `InNode` stands for groups within
  /// a node, `Across` for groups across nodes. Across nodes, the bandwidth is
  /// also divided by the number of nodes of the cluster.
  double exchangeLatencyInNode = 0, exchangeLatencyAcross = 0,
         exchangeBandwidthAcross = 0;
  /// A bandwidth that replaces the computed one for one kind of collective on
  /// some clusters.
  struct Fixed {
    std::string cluster; ///< applies if the cluster's name contains this text
    ReferenceKind kind = ReferenceKind::AllReduce;
    int64_t ranks = 0;
    double bandwidth = 0; ///< GB/s
  };
  std::vector<Fixed> fixed;
  double launchGap = 0; ///< ms before each kernel
};

/// Returns the text of validation/reference/constants.json, which is embedded
/// in the library.
llvm::StringRef embeddedReferenceConstants();

/// Parses the text of constants.json. `source` is its name in errors.
llvm::Expected<ReferenceConstants>
parseReferenceConstants(llvm::StringRef text, llvm::StringRef source);

/// A cluster of equal nodes. Devices are numbered node by node.
struct ReferenceCluster {
  std::string name;
  machine::NodeGraph node;
  int64_t nodes = 1;
  int64_t devicesPerNode = 1;
};

/// A group of ranks, with the properties that determine the costs of its
/// collectives.
struct ReferenceGroup {
  int64_t ranks = 0, nodes = 0;
  /// `intra`: class of the routes between devices. `inter`: class of the routes
  /// between devices and NICs. If the nodes of the group differ, each is the
  /// fastest class of any node, as in the reference.
  PathClass intra = PathClass::Local, inter = PathClass::OneSwitch;
  bool acrossNodes = false;
  size_t channels = 0; ///< number of rings in every node
  double speed = 0;    ///< bytes/s of one ring
  /// GB/s of all rings together, multiplied by `fourRanks` for four ranks in
  /// one node.
  double busBandwidth = 0;
  /// True if, in each node, all rings visit the devices in the same order.
  bool equalRings = true;
  double hop = 0; ///< us of one step of a ring within a node
};

/// Bandwidth and latency of one collective.
struct ReferenceFigures {
  double bandwidth = 0; ///< volume of the collective per time, GB/s
  double latency = 0;   ///< us
};

/// The reference's model of collectives on one cluster.
class ReferenceModel {
public:
  ReferenceModel(ReferenceCluster cluster, ReferenceConstants constants);

  /// Returns the group of `ranks`, which are devices of the cluster in any
  /// order, each once. Uses the rings that `ringsOf` returns.
  ReferenceGroup group(llvm::ArrayRef<int64_t> ranks);

  /// Returns the bandwidth and the latency that follow from the rings of the
  /// group. They equal those in the reference's table of collectives.
  ReferenceFigures figures(ReferenceKind kind, const ReferenceGroup &group,
                           double bytes) const;

  /// Returns the bandwidth and the latency that the reference charges. They are
  /// the result of `figures`, but a bandwidth in `ReferenceConstants::fixed`
  /// replaces the computed one.
  ReferenceFigures charged(ReferenceKind kind, const ReferenceGroup &group,
                           double bytes) const;

  /// Returns the time in ms that the reference charges for a collective of
  /// `bytes`. `share` is the number of collectives that share the bandwidth
  /// equally. For an all-to-all, `bytes` are those for one peer, and the result
  /// is the time for all peers.
  double milliseconds(ReferenceKind kind, const ReferenceGroup &group,
                      double bytes, double share = 1) const;

  /// Returns the rings through the devices with the numbers `local` (ascending)
  /// of a node. With `acrossNodes`, the rings enter and leave the node through
  /// NICs. Repeated calls return the rings that the first call found.
  const RingSet &ringsOf(llvm::ArrayRef<uint32_t> local, bool acrossNodes);

private:
  ReferenceCluster cluster;
  ReferenceConstants constants;
  std::map<std::pair<std::vector<uint32_t>, bool>, RingSet> known;
};

} // namespace proteus::net

#endif // PROTEUS_REFERENCE_COSTS_REFERENCEMODEL_H
