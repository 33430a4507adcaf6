//===- Host.h - when a host launches tasks ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host launches work items in order and needs a known time for each task, so
// it is known before the run when a task is launched, unless the host waits for
// messages. Then the host launches the receives of a work item, waits until
// they have ended, and launches the rest of the item and the next one. The time
// that it has spent waiting before an item is a delay that moves all launches
// known before the run.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_HOST_H
#define PROTEUS_LIB_SIM_HOST_H

#include "FlatWorkload.h"

#include <limits>
#include <vector>

namespace proteus::sim {

/// In place of the time at which a task was launched.
constexpr Time notLaunched = std::numeric_limits<Time>::max();

class Host {
public:
  Host() = default;
  explicit Host(const FlatClass &flat);

  /// When a task of a work item is launched; `notLaunched` if the host waits
  /// for a message before that.
  Time launchTime(const FlatClass &flat, uint32_t item, uint32_t task) const {
    const FlatItem &work = flat.order[item];
    const FlatTemplate &tasks = flat.templates[work.once];
    Time known = work.launchBegin + tasks.launched[work.variant()][task];
    if (!flat.hostWaits || item < at) {
      bool first = flat.hostWaits && !work.once && tasks.tasks[task].receives();
      return known + (first ? delayBefore(item) : delayOf(item));
    }
    if (item == at && tasks.tasks[task].receives())
      return known + delayBefore(item);
    return notLaunched;
  }

  /// A message of a work item has arrived. Whether the host goes on.
  bool receive(const FlatClass &flat, uint32_t item, Time now);

  /// The work item whose messages the host waits for; without such an item, the
  /// number of items.
  uint32_t item() const { return at; }
  /// How many of them have not arrived.
  uint32_t missing() const { return awaited; }
  /// How long it has waited when it launches an item in front of that, behind
  /// its receives.
  Time delayOf(uint32_t item) const {
    return delays.empty() ? 0 : delays[item];
  }

  /// Moves on by as many items; the last delays were `recent`, and grow.
  void skip(uint32_t items, llvm::ArrayRef<Time> recent, Time growth);

private:
  Time delayBefore(uint32_t item) const {
    return item == 0 || delays.empty() ? 0 : delays[item - 1];
  }
  void proceed(const FlatClass &flat, Time delay);

  uint32_t at = 0;
  uint32_t awaited = 0;
  std::vector<Time> delays; ///< per work item; empty if it never waits
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_HOST_H
