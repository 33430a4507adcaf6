//===- FigureText.h - figures of a run as text ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_UNITTESTS_SIM_FIGURETEXT_H
#define PROTEUS_UNITTESTS_SIM_FIGURETEXT_H

#include "Proteus/Sim/Report.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace proteus::sim::test {

/// Returns all figures of a run as text, to the picosecond.
inline std::string textOf(const Workload &workload, SimulationResult result) {
  // Only these figures depend on replay and skipping.
  result.run.events = result.run.skippedTasks = 0;
  result.run.replayedTasks = 0;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << result.run.iterationTime << " " << result.run.tasks << "\n";
  for (const ClassResult &c : result.classes) {
    const Breakdown &parts = c.breakdown;
    for (Time time :
         {parts.compute, parts.recompute, parts.optimizer,
          parts.exposedCommunication, parts.exposedPipeline, parts.host,
          parts.bubble, c.exposedReduction, c.memory.time})
      os << time << " ";
    for (Time time : c.streamBusy)
      os << time << " ";
    for (auto [operation, time] : c.computeByOperation)
      os << operation << ":" << time << " ";
    os << "\n";
  }
  for (const BucketRow &row : result.buckets)
    os << row.ready << " " << row.start << " " << row.end << "\n";
  for (const CollectiveRow &row : result.collectives)
    os << row.count << " " << row.time << "\n";
  writeReport(os, workload, result);
  return text;
}

} // namespace proteus::sim::test

#endif // PROTEUS_UNITTESTS_SIM_FIGURETEXT_H
