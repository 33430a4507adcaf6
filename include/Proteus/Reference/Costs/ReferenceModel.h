//===- ReferenceModel.h - collectives as the original costs them *- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parity mode: bandwidth and latency of a collective as the original
// release computes them. It takes rings from the same search as the flow model
// and the release's own constants from a data file; nothing here is meant to
// be a good prediction.
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
/// "all_reduce", "p2p": the names of the original.
llvm::StringRef stringify(ReferenceKind kind);
std::optional<ReferenceKind> parseReferenceKind(llvm::StringRef name);

/// Fitted figures of the original, as validation/reference/constants.json holds
/// them. Latencies in us.
struct ReferenceConstants {
  double baseLatency = 0, nvlinkHop = 0, pcieHop = 0, networkHop = 0;
  /// An all-reduce across nodes of at least `plateauBytes` per rank takes
  /// `plateauFactor` times the latency.
  double plateauFactor = 0, plateauBytes = 0;
  /// Latency per rank of a broadcast over rings that are not equal.
  double unequalRings = 0;
  /// Multiplies the bandwidth of four ranks in one node.
  double fourRanks = 0;
  /// Multiply the broadcast entry that stands for an all-to-all.
  double exchangeLatencyInNode = 0, exchangeLatencyAcross = 0,
         exchangeBandwidthAcross = 0;
  /// Bandwidths (GB/s) that replace the computed one in costs.
  struct Fixed {
    std::string cluster; ///< part of the cluster's name
    ReferenceKind kind = ReferenceKind::AllReduce;
    int64_t ranks = 0;
    double bandwidth = 0;
  };
  std::vector<Fixed> fixed;
  // Of the release's timeline: ms before each kernel, ms by which a delayed
  // collective pushes the next, and the factor on the volume of reduce-scatters
  // in its Megatron examples.
  double launchGap = 0, delayShift = 0, reduceScatterVolume = 0;
  /// How much overlapping computation and gradients slow each other: by
  /// cluster for transformers, under "cnn" for convolutional networks.
  std::map<std::string, double> overlap;
};

/// The text of validation/reference/constants.json, which is part of the
/// library.
llvm::StringRef embeddedReferenceConstants();

/// Reads the constants; `source` names the text in errors.
llvm::Expected<ReferenceConstants>
parseReferenceConstants(llvm::StringRef text, llvm::StringRef source);

/// Equal nodes; devices are numbered node by node.
struct ReferenceCluster {
  std::string name;
  machine::NodeGraph node;
  int64_t nodes = 1;
  int64_t devicesPerNode = 1;
};

/// What the original knows of a group of ranks.
struct ReferenceGroup {
  int64_t ranks = 0, nodes = 0;
  /// Of the group's nodes, the best class, as the original reports it.
  PathClass intra = PathClass::Local, inter = PathClass::OneSwitch;
  bool acrossNodes = false;
  size_t channels = 0;     ///< rings, in every node
  double speed = 0;        ///< bytes/s of one ring
  double busBandwidth = 0; ///< GB/s of all rings together, corrected
  bool equalRings = true;
  double hop = 0; ///< us of one step within a node
};

struct ReferenceFigures {
  double bandwidth = 0; ///< GB/s by the volume of the collective
  double latency = 0;   ///< us
};

class ReferenceModel {
public:
  ReferenceModel(ReferenceCluster cluster, ReferenceConstants constants);

  /// `ranks` are devices of the cluster, in any order, each once. Groups with
  /// the same places in their nodes are searched once.
  ReferenceGroup group(llvm::ArrayRef<int64_t> ranks);

  /// The entry of the release's table for a volume.
  ReferenceFigures figures(ReferenceKind kind, const ReferenceGroup &group,
                           double bytes) const;

  /// The same with fixed bandwidths: what the release charges.
  ReferenceFigures charged(ReferenceKind kind, const ReferenceGroup &group,
                           double bytes) const;

  /// Time of what is charged. `share` divides the bandwidth; all-to-all counts
  /// once per peer.
  double milliseconds(ReferenceKind kind, const ReferenceGroup &group,
                      double bytes, double share = 1) const;

  /// Rings through devices of a node (numbers in it, ascending).
  const RingSet &ringsOf(llvm::ArrayRef<uint32_t> local, bool acrossNodes);

private:
  ReferenceCluster cluster;
  ReferenceConstants constants;
  std::map<std::pair<std::vector<uint32_t>, bool>, RingSet> known;
};

} // namespace proteus::net

#endif // PROTEUS_REFERENCE_COSTS_REFERENCEMODEL_H
