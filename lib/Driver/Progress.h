//===- Progress.h - progress of long commands -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DRIVER_PROGRESS_H
#define PROTEUS_LIB_DRIVER_PROGRESS_H

#include "Proteus/Support/ProgressSink.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace proteus::driver {

/// Prints to standard error what a command does and how long it will still
/// take: on a terminal one line, from the first second on; otherwise a line now
/// and then, from the fifth second on. Shorter commands print nothing. Prints
/// from a thread of its own, until `end` is called or the object is destroyed.
class Progress : public ProgressSink {
public:
  Progress();
  ~Progress() override { end(); }

  /// Begins a phase, for example "simulating", with `total` units of work, or 0
  /// if that is not known.
  void begin(llvm::StringRef phase, uint64_t total) override;
  void advance(uint64_t done) override;
  /// Ends the output. On a terminal, removes the line.
  void end();

private:
  using Clock = std::chrono::steady_clock;
  void runPrinter();
  std::string text(Clock::time_point now) const;

  const bool isTerminal;
  const Clock::time_point started = Clock::now();
  mutable std::mutex mutex; ///< guards all members below
  std::condition_variable changed;
  std::string phase;
  uint64_t total = 0, done = 0;
  Clock::time_point phaseStarted = started;
  bool hasEnded = false;
  std::thread printer;
};

} // namespace proteus::driver

#endif // PROTEUS_LIB_DRIVER_PROGRESS_H
