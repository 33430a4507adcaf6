//===- AlphaBeta.cpp - collectives as rings -------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/CostModel.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace proteus::cost;

namespace {
class AlphaBetaModel : public CollectiveCostModel {
public:
  explicit AlphaBetaModel(const Cluster &cluster)
      : intraNode(cluster.intraNode), interNode(cluster.interNode) {}

  Answer cost(const Collective &collective) const override {
    if (collective.group.ranks <= 1)
      return {0, Source::Roofline};
    return {fromSeconds(seconds(collective)), Source::Roofline};
  }

private:
  /// Returns the lowest bandwidth and the highest latency in a ring through the
  /// group.
  Link linkOf(const GroupShape &group) const {
    if (group.nodes <= 1)
      return intraNode;
    if (group.ranksPerNode <= 1)
      return interNode;
    return {std::min(intraNode.bandwidth, interNode.bandwidth),
            std::max(intraNode.latency, interNode.latency)};
  }

  double seconds(const Collective &collective) const {
    Link link = linkOf(collective.group);
    double bytes = static_cast<double>(collective.bytes);
    double ranks = static_cast<double>(collective.group.ranks);
    double whole = bytes / link.bandwidth;
    // One step of a ring moves 1 / ranks of the bytes.
    double allSteps = (ranks - 1) * (whole / ranks + link.latency);
    switch (collective.kind) {
    case CollectiveKind::AllReduce:
      return 2 * allSteps;
    case CollectiveKind::AllGather:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllToAll:
    case CollectiveKind::Scatter:
    case CollectiveKind::Gather:
      return allSteps;
    case CollectiveKind::Broadcast:
      return whole + (ranks - 1) * link.latency;
    case CollectiveKind::Permute:
    case CollectiveKind::SendRecv:
    case CollectiveKind::Shift:
      return whole + link.latency;
    }
    llvm_unreachable("unknown collective kind");
  }

  Link intraNode;
  Link interNode;
};
} // namespace

std::unique_ptr<CollectiveCostModel>
proteus::cost::createAlphaBetaModel(const Cluster &cluster) {
  return std::make_unique<AlphaBetaModel>(cluster);
}
