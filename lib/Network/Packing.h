//===- Packing.h - as many rings as the links carry -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One search with fixed rules: rings of one speed, over ways no worse than
// given classes, until the links are used up or the budget of steps is.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_NETWORK_PACKING_H
#define PROTEUS_LIB_NETWORK_PACKING_H

#include "Paths.h"

#include <cstdint>
#include <vector>

namespace proteus::net {

struct PackingRules {
  Rate speed = 0;
  PathClass intra = PathClass::NVLink;
  PathClass inter = PathClass::OneSwitch;
  bool equalChannels = true; ///< later rings repeat the first
  bool crossNIC = false;     ///< may leave by another NIC than they enter
};

/// Rings that fit on the links together.
struct Packing {
  PackingRules rules;
  uint32_t channels = 0;
  uint32_t hops = 0;                  ///< of all rings
  std::vector<uint32_t> order;        ///< numDevices() per ring
  std::vector<uint32_t> enter, leave; ///< NICs, one per ring

  Rate bandwidth() const { return rules.speed * channels; }
};

class PackingSearch {
public:
  explicit PackingSearch(const PathTable &table);

  /// Improves `best` by packings under `rules`. True if no better one exists
  /// under any rules: all channels are in use.
  bool run(const PackingRules &rules, Packing &best);

  /// Steps of all runs.
  int64_t stepsTaken() const { return taken; }

private:
  /// In which order the devices of a ring are tried.
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
  std::vector<Rate> left;     ///< capacity that is left, by link
  std::vector<Rate> portLeft; ///< what ports can still give, by NIC
  std::vector<bool> used;     ///< device is on the current ring
  Rate amount[numShares] = {};
  Packing state;
  Packing *best = nullptr;
  int32_t steps = 0; ///< left
  int64_t taken = 0;
  bool complete = false;
};

} // namespace proteus::net

#endif // PROTEUS_LIB_NETWORK_PACKING_H
