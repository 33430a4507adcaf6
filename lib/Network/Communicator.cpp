//===- Communicator.cpp - collectives as flows over links -----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Network/Communicator.h"

#include "Loads.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

using namespace llvm;
using namespace proteus;
using namespace proteus::net;
using cost::CollectiveKind;
using machine::CollectiveConstants;

Communicator::~Communicator() = default;

// Constants that are the same for all machines. Most are from the tuner of NCCL
// 2.30; docs/collectives.md lists the sources. Times are in seconds and rates
// in bytes/s.
static constexpr double us = 1e-6;
/// Time of one ring step inside a node, over NVLink or over PCIe, for a ring
/// that spans several nodes.
static constexpr double nvlinkStep = 3.4 * us, pcieStep = 5.7 * us;
/// Time of one tree step inside a node.
static constexpr double treeStep = 4 * us;
/// Times of one step between nodes, as shares of
/// CollectiveConstants::networkHop, which is the time of a ring step with the
/// Simple protocol.
static constexpr double lowRingShare = 4.0 / 14, lowTreeShare = 8.5 / 14;
static constexpr double inSwitchShare = 20.9 / 14, messageShare = 0.75;
/// Bandwidth of a tree inside a node, as a share of the bandwidth of rings. The
/// share is only about half, because the chain of a tree carries all data in
/// both directions.
static constexpr double treeWidth = 0.51;
/// Bandwidth that the library assumes for trees when it chooses an algorithm,
/// as a share of a ring's bandwidth. The library assumes this share for two
/// nodes too, although a tree of two nodes sends all data only once.
static constexpr double expectedOfTrees = 0.46;
/// Factors on the latency of ring all-reduces across nodes that use the Simple
/// protocol and have at least 4 KiB per member. Old devices are devices of
/// compute capability below 8.0.
static constexpr double plateau = 1.4, plateauOfOldDevices = 1.9;
/// Constants of parallel trees: base time, time of a step as a share of a ring
/// step, time per member, and bandwidth as a share of a ring's bandwidth.
static constexpr double parallelBase = 8 * us, parallelShare = 1 / 3.5;
static constexpr double parallelMember = 2.8 * us, parallelWidth = 0.75;
/// Latency that an all-to-all needs for each member in another node.
static constexpr double exchangeAcross = 2.4 * us;

/// Estimated latency of a direct write into a buffer of another device: a
/// launch for the copy and a launch for the flag that announces the copy, about
/// 2 us each.
static constexpr double bufferBase = 4 * us;

// Number of channels that all messages of a group share, and largest number of
// channels of one message.
static constexpr int64_t messageChannels = 64, mostChannels = 32;
/// Largest message in bytes that uses the low-latency protocol: 16 KiB for each
/// of 32 channels.
static constexpr int64_t lowMessage = 512 << 10;
// Largest number of bytes of a message on one channel, for each kind of route.
// A message with more bytes per channel uses more channels, up to
// `mostChannels`.
static constexpr int64_t nvlinkChunk = 16 << 20, pcieChunk = 4 << 20;
static constexpr int64_t networkChunk = 128 << 10;
/// Rate of one channel between nodes in bytes/s.
static constexpr double networkChannel = 14e9;

namespace {

/// A value that is computed at the first use. Thread-safe.
template <typename T> class Lazy {
public:
  template <typename Make> const T &get(Make make) const {
    std::call_once(once, [&] { value = make(); });
    return value;
  }

private:
  mutable std::once_flag once;
  mutable T value;
};

/// The link loads of an all-to-all, and its traffic inside nodes.
struct ExchangeSet {
  LoadSet set;
  std::vector<ExchangeInside> insides;
};

/// Messages that are sent at the same time. In this file, a message is the
/// transfer of one sender in a send/receive, permute or shift.
struct MessageSet {
  LoadSet set;
  /// `within` is true if at least one message stays inside a node, `across` if
  /// at least one message goes to another node. Both may be true.
  bool within = false, across = false;
  bool nvlink = true; ///< true if messages within nodes use NVLink only
  double latency = 0; ///< longest latency of the network in seconds
};

/// A possible execution of a collective.
struct Candidate {
  Algorithm algorithm;
  Protocol protocol;
  double latency;  ///< seconds before the transfer
  double transfer; ///< seconds of the transfer
  int64_t volume;  ///< bytes of the flow
  const LoadSet *set;
  /// Seconds of the transfer that the library assumes when it chooses an
  /// algorithm. The library uses the computed time if that is longer, so 0
  /// selects the computed time.
  double expected = 0;

  /// Returns the seconds of the transfer. This is at least the time that the
  /// slowest link needs for the volume.
  double transferOnLinks() const {
    return std::max(transfer, static_cast<double>(volume) * set->allLinks);
  }
  /// Returns the seconds that the library compares when it chooses an
  /// algorithm.
  double forChoice() const {
    return latency + std::max(transferOnLinks(), expected);
  }
};

/// The implementation of Communicator. It computes the link loads of an
/// algorithm when a plan first needs them.
class FlowCommunicator : public Communicator {
public:
  explicit FlowCommunicator(std::unique_ptr<Placement> placement);
  Plan plan(CollectiveKind kind, int64_t bytes) const override;
  Plan planBuffers(CollectiveKind kind, int64_t bytes) const override;
  Plan planSum(int64_t bytes) const override;

private:
  /// Returns true if the members can share buffers. They can if the group is in
  /// one node, and the node uses NVLink or is described by ring constants only.
  bool hasUserBuffers() const { return !isAcross() && (nvlink || !hasTrees()); }
  Plan planKind(CollectiveKind kind, int64_t bytes) const;
  using Constants = const CollectiveConstants &;
  /// A pointer to the member of CollectiveConstants that holds the ring
  /// constants of one collective, for example &CollectiveConstants::allReduce.
  using RingOf = machine::RingConstants CollectiveConstants::*;
  template <typename Fn> double slowest(Fn seconds) const;
  /// Returns the seconds of one ring step inside a node, for a ring that spans
  /// several nodes.
  double stepInside(Constants c, RingOf of) const {
    return c.ringsOnly ? (c.*of).simpleHop : nvlink ? nvlinkStep : pcieStep;
  }
  bool hasTrees() const {
    return llvm::none_of(
        constants, [](const CollectiveConstants *c) { return c->ringsOnly; });
  }
  bool isAcross() const { return numNodes > 1; }
  Protocol lowProtocol() const {
    return nvlink ? Protocol::LL128 : Protocol::LL;
  }
  double treeDepth() const { return Log2_64_Ceil(numNodes); }

  Plan planRing(CollectiveKind kind, int64_t bytes) const;
  void addRing(SmallVectorImpl<Candidate> &all, Algorithm algorithm,
               int64_t steps, int64_t networkSteps, RingOf of, double wireParts,
               int64_t bytes, const LoadSet &set) const;
  void addTree(SmallVectorImpl<Candidate> &all, int64_t bytes) const;
  void addInSwitch(SmallVectorImpl<Candidate> &all, int64_t bytes) const;
  void addParallelTrees(SmallVectorImpl<Candidate> &all, RingOf of,
                        int64_t bytes) const;
  Plan planExchange(int64_t bytes) const;
  Plan planScatter(int64_t bytes, const LoadSet &set) const;
  Plan planMessages(int64_t bytes, const MessageSet &messages,
                    int64_t ranks) const;
  MessageSet collectMessages(bool toAll) const;
  double exchangeLatency(int64_t inNode) const;
  Plan best(ArrayRef<Candidate> candidates) const;

  std::unique_ptr<Placement> placement;
  int64_t size, numNodes;
  /// Constants of each kind of node that has members.
  std::vector<const CollectiveConstants *> constants;
  /// Bandwidth of all rings together in the slowest node, in bytes/s.
  double width = std::numeric_limits<double>::infinity();
  /// Smallest and largest number of members in a node.
  uint32_t fewest = 0, most = 0;
  bool nvlink = true; ///< true if rings in all nodes use NVLink only
  /// True if the switches of all nodes can reduce and every node has at least
  /// four members.
  bool inSwitch = true;
  /// True if a member has a compute capability below 8.0.
  bool oldDevices = false;
  double ringLatency = 0; ///< mean network latency of a ring step, s
  /// Network latency between the nodes farthest apart, in seconds.
  double farLatency = 0;
  uint32_t channels = 0;

  Lazy<LoadSet> ring, tree, inSwitchTree, parallelTrees;
  Lazy<LoadSet> chain, scatter, gather;
  Lazy<ExchangeSet> exchange;
  Lazy<MessageSet> shift, message;
};
} // namespace

static bool isOld(const machine::Cluster &cluster,
                  const machine::Vertex &device) {
  using machine::Architecture;
  if (device.computeCapability)
    return device.computeCapability < 80;
  Architecture architecture = cluster.devices[device.type].architecture;
  return architecture == Architecture::Pascal ||
         architecture == Architecture::Volta ||
         architecture == Architecture::Turing;
}

FlowCommunicator::FlowCommunicator(std::unique_ptr<Placement> owned)
    : placement(std::move(owned)), size(placement->size),
      numNodes(placement->numPlaces()) {
  const machine::Cluster &cluster = placement->cluster;
  for (uint32_t kind : placement->kindsUsed) {
    constants.push_back(&cluster.kinds[kind].collectives);
    channels = std::max(channels, constants.back()->channels);
    inSwitch &= constants.back()->inSwitch.has_value();
  }
  fewest = placement->shapes.front().size();
  for (const NodeShape &shape : placement->shapes) {
    const NodeWays &ways = placement->waysOf(shape);
    width = std::min(width, shape.ringWidth);
    fewest = std::min(fewest, shape.size());
    most = std::max(most, shape.size());
    nvlink &= shape.nvlink;
    inSwitch &= shape.switched;
    for (const Member &member : shape.members)
      oldDevices |=
          isOld(cluster, ways.graph.vertices[ways.devices[member.local]]);
  }
  inSwitch &= fewest >= 4;
  if (!isAcross())
    return;
  const std::vector<NodePlace> &places = placement->places;
  for (int64_t i = 0; i < numNodes; ++i)
    ringLatency += placement->networkLatency(places[i].node,
                                             places[(i + 1) % numNodes].node) /
                   numNodes;
  farLatency =
      placement->networkLatency(places.front().node, places.back().node);
}

/// Returns the largest value of `seconds` over the kinds of nodes of the group.
template <typename Fn> double FlowCommunicator::slowest(Fn seconds) const {
  double longest = 0;
  for (const CollectiveConstants *c : constants)
    longest = std::max(longest, seconds(*c));
  return longest;
}

/// Returns bytes * factor / divisor, rounded up and limited to the range of
/// int64_t.
static int64_t scaled(int64_t bytes, int64_t factor, int64_t divisor) {
  __int128 volume =
      (static_cast<__int128>(bytes) * factor + divisor - 1) / divisor;
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  return volume > most ? most : static_cast<int64_t>(volume);
}

/// Returns the plan of the candidate that the library chooses: the first one
/// with the shortest time.
Plan FlowCommunicator::best(ArrayRef<Candidate> candidates) const {
  const Candidate *chosen = &candidates.front();
  double shortest = std::numeric_limits<double>::infinity();
  for (const Candidate &candidate : candidates) {
    if (candidate.forChoice() < shortest) {
      shortest = candidate.forChoice();
      chosen = &candidate;
    }
  }
  Plan plan;
  plan.algorithm = chosen->algorithm;
  plan.protocol = chosen->protocol;
  plan.latency = cost::fromSeconds(chosen->latency);
  plan.volume = chosen->volume;
  // Round the rate down so that it does not exceed the bandwidth of a link.
  // First multiply it by a little more than 1, because a rounding error may
  // have made an integral rate slightly smaller.
  double rate = static_cast<double>(plan.volume) / chosen->transferOnLinks();
  rate *= 1 + 1e-14;
  plan.ceiling = rate >= 9e18 ? std::numeric_limits<int64_t>::max()
                              : std::max<int64_t>(1, std::floor(rate));
  plan.channels = channels;
  plan.loads = &chosen->set->loads;
  return plan;
}

//===----------------------------------------------------------------------===//
// Rings, trees, reduction in the switch
//===----------------------------------------------------------------------===//

/// Adds two candidates for a ring or a chain: one with the low-latency protocol
/// and one with the Simple protocol. `networkSteps` of the `steps` are between
/// nodes. `of` selects the constants of the collective. Each member sends
/// `wireParts` parts of bytes / size.
void FlowCommunicator::addRing(SmallVectorImpl<Candidate> &all,
                               Algorithm algorithm, int64_t steps,
                               int64_t networkSteps, RingOf of,
                               double wireParts, int64_t bytes,
                               const LoadSet &set) const {
  double perPart = static_cast<double>(bytes) / size;
  bool isRing = algorithm == Algorithm::Ring;
  auto wire = [&](Constants c) {
    double extra = isRing ? (c.*of).extra : 0;
    double rate = std::min(width * (c.*of).efficiency, 1 / set.network);
    return perPart * (wireParts + extra) / rate;
  };
  bool isLong = hasTrees() && of == &CollectiveConstants::allReduce &&
                isAcross() && bytes >= size * 4096;
  double stretch = !isLong ? 1 : oldDevices ? plateauOfOldDevices : plateau;
  double inside = steps - networkSteps, outside = networkSteps;
  double low = slowest([&](Constants c) {
    return (c.*of).lowBase + inside * (c.*of).lowHop +
           outside * (c.networkHop * lowRingShare + ringLatency);
  });
  double simple = slowest([&](Constants c) {
    if (!isAcross())
      return (c.*of).simpleBase + steps * (c.*of).simpleHop;
    return stretch * (c.networkBase + inside * stepInside(c, of) +
                      outside * (c.networkHop + ringLatency));
  });
  double lowTransfer =
      slowest([&](Constants c) { return wire(c) / (c.*of).lowEfficiency; });
  double transfer = slowest([&](Constants c) {
    double w = wire(c);
    return isAcross() ? w : w + (c.*of).simpleFill * std::sqrt(w);
  });
  int64_t volume = isRing ? scaled(bytes, steps, size) : bytes;
  all.push_back({algorithm, lowProtocol(), low, lowTransfer, volume, &set});
  all.push_back({algorithm, Protocol::Simple, simple, transfer, volume, &set});
}

void FlowCommunicator::addTree(SmallVectorImpl<Candidate> &all,
                               int64_t bytes) const {
  const LoadSet &set = tree.get([&] { return treeLoads(*placement); });
  const LoadSet &ringSet = ring.get([&] { return ringLoads(*placement); });
  double perByte = std::max(1 / (treeWidth * width), set.network);
  // An inner node of a tree sends and receives all data twice.
  if (numNodes > 2)
    perByte = std::max(perByte, 2 * ringSet.ports);
  double transfer = static_cast<double>(bytes) * perByte;
  double hops = most - 1;
  double low = slowest([&](Constants c) {
    return c.allReduce.lowBase +
           2 * (hops * c.allReduce.lowHop +
                treeDepth() * (c.networkHop * lowTreeShare + farLatency));
  });
  double simple = slowest([&](Constants c) {
    return c.networkBase +
           2 * (hops * treeStep + treeDepth() * (c.networkHop + farLatency));
  });
  double lowTransfer = slowest(
      [&](Constants c) { return transfer / c.allReduce.lowEfficiency; });
  double expected =
      static_cast<double>(bytes) * ringSet.network / expectedOfTrees;
  double lowExpected = slowest(
      [&](Constants c) { return expected / c.allReduce.lowEfficiency; });
  all.push_back({Algorithm::Tree, lowProtocol(), low, lowTransfer, bytes, &set,
                 lowExpected});
  all.push_back({Algorithm::Tree, Protocol::Simple, simple, transfer, bytes,
                 &set, expected});
}

void FlowCommunicator::addInSwitch(SmallVectorImpl<Candidate> &all,
                                   int64_t bytes) const {
  // In a single node, an in-switch reduction puts the same load on every port
  // as a ring.
  const LoadSet &set =
      isAcross()
          ? inSwitchTree.get([&] { return inSwitchTreeLoads(*placement); })
          : ring.get([&] { return ringLoads(*placement); });
  int64_t volume = scaled(bytes, fewest + 1, fewest);
  double onPort = static_cast<double>(bytes) * (1 + 1.0 / fewest);
  double latency = slowest([&](Constants c) {
    return c.inSwitch->base +
           (isAcross()
                ? 2 * treeDepth() * (c.networkHop * inSwitchShare + farLatency)
                : 0);
  });
  double transfer = slowest([&](Constants c) {
    double crowd =
        std::min(1.0, std::pow(8.0 / most, c.inSwitch->groupExponent));
    double w = onPort / (width * c.inSwitch->efficiency * crowd);
    w = std::max(w, static_cast<double>(volume) * set.network);
    return w + c.inSwitch->fill * std::sqrt(w);
  });
  all.push_back({isAcross() ? Algorithm::InSwitchTree : Algorithm::InSwitch,
                 Protocol::Simple, latency, transfer, volume, &set});
}

void FlowCommunicator::addParallelTrees(SmallVectorImpl<Candidate> &all,
                                        RingOf of, int64_t bytes) const {
  const LoadSet &set =
      parallelTrees.get([&] { return parallelTreeLoads(*placement); });
  double latency = slowest([&](Constants c) {
    return parallelBase +
           treeDepth() * (c.networkHop * parallelShare + farLatency) +
           size * parallelMember;
  });
  double transfer = slowest([&](Constants c) {
    double parts = size - 1 + (c.*of).extra;
    double rate = std::min(width * (c.*of).efficiency, 1 / set.network);
    return static_cast<double>(bytes) * parts / size / (rate * parallelWidth);
  });
  all.push_back({Algorithm::ParallelTrees, Protocol::Simple, latency, transfer,
                 scaled(bytes, size - 1, size), &set});
}

Plan FlowCommunicator::planRing(CollectiveKind kind, int64_t bytes) const {
  const LoadSet &set = ring.get([&] { return ringLoads(*placement); });
  bool isSum = kind == CollectiveKind::AllReduce;
  RingOf of = isSum ? &CollectiveConstants::allReduce
              : kind == CollectiveKind::AllGather
                  ? &CollectiveConstants::allGather
                  : &CollectiveConstants::reduceScatter;
  int64_t rounds = isSum ? 2 : 1;
  int64_t steps = rounds * (size - 1);
  SmallVector<Candidate, 5> all;
  addRing(all, Algorithm::Ring, steps, rounds * (numNodes - 1), of, steps,
          bytes, set);
  if (hasTrees() && isSum && isAcross())
    addTree(all, bytes);
  if (isSum && inSwitch)
    addInSwitch(all, bytes);
  if (hasTrees() && !isSum && isAcross() && most == 1)
    addParallelTrees(all, of, bytes);
  return best(all);
}

//===----------------------------------------------------------------------===//
// Exchanges and messages
//===----------------------------------------------------------------------===//

double FlowCommunicator::exchangeLatency(int64_t inNode) const {
  return slowest([&](Constants c) {
    return c.exchangeBase + c.exchangeHop * (inNode - 1) * (inNode - 1) +
           exchangeAcross * (size - inNode) + farLatency;
  });
}

/// Returns the number of channels of a message in a group of `ranks`. This is
/// the largest power of two up to 32 with which all messages together have at
/// most 64 channels, but at least 1. It is doubled, up to 32, while a channel
/// carries more than `chunk` bytes.
static int64_t channelsFor(int64_t bytes, int64_t ranks, int64_t chunk) {
  int64_t count = mostChannels;
  while (count > 1 && count * ranks > messageChannels)
    count /= 2;
  while (count < mostChannels && bytes / count > chunk)
    count *= 2;
  return count;
}

/// Returns the effective number of channels of an all-to-all in a node. The
/// data for each member are divided into `channelsFor` parts, and the parts for
/// all members are distributed over 32 channels. The channels with the most
/// parts determine the time. For example, 36 parts put two parts on some
/// channels. This takes as long as two parts on each of 18 channels, so the
/// result is 18.
static double evenChannels(int64_t toEach, int64_t ranks) {
  double parts = ranks * channelsFor(toEach, ranks, nvlinkChunk);
  return parts / std::ceil(parts / mostChannels);
}

Plan FlowCommunicator::planExchange(int64_t bytes) const {
  const ExchangeSet &links = exchange.get([&] {
    return ExchangeSet{exchangeLoads(*placement), exchangeInsides(*placement)};
  });
  int64_t volume = scaled(bytes, size - 1, size);
  // Rates of channels were measured only within a node over NVLink. For other
  // groups, only the links limit the rate.
  bool byChannels = nvlink && !isAcross();
  int64_t toEach = bytes / size;
  bool isLow = byChannels && toEach <= lowMessage &&
               llvm::all_of(constants, [](const CollectiveConstants *c) {
                 return c->exchangeLowChannel > 0;
               });
  auto onChannels = [&](Constants c) {
    double channel = isLow ? c.exchangeLowChannel : c.exchangeChannel;
    if (!byChannels || channel == 0)
      return 0.0;
    double parts = static_cast<double>(size - 1) + c.exchangeExtra;
    return static_cast<double>(bytes) / size * parts /
           (evenChannels(toEach, size) * channel);
  };
  double transfer = slowest([&](Constants c) {
    double within = 0;
    for (const ExchangeInside &inside : links.insides)
      within =
          std::max(within, inside.seconds * (inside.others + c.exchangeExtra) /
                               inside.others);
    double w =
        static_cast<double>(bytes) / size * within / c.exchangeEfficiency;
    w = std::max(
        {w, static_cast<double>(volume) * links.set.network, onChannels(c)});
    return isLow ? w : w + c.exchangeFill * std::sqrt(w);
  });
  return best(Candidate{Algorithm::Pairwise,
                        isLow ? Protocol::LL : Protocol::Simple,
                        exchangeLatency(fewest), transfer, volume, &links.set});
}

/// Plans a scatter or gather. The links of the root determine the time, because
/// the root sends or receives all data.
Plan FlowCommunicator::planScatter(int64_t bytes, const LoadSet &set) const {
  int64_t volume = scaled(bytes, size - 1, size);
  double wire = static_cast<double>(volume) * set.allLinks;
  double transfer = slowest([&](Constants c) {
    double w = wire / std::min(1.0, c.exchangeEfficiency);
    return w + c.exchangeFill * std::sqrt(w);
  });
  uint32_t inNode = placement->shapeAt(placement->order.front().place).size();
  return best(Candidate{Algorithm::Pairwise, Protocol::Simple,
                        exchangeLatency(inNode), transfer, volume, &set});
}

/// Computes the loads and properties of messages. With `toAll`, each member
/// sends to the next member. Otherwise only the first member sends, to the
/// second member.
MessageSet FlowCommunicator::collectMessages(bool toAll) const {
  MessageSet messages;
  messages.set = toAll ? shiftLoads(*placement) : messageLoads(*placement);
  const std::vector<MemberPlace> &order = placement->order;
  for (size_t i = 0; i < (toAll ? order.size() : 1); ++i) {
    MemberPlace from = order[i], to = order[(i + 1) % order.size()];
    if (from.place != to.place) {
      messages.across = true;
      messages.latency =
          std::max(messages.latency,
                   placement->networkLatency(placement->places[from.place].node,
                                             placement->places[to.place].node));
      continue;
    }
    messages.within = true;
    const NodeShape &shape = placement->shapeAt(from.place);
    if (shape.switched)
      continue;
    for (uint32_t link : shape.way(from.member, to.member))
      messages.nvlink &= placement->waysOf(shape).graph.links[link].kind ==
                         machine::LinkKind::NVLink;
  }
  return messages;
}

Plan FlowCommunicator::planMessages(int64_t bytes, const MessageSet &messages,
                                    int64_t ranks) const {
  double latency = slowest([&](Constants c) {
    if (messages.across && c.ringsOnly)
      return c.networkHop;
    return c.messageBase + (messages.across ? c.networkHop * messageShare : 0);
  });
  int64_t used = 0;
  double transfer = 0;
  if (messages.within) {
    int64_t count =
        channelsFor(bytes, ranks, messages.nvlink ? nvlinkChunk : pcieChunk);
    used = count;
    transfer = slowest([&](Constants c) {
      // `messageEfficiency` applies only to links within a node.
      double onLinks =
          messages.across ? 0
                          : bytes * messages.set.allLinks / c.messageEfficiency;
      // If the rate of a channel is unknown, only the links limit the message.
      double channel = bytes <= lowMessage && c.messageLowChannel > 0
                           ? c.messageLowChannel
                           : c.messageChannel;
      return channel > 0 ? std::max(onLinks, bytes / (count * channel))
                         : onLinks;
    });
  }
  if (messages.across) {
    int64_t count = channelsFor(bytes, ranks, networkChunk);
    used = std::max(used, count);
    transfer = std::max(transfer, bytes / (count * networkChannel));
  }
  Plan plan = best(Candidate{Algorithm::Message, Protocol::Simple,
                             latency + messages.latency, transfer, bytes,
                             &messages.set});
  plan.channels = used;
  return plan;
}

//===----------------------------------------------------------------------===//
// User buffers
//===----------------------------------------------------------------------===//

/// Plans direct writes into user buffers. Copy engines or a single thread block
/// move the data. The plan therefore occupies no channels, and kernels keep all
/// multiprocessors. The links have the same loads as in a ring.
Plan FlowCommunicator::planBuffers(CollectiveKind kind, int64_t bytes) const {
  if (size < 2 || bytes <= 0)
    return {};
  if (!hasUserBuffers())
    return plan(kind, bytes);
  assert((kind == CollectiveKind::AllGather ||
          kind == CollectiveKind::ReduceScatter) &&
         "a collective that user buffers support");
  const LoadSet &set = ring.get([&] { return ringLoads(*placement); });
  int64_t volume = scaled(bytes, size - 1, size);
  double latency =
      slowest([](Constants c) { return std::min(c.messageBase, bufferBase); });
  double transfer = slowest([&](Constants c) {
    return static_cast<double>(volume) * set.allLinks / c.messageEfficiency;
  });
  Plan plan = best(Candidate{Algorithm::UserBuffers, Protocol::Simple, latency,
                             transfer, volume, &set});
  plan.channels = 0;
  return plan;
}

/// Plans the kernel that adds the parts in the buffer of a member. The kernel
/// reads `bytes` from memory and writes bytes / size.
Plan FlowCommunicator::planSum(int64_t bytes) const {
  Plan plan;
  if (size < 2 || bytes <= 0 || !hasUserBuffers())
    return plan;
  double bandwidth = std::numeric_limits<double>::infinity();
  for (uint32_t kind : placement->kindsUsed)
    for (const machine::Vertex &vertex :
         placement->cluster.kinds[kind].graph.vertices)
      if (vertex.kind == machine::VertexKind::Device)
        bandwidth = std::min(
            bandwidth, placement->cluster.devices[vertex.type].memoryBandwidth);
  plan.algorithm = Algorithm::UserBuffers;
  plan.latency = cost::fromSeconds(static_cast<double>(bytes) *
                                   (1 + 1.0 / size) / bandwidth);
  return plan;
}

static bool isMessage(CollectiveKind kind) {
  return kind == CollectiveKind::Permute || kind == CollectiveKind::Shift ||
         kind == CollectiveKind::SendRecv;
}

Plan FlowCommunicator::plan(CollectiveKind kind, int64_t bytes) const {
  if (size < 2 || bytes <= 0)
    return {};
  Plan plan = planKind(kind, bytes);
  if (!isMessage(kind))
    plan.latency += cost::fromSeconds(
        slowest([](Constants c) { return c.synchronisation; }));
  return plan;
}

Plan FlowCommunicator::planKind(CollectiveKind kind, int64_t bytes) const {
  switch (kind) {
  case CollectiveKind::AllReduce:
  case CollectiveKind::AllGather:
  case CollectiveKind::ReduceScatter:
    return planRing(kind, bytes);
  case CollectiveKind::Broadcast: {
    SmallVector<Candidate, 2> all;
    addRing(all, Algorithm::Chain, size - 1, numNodes - 1,
            &CollectiveConstants::allGather, size, bytes,
            chain.get([&] { return chainLoads(*placement); }));
    return best(all);
  }
  case CollectiveKind::AllToAll:
    return planExchange(bytes);
  case CollectiveKind::Scatter:
    return planScatter(
        bytes, scatter.get([&] { return scatterLoads(*placement, false); }));
  case CollectiveKind::Gather:
    return planScatter(
        bytes, gather.get([&] { return scatterLoads(*placement, true); }));
  case CollectiveKind::Permute:
  case CollectiveKind::Shift:
    return planMessages(bytes, shift.get([&] { return collectMessages(true); }),
                        size);
  case CollectiveKind::SendRecv:
    return planMessages(bytes,
                        message.get([&] { return collectMessages(false); }), 2);
  }
  llvm_unreachable("unknown kind of collective");
}

Expected<std::unique_ptr<Communicator>>
Communicator::create(const machine::Cluster &cluster,
                     ArrayRef<int64_t> devices) {
  return Network(cluster).createCommunicator(devices);
}

Network::Network(const machine::Cluster &cluster)
    : ways(std::make_shared<ClusterWays>(cluster)) {}

Expected<std::unique_ptr<Communicator>>
Network::createCommunicator(ArrayRef<int64_t> devices) const {
  Expected<std::unique_ptr<Placement>> placement =
      Placement::create(ways, devices);
  if (!placement)
    return placement.takeError();
  return std::make_unique<FlowCommunicator>(std::move(*placement));
}
