//===- Progress.h - work at a rate that changes -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_PROGRESS_H
#define PROTEUS_LIB_SIM_PROGRESS_H

#include "Proteus/Sim/Workload.h"

#include <cstdint>

namespace proteus::sim {

/// Products of two 64-bit quantities.
__extension__ typedef unsigned __int128 Wide;

/// No simulated time reaches this, so sums of two never overflow.
constexpr Time timeLimit = Time(1) << 62; // ps, about 53 days

/// A kernel that nothing disturbs does this much work per picosecond.
constexpr uint64_t fullSpeed = 1 << 16;

/// Rates are bytes per second and times picoseconds, so a byte is this much
/// work.
constexpr uint64_t workPerByte = 1000000000000;

/// Work that goes on at an integer rate. What is left is exact at every
/// picosecond, however often the rate changes.
struct Progress {
  Wide remaining = 0; ///< at `since`
  uint64_t rate = 0;  ///< work per picosecond
  Time since = 0;

  Wide remainingAt(Time now) const {
    Wide done = Wide(rate) * static_cast<uint64_t>(now - since);
    return done < remaining ? remaining - done : 0;
  }
  void changeRate(uint64_t newRate, Time now) {
    remaining = remainingAt(now);
    since = now;
    rate = newRate;
  }
  /// When all is done, rounded up; `timeLimit` if that is later.
  Time end() const {
    Wide left = rate == fullSpeed ? (remaining + fullSpeed - 1) / fullSpeed
                                  : (remaining + rate - 1) / rate;
    return left < Wide(timeLimit - since) ? since + static_cast<Time>(left)
                                          : timeLimit;
  }
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_PROGRESS_H
