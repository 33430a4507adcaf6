//===- Packing.h - packing of rings onto links ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search for rings of one speed over routes of given classes. It ends when
// the links have no bandwidth left or its budget of steps is exhausted. The
// ring search (RingSearch.cpp) runs it with increasingly lenient rules.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_NETWORK_PACKING_H
#define PROTEUS_LIB_NETWORK_PACKING_H

#include "Paths.h"

#include <cstdint>
#include <vector>

namespace proteus::net {

/// Rules that the rings of one search obey.
struct PackingRules {
  Rate speed = 0;                         ///< of each ring
  PathClass intra = PathClass::NVLink;    ///< worst class between devices
  PathClass inter = PathClass::OneSwitch; ///< worst class to and from NICs
  bool equalChannels = true; ///< true if all rings repeat the first one
  /// True if a ring may leave the node through another NIC than it enters.
  bool crossNIC = false;
};

/// A set of rings that the links carry at the same time.
struct Packing {
  PackingRules rules;
  uint32_t channels = 0;              ///< number of rings
  uint32_t hops = 0;                  ///< sum over all rings
  std::vector<uint32_t> order;        ///< devices, numDevices() per ring
  std::vector<uint32_t> enter, leave; ///< NICs, one per ring

  Rate bandwidth() const { return rules.speed * channels; }
};

/// A depth-first search for packings.
class PackingSearch {
public:
  explicit PackingSearch(const PathTable &table);

  /// Searches under `rules` and replaces `best` by each better packing. Returns
  /// true if the new `best` uses all channels. No other rules can then improve
  /// it, because callers try higher speeds first.
  bool run(const PackingRules &rules, Packing &best);

  /// Returns the number of steps of all runs.
  int64_t stepsTaken() const { return taken; }

private:
  /// Orders in which the devices of a ring are tried: any order, bus order, or
  /// that of the previous ring.
  enum class Order { Free, Bus, Repeat };

  void nextRing();
  void startInNode();
  void startAtNICs();
  void startAtNIC(uint32_t nic);
  void tryStart(uint32_t device, Order order);
  void visit(uint32_t device, uint32_t step, Order order);
  void tryNext(uint32_t from, uint32_t to, uint32_t step, Order order);
  void closeRing(uint32_t last);
  void leaveByNIC(uint32_t last);
  void finishRing();

  bool take(const Path &path, PathClass allowed);
  void giveBack(const Path &path);
  bool spendStep();
  bool sameCard(uint32_t a, uint32_t b) const;
  uint32_t &place(uint32_t step) {
    return state.order[state.channels * table.numDevices() + step];
  }

  const PathTable &table;
  std::vector<std::vector<uint32_t>> neighbours; ///< by device, best first
  std::vector<uint32_t> startNICs;               ///< best first
  std::vector<Rate> left;      ///< remaining capacity, by link
  std::vector<Rate> portLeft;  ///< remaining capacity of ports, by NIC
  std::vector<bool> used;      ///< true for devices on the current ring
  Rate amount[numShares] = {}; ///< load of one ring, by share
  Packing state;               ///< rings of the current branch of the search
  Packing *best = nullptr;
  int32_t steps = 0;     ///< remaining budget of the run
  int64_t taken = 0;     ///< steps of all runs
  bool complete = false; ///< true if `best` uses all channels
};

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_PACKING_H
