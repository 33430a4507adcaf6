//===- Packing.h - packing of rings onto links ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search for rings of one speed over routes of given classes. It adds rings
// until the links have too little bandwidth for another ring, and tries other
// rings until its budget of steps is used. The ring search (RingSearch.cpp)
// repeats this search under increasingly lenient rules.
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
  Rate speed = 0;                      ///< rate of each ring
  PathClass intra = PathClass::NVLink; ///< worst class allowed between devices
  PathClass inter =
      PathClass::OneSwitch;  ///< worst class allowed to and from NICs
  bool equalChannels = true; ///< true if all rings must repeat the first one
  /// True if a ring may enter the node through one NIC and leave it through
  /// another NIC.
  bool crossNIC = false;
};

/// A set of rings that the links carry at the same time.
struct Packing {
  PackingRules rules;
  uint32_t channels = 0;       ///< number of rings
  uint32_t hops = 0;           ///< number of hops of all rings together
  std::vector<uint32_t> order; ///< devices of all rings, numDevices() per ring
  /// For each ring: the NICs through which it enters and leaves the node.
  std::vector<uint32_t> enter, leave;

  Rate bandwidth() const { return rules.speed * channels; }
};

/// A depth-first search for packings.
class PackingSearch {
public:
  explicit PackingSearch(const PathTable &table);

  /// Searches under `rules` and replaces `best` by each better packing. Returns
  /// true if this search has found a packing with `maxChannels` rings. Later
  /// searches cannot improve such a packing, because callers try higher speeds
  /// first.
  bool run(const PackingRules &rules, Packing &best);

  /// Returns the number of search steps of all runs together. A step adds one
  /// device to a ring or completes a ring.
  int64_t stepsTaken() const { return taken; }

private:
  /// Orders in which the search adds devices to a ring: the widest routes first
  /// (`Free`), by ascending number (`Bus`), or as in the previous ring
  /// (`Repeat`).
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
  std::vector<std::vector<uint32_t>>
      neighbours; ///< for each device: other devices, widest route first
  std::vector<uint32_t> startNICs; ///< NICs at which rings start, nearest first
  std::vector<Rate> left;          ///< for each link: remaining capacity
  std::vector<Rate> portLeft;  ///< for each NIC: remaining capacity of its port
  std::vector<bool> used;      ///< true for devices on the current ring
  Rate amount[numShares] = {}; ///< for each Share: load of one ring
  Packing state;               ///< rings that the search has built so far
  Packing *best = nullptr;
  int32_t steps = 0;     ///< remaining steps of this run
  int64_t taken = 0;     ///< steps of all runs
  bool complete = false; ///< true if `best` has maxChannels rings
};

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_PACKING_H
