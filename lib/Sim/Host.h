//===- Host.h - launch times of tasks ---------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host of a device class. It launches the work items of the class in order.
// The time to launch each task is known before the run. If the host does not
// wait for messages, all launch times are therefore known, too. A host that
// waits launches the receives of a work item, waits until they have ended, and
// then launches the rest of the item. The total time that it has spent waiting
// by then is the *delay* of the item. Launch times are computed before the run
// as if the host never waited, and delays are added to them.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_HOST_H
#define PROTEUS_LIB_SIM_HOST_H

#include "FlatWorkload.h"

#include <limits>
#include <vector>

namespace proteus::sim {

/// Launch time of a task that is not launched yet.
constexpr Time notLaunched = std::numeric_limits<Time>::max();

/// The progress of the host of one class through its work items.
class Host {
public:
  Host() = default;
  explicit Host(const FlatClass &flat);

  /// Returns the time at which the host has launched a task of a work item.
  /// Returns `notLaunched` if the host must first wait for a message.
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

  /// Records that a message of a work item has arrived at `now`. If this is the
  /// last message for which the host waits at this item, computes the delay of
  /// the item and lets the host continue. Returns true if the host continues.
  bool receive(const FlatClass &flat, uint32_t item, Time now);

  /// Returns the index of the work item at which the host waits for messages,
  /// or the number of items if the host has launched all items.
  uint32_t item() const { return at; }
  /// Returns the number of messages of work item `item()` that have not
  /// arrived.
  uint32_t missing() const { return awaited; }
  /// Returns the delay of a work item: the total time that the host has spent
  /// waiting when it launches the tasks after the receives of the item. The
  /// item must precede `item()`.
  Time delayOf(uint32_t item) const {
    return delays.empty() ? 0 : delays[item];
  }

  /// Moves the host forward by `items` work items, because the engine skips
  /// periods. Sets the delays of the last items before the new position to the
  /// values in `recent`, each plus `growth`.
  void skip(uint32_t items, llvm::ArrayRef<Time> recent, Time growth);

private:
  Time delayBefore(uint32_t item) const {
    return item == 0 || delays.empty() ? 0 : delays[item - 1];
  }
  void proceed(const FlatClass &flat, Time delay);

  uint32_t at = 0;
  uint32_t awaited = 0;
  std::vector<Time> delays; ///< per work item; empty if the host never waits
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_HOST_H
