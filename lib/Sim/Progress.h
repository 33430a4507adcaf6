//===- Progress.h - work at a changing rate ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the exact progress of kernels and flows in integers.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_PROGRESS_H
#define PROTEUS_LIB_SIM_PROGRESS_H

#include "Proteus/Sim/Workload.h"

#include <cstdint>

namespace proteus::sim {

/// Integer for products of two 64-bit quantities.
__extension__ typedef unsigned __int128 Wide;

/// All simulated times are below this bound; a run that reaches it fails. The
/// sum of two such times does not overflow.
constexpr Time timeLimit = Time(1) << 62; // ps, about 53 days

/// Work per picosecond of a kernel if nothing slows it.
constexpr uint64_t fullSpeed = 1 << 16;

/// Work per byte of a flow. It is 10^12 because rates are in bytes per second
/// and times in picoseconds.
constexpr uint64_t workPerByte = 1000000000000;

/// Work that is done at an integer rate. The remaining work is exact at every
/// picosecond, no matter how often the rate changes.
struct Progress {
  Wide remaining = 0; ///< work that remains at `since`
  uint64_t rate = 0;  ///< work per picosecond from `since` on
  Time since = 0;

  /// Returns the work that remains at `now`.
  Wide remainingAt(Time now) const {
    Wide done = Wide(rate) * static_cast<uint64_t>(now - since);
    return done < remaining ? remaining - done : 0;
  }
  void changeRate(uint64_t newRate, Time now) {
    remaining = remainingAt(now);
    since = now;
    rate = newRate;
  }
  /// Returns the time at which no work remains, rounded up to a picosecond and
  /// at most `timeLimit`.
  Time end() const {
    Wide left = rate == fullSpeed ? (remaining + fullSpeed - 1) / fullSpeed
                                  : (remaining + rate - 1) / rate;
    return left < Wide(timeLimit - since) ? since + static_cast<Time>(left)
                                          : timeLimit;
  }
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_PROGRESS_H
