//===- FlowNetwork.h - flows that share links -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the rates of flows that run at the same time, in integers: max-min
// fair with a ceiling per flow. The rates depend only on the set of active
// flows and their ceilings:
//
// - A link is *contended* if its flows would exceed its capacity at their
//   ceilings. Other links limit no flow and are left out.
// - All flows start at rate 0 and rise together. A flow stops at its ceiling,
//   or where a contended link is full: at floor((capacity - bandwidth of
//   stopped flows) / load of rising flows). All flows that reach the same rate
//   stop together.
//
// Only sums over the flows of a link matter, so one flow with an n-fold load
// has the same rate as n flows that load the link equally. Links of equal
// capacity that all flows load equally, for example the ports of a device, are
// full at the same rate. They form a class that the computation treats as one
// link.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_FLOWNETWORK_H
#define PROTEUS_LIB_SIM_FLOWNETWORK_H

#include "Progress.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <utility>
#include <vector>

namespace proteus::sim {

/// The active flows and their rates. A flow has the index of its collective, of
/// which no two instances run at the same time.
class FlowNetwork {
public:
  /// Creates a network without active flows. Without `share`, flows do not
  /// share links: every flow runs at its ceiling.
  FlowNetwork(const Workload &workload, bool share);

  /// Adds a flow with this ceiling in bytes/s. `settle` updates the rates.
  void start(uint32_t flow, uint64_t ceiling);
  /// Removes a flow. `settle` updates the rates.
  void stop(uint32_t flow);
  /// Changes the ceiling of an active flow. `settle` updates the rates.
  void limit(uint32_t flow, uint64_t ceiling);

  /// Computes the rates of all flows that the changes since the last call may
  /// affect. Returns the active flows whose rates changed, ascending.
  llvm::ArrayRef<uint32_t> settle();

  /// Returns true if a flow on the link is below its ceiling because the link
  /// is full, as of the last `settle`.
  bool holdsBack(uint32_t link) const {
    return statuses[classOf[link]].holdsBack;
  }
  /// Returns the links for which the last `settle` changed `holdsBack`,
  /// ascending.
  llvm::ArrayRef<uint32_t> changedLinks() const { return linksChanged; }

  /// Returns the rate in bytes/s, as of the last `settle`.
  uint64_t rate(uint32_t flow) const { return flows[flow].rate; }
  /// Returns the rate of a flow that shares no link.
  uint64_t rateAlone(uint32_t flow, uint64_t ceiling) const;

private:
  /// The load of one flow on one link.
  struct Entry {
    uint64_t load;
    uint32_t link;
    uint32_t position; ///< among the active entries of the link
  };
  /// An active flow of a link: the flow and the index of its entry.
  struct Active {
    uint32_t flow;
    uint32_t entry;
  };
  /// A class of links that all flows load equally.
  struct Link {
    uint64_t capacity = 0; ///< in bytes/s x loadUnit, like all sums
    uint64_t load = 0;     ///< sum over the active flows
    Wide demand = 0;       ///< sum over the active flows at their ceilings
    size_t first = 0;      ///< index of its first entry in `active`
    uint32_t numActive = 0;

    bool isContended() const { return demand > capacity; }
  };
  /// The status of a link. It is stored separately, because a visit to a link
  /// that is not contended, as most are, reads nothing else.
  struct LinkStatus {
    uint32_t filling = 0; ///< index in `fillings`, if contended
    bool isContended = false;
    bool wasContended = false; ///< as of the last `settle`
    bool visited = false;
    bool holdsBack = false;
  };
  /// A contended link during the computation of rates.
  struct Filling {
    uint64_t capacity;
    uint64_t rising; ///< load of the flows that still rise
    uint64_t used;   ///< bandwidth that the stopped flows use
    uint32_t link;
    bool changed; ///< true if `rising` changed since its level was computed
    bool holdsBack = false;
  };
  enum class FlowState : uint8_t {
    Rising,
    HeldBack, ///< stopped by a full link in this round
    Stopped   ///< stopped in an earlier round, or at its ceiling
  };
  struct Flow {
    uint64_t ceiling = 0;
    uint64_t rate = 0;
    uint64_t next = 0; ///< rate that is being computed
    uint32_t firstEntry = 0, lastEntry = 0;
    bool active = false;
    bool dirty = false;
    bool visited = false;
    FlowState state = FlowState::Rising;
  };

  llvm::MutableArrayRef<Entry> entriesOf(const Flow &flow) {
    return {entries.data() + flow.firstEntry, entries.data() + flow.lastEntry};
  }
  llvm::ArrayRef<Active> activeOn(const Link &link) const {
    return {active.data() + link.first, link.numActive};
  }
  void classifyLinks(const Workload &workload);
  void demand(uint32_t flow, uint64_t ceiling);
  void visit(uint32_t flow);
  void visitLinksOf(const Flow &flow);
  void collect();
  void stopAt(uint32_t flow, uint64_t rate, FlowState state);
  void holdBack(uint32_t filling, uint64_t rate);
  void leaveRising(Flow &flow);
  void computeLevel(uint32_t filling);
  void fill();
  void compareLinks();

  bool share;
  std::vector<uint32_t> classOf; ///< class of each link of the workload
  /// Links of each class, ascending.
  std::vector<llvm::SmallVector<uint32_t, 1>> linksOfClass;
  std::vector<Entry> entries;       ///< in the order of flows
  std::vector<Active> active;       ///< in the order of links
  std::vector<Link> links;          ///< one per class
  std::vector<LinkStatus> statuses; ///< in the order of `links`
  std::vector<Flow> flows;
  std::vector<uint32_t> dirty;

  // The component of flows and contended links that is being computed.
  std::vector<uint32_t> componentFlows;
  std::vector<uint32_t> componentLinks;
  std::vector<std::pair<uint64_t, uint32_t>> byCeiling;
  std::vector<Filling> fillings;
  /// Rate at which each filling is full; `noLevel` if none of its flows rises.
  std::vector<uint64_t> levels;
  std::vector<uint32_t> full, touched; ///< indices into `fillings`
  std::vector<uint32_t> stopping;      ///< flows that stop in this round
  std::vector<uint32_t> changed;
  std::vector<uint32_t> linksChanged;
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_FLOWNETWORK_H
