//===- Progress.cpp - progress of long commands ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "Proteus/Support/Table.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;

using std::chrono::duration;
using std::chrono::seconds;

Progress::Progress() : isTerminal(sys::Process::StandardErrIsDisplayed()) {
  printer = std::thread([this] { runPrinter(); });
}

void Progress::begin(StringRef name, uint64_t units) {
  std::lock_guard<std::mutex> lock(mutex);
  phase = name.str();
  total = units;
  done = 0;
  phaseStarted = Clock::now();
}

void Progress::advance(uint64_t units) {
  std::lock_guard<std::mutex> lock(mutex);
  done = units;
}

void Progress::end() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (hasEnded)
      return;
    hasEnded = true;
  }
  changed.notify_all();
  printer.join();
}

/// Returns for example "simulating: 25 %, about 40 s left".
std::string Progress::text(Clock::time_point now) const {
  std::string line = phase.empty() ? "starting" : phase;
  double spent = duration<double>(now - phaseStarted).count();
  if (total == 0 || done == 0)
    return line + ", " + fixed(duration<double>(now - started).count(), 0) +
           " s so far";
  double share =
      std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  return line + ": " + fixed(100 * share, 0) + " %, about " +
         fixed(spent * (1 - share) / share, 0) + " s left";
}

void Progress::runPrinter() {
  std::unique_lock<std::mutex> lock(mutex);
  Clock::time_point next = started + seconds(isTerminal ? 1 : 5);
  size_t width = 0; // of the line on the terminal
  while (!hasEnded) {
    if (changed.wait_until(lock, next) == std::cv_status::no_timeout)
      continue;
    std::string line = "proteus: " + text(Clock::now());
    if (isTerminal) {
      errs() << "\r" << line;
      if (line.size() < width)
        errs() << std::string(width - line.size(), ' ');
      width = line.size();
    } else {
      errs() << line << "\n";
    }
    errs().flush();
    next = Clock::now() + seconds(isTerminal ? 1 : 15);
  }
  if (width)
    errs() << "\r" << std::string(width, ' ') << "\r";
}
