//===- ReferenceModel.cpp - collective costs of the reference -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Reference/Costs/ReferenceModel.h"
#include "Proteus/Support/JSON.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cassert>

using namespace llvm;
using namespace proteus::net;
using proteus::json::Reader;

static constexpr std::pair<ReferenceKind, StringRef> kindNames[] = {
    {ReferenceKind::AllReduce, "all_reduce"},
    {ReferenceKind::AllGather, "all_gather"},
    {ReferenceKind::ReduceScatter, "reduce_scatter"},
    {ReferenceKind::Broadcast, "broadcast"},
    {ReferenceKind::Reduce, "reduce"},
    {ReferenceKind::PointToPoint, "p2p"},
    {ReferenceKind::Scatter, "scatter"},
    {ReferenceKind::Gather, "gather"},
    {ReferenceKind::AllToAll, "all_to_all"},
};

StringRef proteus::net::stringify(ReferenceKind kind) {
  for (auto [known, name] : kindNames)
    if (known == kind)
      return name;
  llvm_unreachable("unknown kind of collective");
}

std::optional<ReferenceKind> proteus::net::parseReferenceKind(StringRef name) {
  for (auto [kind, known] : kindNames)
    if (known == name)
      return kind;
  return std::nullopt;
}

StringRef proteus::net::embeddedReferenceConstants() {
  static constexpr std::pair<StringRef, StringRef> files[] = {
#include "ReferenceConstants.inc"
  };
  return files[0].second;
}

static ReferenceConstants::Fixed readFixed(Reader entry) {
  entry.expectKeys({"cluster", "kind", "ranks", "bandwidth_gbps"});
  ReferenceConstants::Fixed fixed;
  fixed.cluster = entry["cluster"].nonEmptyString();
  std::string name = entry["kind"].nonEmptyString();
  if (std::optional<ReferenceKind> kind = parseReferenceKind(name))
    fixed.kind = *kind;
  else
    entry["kind"].fail("unknown collective '" + name + "'");
  fixed.ranks = entry["ranks"].integer(2, 1 << 20);
  fixed.bandwidth = entry["bandwidth_gbps"].positive(1e6);
  return fixed;
}

Expected<ReferenceConstants>
proteus::net::parseReferenceConstants(StringRef text, StringRef source) {
  constexpr double most = 1e6;
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  ReferenceConstants constants;
  Reader root = document->root();
  root.expectKeys({"source", "ring", "all_to_all", "fixed_bandwidths",
                   "compute", "timeline"});
  Reader ring = root["ring"];
  constants.baseLatency = ring["base_latency_us"].positive(most);
  constants.nvlinkHop = ring["nvlink_hop_us"].positive(most);
  constants.pcieHop = ring["pcie_hop_us"].positive(most);
  constants.networkHop = ring["network_hop_us"].positive(most);
  constants.plateauFactor = ring["plateau_factor"].positive(most);
  constants.plateauBytes = ring["plateau_bytes_per_rank"].positive(most);
  constants.unequalRings = ring["unequal_rings_us_per_rank"].positive(most);
  constants.fourRanks = ring["four_ranks_factor"].positive(most);
  Reader exchange = root["all_to_all"];
  constants.exchangeLatencyInNode =
      exchange["latency_factor_in_node"].positive(most);
  constants.exchangeLatencyAcross =
      exchange["latency_factor_across_nodes"].positive(most);
  constants.exchangeBandwidthAcross =
      exchange["bandwidth_factor_across_nodes"].positive(most);
  for (Reader entry : root["fixed_bandwidths"].elements())
    constants.fixed.push_back(readFixed(entry));
  Reader timeline = root["timeline"];
  timeline.expectKeys({"launch_gap_ms"});
  constants.launchGap = timeline["launch_gap_ms"].nonNegative(most);
  if (Error error = document->takeError())
    return std::move(error);
  return constants;
}

ReferenceModel::ReferenceModel(ReferenceCluster cluster,
                               ReferenceConstants constants)
    : cluster(std::move(cluster)), constants(std::move(constants)) {}

const RingSet &ReferenceModel::ringsOf(ArrayRef<uint32_t> local,
                                       bool acrossNodes) {
  auto [entry, isNew] = known.try_emplace({local.vec(), acrossNodes});
  if (isNew)
    entry->second = findRings(cluster.node, local, acrossNodes);
  return entry->second;
}

ReferenceGroup ReferenceModel::group(ArrayRef<int64_t> ranks) {
  std::map<int64_t, std::vector<uint32_t>> byNode;
  for (int64_t rank : ranks) {
    assert(rank >= 0 && rank < cluster.nodes * cluster.devicesPerNode);
    byNode[rank / cluster.devicesPerNode].push_back(rank %
                                                    cluster.devicesPerNode);
  }
  ReferenceGroup group;
  group.ranks = ranks.size();
  group.nodes = byNode.size();
  group.acrossNodes = byNode.size() > 1;

  // A ring through all nodes is as slow as in the slowest node. Only the
  // classes `intra` and `inter` are the fastest of any node, as in the
  // reference.
  PathClass worst = PathClass::Local;
  for (auto &[node, local] : byNode) {
    llvm::sort(local);
    const RingSet &rings = ringsOf(local, group.acrossNodes);
    bool first = group.channels == 0;
    group.channels = first ? rings.channels.size()
                           : std::min(group.channels, rings.channels.size());
    group.speed = first ? rings.speed : std::min(group.speed, rings.speed);
    worst = std::max(worst, rings.intra);
    group.intra = first ? rings.intra : std::min(group.intra, rings.intra);
    if (group.acrossNodes)
      group.inter = first ? rings.inter : std::min(group.inter, rings.inter);
    group.equalRings &= rings.equalChannels;
  }
  group.hop =
      worst == PathClass::NVLink ? constants.nvlinkHop : constants.pcieHop;
  group.busBandwidth = group.channels * group.speed * 1e-9;
  if (group.ranks == 4 && group.nodes == 1)
    group.busBandwidth *= constants.fourRanks;
  return group;
}

ReferenceFigures ReferenceModel::figures(ReferenceKind kind,
                                         const ReferenceGroup &group,
                                         double bytes) const {
  auto ring = [&](int64_t rounds) {
    int64_t steps = rounds * (group.ranks - 1);
    int64_t between = rounds * (group.nodes - 1);
    return ReferenceFigures{group.busBandwidth * group.ranks / steps,
                            constants.baseLatency +
                                (steps - between) * group.hop +
                                between * constants.networkHop};
  };
  switch (kind) {
  case ReferenceKind::AllReduce: {
    ReferenceFigures answer = ring(2);
    if (group.acrossNodes && bytes >= group.ranks * constants.plateauBytes)
      answer.latency *= constants.plateauFactor;
    return answer;
  }
  case ReferenceKind::AllGather:
  case ReferenceKind::ReduceScatter:
    return ring(1);
  case ReferenceKind::AllToAll: {
    ReferenceFigures answer = figures(ReferenceKind::Broadcast, group, bytes);
    if (group.acrossNodes) {
      answer.latency *= constants.exchangeLatencyAcross;
      answer.bandwidth *= constants.exchangeBandwidthAcross / cluster.nodes;
    } else {
      answer.latency *= constants.exchangeLatencyInNode;
    }
    return answer;
  }
  case ReferenceKind::Broadcast:
  case ReferenceKind::Reduce:
  case ReferenceKind::PointToPoint:
  case ReferenceKind::Scatter:
  case ReferenceKind::Gather: {
    double latency = !group.equalRings   ? constants.unequalRings * group.ranks
                     : group.acrossNodes ? constants.networkHop
                                         : group.hop;
    return {group.busBandwidth, constants.baseLatency + latency};
  }
  }
  llvm_unreachable("unknown kind of collective");
}

ReferenceFigures ReferenceModel::charged(ReferenceKind kind,
                                         const ReferenceGroup &group,
                                         double bytes) const {
  ReferenceFigures answer = figures(kind, group, bytes);
  for (const ReferenceConstants::Fixed &fixed : constants.fixed)
    if (StringRef(cluster.name).contains(fixed.cluster) && fixed.kind == kind &&
        fixed.ranks == group.ranks)
      answer.bandwidth = fixed.bandwidth;
  return answer;
}

double ReferenceModel::milliseconds(ReferenceKind kind,
                                    const ReferenceGroup &group, double bytes,
                                    double share) const {
  ReferenceFigures answer = charged(kind, group, bytes);
  double microseconds =
      answer.latency + bytes * 1e-3 / (answer.bandwidth / share);
  if (kind == ReferenceKind::AllToAll)
    microseconds *= group.ranks - 1;
  return microseconds * 1e-3;
}
