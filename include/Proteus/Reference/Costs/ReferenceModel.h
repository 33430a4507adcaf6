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
// the reference from validation/reference/constants.json. Its purpose is
// parity with the reference, not accuracy. fidelity=paper and `proteus parity`
// use it.
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

/// Kinds of collectives of the reference.
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
/// Returns the name of `kind` in the reference: "all_reduce", "p2p".
llvm::StringRef stringify(ReferenceKind kind);
/// Returns the kind of the given name, or nullopt if there is none.
std::optional<ReferenceKind> parseReferenceKind(llvm::StringRef name);

/// Fitted constants of the reference, as in
/// validation/reference/constants.json. Latencies are in us.
struct ReferenceConstants {
  double baseLatency = 0, nvlinkHop = 0, pcieHop = 0, networkHop = 0;
  /// An all-reduce across nodes of at least `plateauBytes` per rank takes
  /// `plateauFactor` times the latency.
  double plateauFactor = 0, plateauBytes = 0;
  /// Latency per rank of a broadcast or a similar collective over rings that
  /// are not equal.
  double unequalRings = 0;
  /// Factor on the bandwidth of four ranks in one node.
  double fourRanks = 0;
  /// Factors on the latency and bandwidth of a broadcast that yield those of an
  /// all-to-all, within a node and across nodes.
  double exchangeLatencyInNode = 0, exchangeLatencyAcross = 0,
         exchangeBandwidthAcross = 0;
  /// Bandwidth that replaces the computed one.
  struct Fixed {
    std::string cluster; ///< substring of the cluster's name
    ReferenceKind kind = ReferenceKind::AllReduce;
    int64_t ranks = 0;
    double bandwidth = 0; ///< GB/s
  };
  std::vector<Fixed> fixed;
  // Constants of the reference's timeline: ms before each kernel, ms by which a
  // delayed collective delays the next one, and the factor on the volume of
  // reduce-scatters in the Megatron examples.
  double launchGap = 0, delayShift = 0, reduceScatterVolume = 0;
  /// Share by which overlapping computation and gradient communication slow
  /// each other: by cluster for transformers, under "cnn" for convolutional
  /// networks.
  std::map<std::string, double> overlap;
};

/// Returns the text of validation/reference/constants.json, which is embedded
/// in the library.
llvm::StringRef embeddedReferenceConstants();

/// Parses the constants. Errors call the text `source`.
llvm::Expected<ReferenceConstants>
parseReferenceConstants(llvm::StringRef text, llvm::StringRef source);

/// A cluster of equal nodes. Devices are numbered node by node.
struct ReferenceCluster {
  std::string name;
  machine::NodeGraph node;
  int64_t nodes = 1;
  int64_t devicesPerNode = 1;
};

/// Properties of a group of ranks on which costs depend.
struct ReferenceGroup {
  int64_t ranks = 0, nodes = 0;
  /// Best class of routes among the nodes of the group, as the reference
  /// reports it: between devices, and between devices and NICs.
  PathClass intra = PathClass::Local, inter = PathClass::OneSwitch;
  bool acrossNodes = false;
  size_t channels = 0; ///< rings in every node
  double speed = 0;    ///< bytes/s of one ring
  /// GB/s of all rings together, with the factor for four ranks in one node.
  double busBandwidth = 0;
  bool equalRings = true; ///< true if all rings of a node have one order
  double hop = 0;         ///< us of one step within a node
};

/// Bandwidth and latency of a collective.
struct ReferenceFigures {
  double bandwidth = 0; ///< volume of the collective per time, GB/s
  double latency = 0;   ///< us
};

/// The reference's model of collectives on one cluster.
class ReferenceModel {
public:
  ReferenceModel(ReferenceCluster cluster, ReferenceConstants constants);

  /// Returns the group of `ranks`, which are devices of the cluster in any
  /// order, each once. Rings are searched once for all groups that have the
  /// same devices in a node.
  ReferenceGroup group(llvm::ArrayRef<int64_t> ranks);

  /// Returns the entry for `bytes` in the reference's table of bandwidths and
  /// latencies.
  ReferenceFigures figures(ReferenceKind kind, const ReferenceGroup &group,
                           double bytes) const;

  /// Returns the entry that the reference charges: that of `figures`, with a
  /// fixed bandwidth if the constants contain one.
  ReferenceFigures charged(ReferenceKind kind, const ReferenceGroup &group,
                           double bytes) const;

  /// Returns the time that the reference charges, in ms. Divides the bandwidth
  /// by `share`. An all-to-all takes this time once per peer.
  double milliseconds(ReferenceKind kind, const ReferenceGroup &group,
                      double bytes, double share = 1) const;

  /// Returns the rings through the devices with the numbers `local` (ascending)
  /// of a node.
  const RingSet &ringsOf(llvm::ArrayRef<uint32_t> local, bool acrossNodes);

private:
  ReferenceCluster cluster;
  ReferenceConstants constants;
  std::map<std::pair<std::vector<uint32_t>, bool>, RingSet> known;
};

} // namespace proteus::net

#endif // PROTEUS_REFERENCE_COSTS_REFERENCEMODEL_H
