//===- ReferenceCommunicator.cpp - reference costs as flows ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Reference/Costs/ReferenceCommunicator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <mutex>

using namespace llvm;
using namespace proteus;
using namespace proteus::net;
using cost::CollectiveKind;

namespace {

/// A link and its use by the rings of a group.
struct LinkUse {
  LinkId link;
  int64_t capacity = 0; ///< bytes/s
  double use = 0;       ///< bandwidth that all rings together use, bytes/s
};

/// A communicator that plans collectives with the time that the reference
/// charges.
class ReferenceCommunicator : public Communicator {
public:
  ReferenceCommunicator(const ReferenceModel &model, ReferenceGroup group,
                        std::vector<LinkUse> links)
      : model(model), group(group), links(std::move(links)) {}

  Plan plan(CollectiveKind kind, int64_t bytes) const override;

private:
  const LinkLoads &loadsAt(int64_t ceiling) const;

  const ReferenceModel &model; ///< owned by the network
  ReferenceGroup group;
  std::vector<LinkUse> links;
  mutable std::mutex mutex;
  mutable std::map<int64_t, LinkLoads> known; ///< results of `loadsAt`
};

/// A kind of collective in terms of the reference.
struct Translation {
  ReferenceKind kind;
  Algorithm algorithm;
  /// True if the volume in the reference is the part of one member, instead of
  /// the bytes of all members.
  bool perMember = false;
};
} // namespace

static Translation translate(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return {ReferenceKind::AllReduce, Algorithm::Ring};
  case CollectiveKind::AllGather:
    return {ReferenceKind::AllGather, Algorithm::Ring};
  case CollectiveKind::ReduceScatter:
    return {ReferenceKind::ReduceScatter, Algorithm::Ring};
  case CollectiveKind::AllToAll:
    return {ReferenceKind::AllToAll, Algorithm::Pairwise, true};
  case CollectiveKind::Broadcast:
    return {ReferenceKind::Broadcast, Algorithm::Chain};
  case CollectiveKind::Scatter:
    return {ReferenceKind::Scatter, Algorithm::Pairwise, true};
  case CollectiveKind::Gather:
    return {ReferenceKind::Gather, Algorithm::Pairwise, true};
  case CollectiveKind::Permute:
  case CollectiveKind::SendRecv:
  case CollectiveKind::Shift:
    return {ReferenceKind::PointToPoint, Algorithm::Message};
  }
  llvm_unreachable("unknown kind of collective");
}

Plan ReferenceCommunicator::plan(CollectiveKind kind, int64_t bytes) const {
  Plan plan;
  if (group.ranks < 2)
    return plan;
  Translation original = translate(kind);
  plan.algorithm = original.algorithm;
  plan.volume =
      original.perMember ? divideCeil(bytes, uint64_t(group.ranks)) : bytes;
  ReferenceFigures charged = model.charged(original.kind, group, plan.volume);
  // The reference charges an all-to-all once per peer.
  int64_t times =
      original.kind == ReferenceKind::AllToAll ? group.ranks - 1 : 1;
  plan.latency = cost::fromSeconds(charged.latency * 1e-6 * times);
  plan.ceiling =
      std::max<int64_t>(1, std::llround(charged.bandwidth * 1e9 / times));
  plan.loads = &loadsAt(plan.ceiling);
  return plan;
}

/// Returns the loads of a flow that has the ceiling `ceiling`, in bytes/s. When
/// the flow runs at its ceiling, it uses as much bandwidth of each link as the
/// rings of the group.
const LinkLoads &ReferenceCommunicator::loadsAt(int64_t ceiling) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto [entry, isNew] = known.try_emplace(ceiling);
  if (!isNew)
    return entry->second;
  std::vector<LinkLoad> loads;
  double perRate = loadUnit / static_cast<double>(ceiling);
  for (const LinkUse &link : links) {
    // A flow that runs alone must reach its ceiling, so rounding must not make
    // a load exceed the capacity of the link.
    int64_t most = std::floor(static_cast<double>(link.capacity) * perRate);
    int64_t load = std::min<int64_t>(std::llround(link.use * perRate), most);
    if (load > 0)
      loads.push_back({link.link, load});
  }
  return entry->second = groupLoads(loads);
}

/// Fails if the reference has no rules for a component of the cluster.
static Error checkKnown(const machine::Cluster &cluster) {
  auto unknown = [&](const Twine &what) {
    return createStringError("fidelity=paper cannot run on the cluster '" +
                             cluster.name + "': " + what +
                             "; use fidelity=flow");
  };
  if (!cluster.hasOneKind())
    return unknown(
        "its nodes differ, but the reference has rules for equal nodes only");
  for (const machine::Vertex &vertex : cluster.kinds.front().graph.vertices)
    if (vertex.kind == machine::VertexKind::NVSwitch)
      return unknown("its devices are connected by NVSwitches, for which the "
                     "reference has no rules");
  for (const machine::Device &device : cluster.devices)
    if (device.architecture == machine::Architecture::Hopper ||
        device.architecture == machine::Architecture::Blackwell ||
        device.architecture == machine::Architecture::CDNA)
      return unknown("the reference has no rules for " +
                     stringify(device.architecture) + " devices");
  return Error::success();
}

Expected<std::shared_ptr<ReferenceNetwork>>
ReferenceNetwork::create(std::shared_ptr<const machine::Cluster> cluster,
                         const ReferenceConstants &constants) {
  if (Error error = checkKnown(*cluster))
    return std::move(error);
  ReferenceCluster original;
  original.name = cluster->name;
  original.node = cluster->kindOf(0).graph;
  original.nodes = cluster->numNodes();
  original.devicesPerNode = cluster->devicesPerNode();
  return std::shared_ptr<ReferenceNetwork>(new ReferenceNetwork(
      std::move(cluster), ReferenceModel(std::move(original), constants)));
}

Expected<std::unique_ptr<Communicator>>
ReferenceNetwork::createCommunicator(ArrayRef<int64_t> devices) {
  std::map<int64_t, std::vector<uint32_t>> byNode;
  for (int64_t device : devices) {
    if (device < 0 || device >= cluster->numDevices())
      return createStringError("device " + Twine(device) +
                               " is not in the cluster '" + cluster->name +
                               "', which has " + Twine(cluster->numDevices()));
    std::vector<uint32_t> &local = byNode[cluster->nodeOf(device)];
    local.push_back(cluster->localIndex(device));
    if (llvm::count(local, local.back()) > 1)
      return createStringError("device " + Twine(device) +
                               " is twice in a group");
  }
  const machine::NodeGraph &graph = cluster->kindOf(0).graph;
  bool isAcross = byNode.size() > 1;
  if (isAcross && graph.numNICs() == 0)
    return createStringError("nodes of the cluster '" + cluster->name +
                             "' have no NICs to reach each other");

  ReferenceGroup group = model.group(devices);
  std::vector<uint32_t> nics = graph.ofKind(machine::VertexKind::NIC);
  std::vector<LinkUse> links;
  for (auto &entry : byNode) {
    int64_t node = entry.first;
    std::vector<uint32_t> &local = entry.second;
    llvm::sort(local);
    std::map<uint32_t, double> uses;
    auto addPort = [&](uint32_t nic, bool in) {
      // A ring uses `group.speed` of `rate`, the line rate of the port. The
      // capacity of the port is its line rate after protocol overhead. The flow
      // uses the same fraction of the capacity.
      uint32_t port = graph.links.size() + 2 * nic + in;
      double rate = graph.vertices[nics[nic]].portBandwidth;
      uses[port] +=
          group.speed / rate * capacityOf(*cluster, LinkId{0, port, node});
    };
    const RingSet &rings = model.ringsOf(local, isAcross);
    for (const RingChannel &ring :
         ArrayRef(rings.channels).take_front(group.channels)) {
      for (auto [link, multiple] : ring.loads)
        uses[link] += multiple * group.speed;
      if (isAcross) {
        addPort(ring.enter, true);
        addPort(ring.leave, false);
      }
    }
    for (auto [port, use] : uses) {
      LinkId link{0, port, node};
      links.push_back({link, capacityOf(*cluster, link), use});
    }
  }
  return std::make_unique<ReferenceCommunicator>(model, group,
                                                 std::move(links));
}
