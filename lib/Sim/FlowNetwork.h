//===- FlowNetwork.h - flows that share links -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rates of flows that run at the same time: max-min fair with a ceiling per
// flow, in integers. The rates are a function of the set of active flows alone:
//
// - A link is *contended* if its flows would exceed its capacity at their
//   ceilings. Other links bind nobody and are left out.
// - All flows start at rate 0 and rise together. Flows stop at their ceiling
//   and where a contended link is full: at floor((capacity - what stopped flows
//   use) / load of the rising ones). All that stop at the same rate stop
//   together.
//
// Only sums over the flows of a link enter, so one flow with an n-fold load has
// the rate that n flows have which load the link alike. And links of one
// capacity that all flows load alike (the ports of a device, say) are full at
// the same rate: they are one link to everything below.
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

/// A flow is named by the index of its collective, of which no two instances
/// run at the same time.
class FlowNetwork {
public:
  /// Without `share`, every flow has its links for itself.
  FlowNetwork(const Workload &workload, bool share);

  /// Changes the set of active flows. Rates follow in `settle`.
  void start(uint32_t flow, uint64_t ceiling);
  void stop(uint32_t flow);
  void limit(uint32_t flow, uint64_t ceiling);

  /// Computes the rates of all flows that the changes since the last call may
  /// concern; returns those of the active ones that changed, ascending.
  llvm::ArrayRef<uint32_t> settle();

  /// Whether a flow on the link is below its ceiling because the link is full,
  /// as of the last `settle`.
  bool holdsBack(uint32_t link) const {
    return statuses[classOf[link]].holdsBack;
  }
  /// The links for which the last `settle` changed that, ascending.
  llvm::ArrayRef<uint32_t> changedLinks() const { return linksChanged; }

  /// Bytes per second, as of the last `settle`.
  uint64_t rate(uint32_t flow) const { return flows[flow].rate; }
  /// The rate of a flow that shares no link.
  uint64_t rateAlone(uint32_t flow, uint64_t ceiling) const;

private:
  /// What one flow puts on one link.
  struct Entry {
    uint64_t load;
    uint32_t link;
    uint32_t position; ///< in the part of `active` of the link, while active
  };
  /// An entry as its link sees it.
  struct Active {
    uint32_t flow;
    uint32_t entry;
  };
  struct Link {
    uint64_t capacity = 0; ///< in bytes/s x loadUnit, as all sums
    uint64_t load = 0;     ///< sum of the active flows
    Wide demand = 0;       ///< of the active flows at their ceilings
    size_t first = 0;      ///< of its part of `active`
    uint32_t numActive = 0;

    bool isContended() const { return demand > capacity; }
  };
  /// Apart from the links, because most of them pass no change on, and this is
  /// all that is then read.
  struct LinkStatus {
    uint32_t filling = 0; ///< index in `fillings`, if contended
    bool isContended = false;
    bool wasContended = false; ///< as of the last `settle`
    bool visited = false;
    bool holdsBack = false;
  };
  /// A contended link while rates are computed.
  struct Filling {
    uint64_t capacity;
    uint64_t rising; ///< load of the flows that still rise
    uint64_t used;   ///< by the flows that stopped
    uint32_t link;
    bool changed; ///< since its level was computed
    bool holdsBack = false;
  };
  enum class FlowState : uint8_t {
    Rising,
    HeldBack, ///< by a link, in this round
    Stopped   ///< in an earlier round, or at its ceiling
  };
  struct Flow {
    uint64_t ceiling = 0;
    uint64_t rate = 0;
    uint64_t next = 0; ///< the rate being computed
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
  std::vector<uint32_t> classOf; ///< by link of the workload
  /// By class: its links, ascending.
  std::vector<llvm::SmallVector<uint32_t, 1>> linksOfClass;
  std::vector<Entry> entries;       ///< by flow
  std::vector<Active> active;       ///< by link
  std::vector<Link> links;          ///< one per class
  std::vector<LinkStatus> statuses; ///< of the links
  std::vector<Flow> flows;
  std::vector<uint32_t> dirty;

  // The component that is being computed.
  std::vector<uint32_t> componentFlows;
  std::vector<uint32_t> componentLinks;
  std::vector<std::pair<uint64_t, uint32_t>> byCeiling;
  std::vector<Filling> fillings;
  /// Of each of them, the rate at which it is full; none if no flow rises.
  std::vector<uint64_t> levels;
  std::vector<uint32_t> full, touched; ///< fillings
  std::vector<uint32_t> stopping;      ///< flows, in this round
  std::vector<uint32_t> changed;
  std::vector<uint32_t> linksChanged;
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_FLOWNETWORK_H
