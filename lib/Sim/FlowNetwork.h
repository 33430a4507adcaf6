//===- FlowNetwork.h - flows that share links -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the rates of flows that share links. Rates are integers in bytes/s.
// They are max-min fair, with a ceiling per flow: a flow below its ceiling can
// become faster only at the expense of a flow that is not faster. The rates
// depend only on the set of active flows and their ceilings:
//
// - A link is *contended* if its flows, each at its ceiling, would exceed the
//   capacity of the link. Other links limit no flow and are left out.
// - All flows start at rate 0 and rise together. A flow stops rising at its
//   ceiling, or when a contended link that it loads is full. A link is full at
//   the rate floor((capacity - bandwidth of stopped flows) / load of rising
//   flows). If several ceilings or full links are reached at the same rate, all
//   flows that they stop are stopped in one step.
//
// The rates depend only on sums over the flows of each link. Therefore one flow
// with an n-fold load has the same rate as n flows that load the link equally.
//
// Links form a class if they have equal capacities and every flow loads them
// equally, for example the ports of a device. The links of a class are full at
// the same rate, so the computation treats a class as one link.
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

/// The active flows and their rates. A flow is identified by the index of its
/// collective. The index is unique, because no two instances of a collective
/// run at the same time.
class FlowNetwork {
public:
  /// Creates a network without active flows. Without `share`, flows do not
  /// share links: every flow runs at its ceiling.
  FlowNetwork(const Workload &workload, bool share);

  /// Adds a flow with this ceiling in bytes/s. Rates change only with the next
  /// `settle`.
  void start(uint32_t flow, uint64_t ceiling);
  /// Removes a flow. Rates change only with the next `settle`.
  void stop(uint32_t flow);
  /// Changes the ceiling of an active flow. Rates change only with the next
  /// `settle`.
  void limit(uint32_t flow, uint64_t ceiling);

  /// Updates the rates of all flows that `start`, `stop` and `limit` may have
  /// affected since the last call. Returns the active flows with changed rates,
  /// ascending.
  llvm::ArrayRef<uint32_t> settle();

  /// Returns true if a flow on the link is below its ceiling because the link
  /// is full, as of the last `settle`.
  bool holdsBack(uint32_t link) const {
    return statuses[classOf[link]].holdsBack;
  }
  /// Returns the links for which the last `settle` changed `holdsBack`,
  /// ascending.
  llvm::ArrayRef<uint32_t> changedLinks() const { return linksChanged; }

  /// Returns the rate of a flow in bytes/s, as of the last `settle`.
  uint64_t rate(uint32_t flow) const { return flows[flow].rate; }
  /// Returns the rate of a flow with this ceiling if no other flow uses its
  /// links.
  uint64_t rateAlone(uint32_t flow, uint64_t ceiling) const;

private:
  /// The load of one flow on one link.
  struct Entry {
    uint64_t load;
    uint32_t link;
    /// Index of the flow among the active flows of the link.
    uint32_t position;
  };
  /// An active flow of a link, and the index in `entries` of its load on that
  /// link.
  struct Active {
    uint32_t flow;
    uint32_t entry;
  };
  /// A class of links. It is treated as one link, because every flow loads all
  /// links of the class equally.
  struct Link {
    uint64_t capacity = 0; ///< in bytes/s x loadUnit, like all bandwidths below
    uint64_t load = 0;     ///< sum over the active flows
    Wide demand = 0;       ///< sum of load x ceiling of the active flows
    size_t first = 0;      ///< index of its first entry in `active`
    uint32_t numActive = 0;

    bool isContended() const { return demand > capacity; }
  };
  /// The status of a link. It is stored separately from Link, because most
  /// links are not contended. Of such links only the status is read, which
  /// takes little memory.
  struct LinkStatus {
    uint32_t filling = 0; ///< index in `fillings`, if contended
    bool isContended = false;
    bool wasContended = false; ///< value of isContended at the last `settle`
    bool visited = false;
    bool holdsBack = false;
  };
  /// A contended link during the computation of rates.
  struct Filling {
    uint64_t capacity;
    uint64_t rising; ///< load of the flows that still rise
    uint64_t used;   ///< bandwidth that the stopped flows use on the link
    uint32_t link;
    /// True if `rising` has changed since the entry of `levels` for this link
    /// was computed.
    bool changed;
    bool holdsBack = false;
  };
  enum class FlowState : uint8_t {
    Rising,
    HeldBack, ///< stopped by a full link in this round of `fill`
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
  std::vector<uint32_t> classOf; ///< class (index in `links`) of each link
  /// Links of each class, ascending.
  std::vector<llvm::SmallVector<uint32_t, 1>> linksOfClass;
  std::vector<Entry> entries;       ///< in the order of flows
  std::vector<Active> active;       ///< in the order of links
  std::vector<Link> links;          ///< one per class
  std::vector<LinkStatus> statuses; ///< in the order of `links`
  std::vector<Flow> flows;
  std::vector<uint32_t> dirty;

  // Working data of `settle`: the flows with rates that may change, the
  // contended links that connect these flows, and intermediate results.
  std::vector<uint32_t> componentFlows;
  std::vector<uint32_t> componentLinks;
  std::vector<std::pair<uint64_t, uint32_t>> byCeiling;
  std::vector<Filling> fillings;
  /// For each filling, the rate of rising flows at which the link is full, or
  /// `noLevel` if no flow on the link rises.
  std::vector<uint64_t> levels;
  std::vector<uint32_t> full, touched; ///< indices into `fillings`
  std::vector<uint32_t> stopping;      ///< flows that stop in this round
  std::vector<uint32_t> changed;
  std::vector<uint32_t> linksChanged;
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_FLOWNETWORK_H
