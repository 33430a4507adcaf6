//===- Simulation.h - a run and all its figures -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_SIMULATION_H
#define PROTEUS_SIM_SIMULATION_H

#include "Proteus/Sim/CriticalPath.h"
#include "Proteus/Sim/Listeners.h"
#include "Proteus/Sim/MemoryVerdict.h"
#include "Proteus/Sim/ReservedMemory.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace proteus::sim {

/// The figures of one device class.
struct ClassResult {
  MemoryPeak memory;
  AllocatorPeak allocator;
  MemoryBudget budget;
  Breakdown breakdown;
  std::array<Time, numStreams> streamBusy = {};
  /// Kernel time per operation kind (index into Workload::labels).
  std::vector<std::pair<uint32_t, Time>> computeByOperation;
  /// Sums to Breakdown::exposedCommunication; largest first.
  std::vector<ExposedCommunication> exposedByKind;
  /// How long gradient reductions go on after the last backward kernel.
  Time exposedReduction = 0;
};

struct SimulationResult {
  RunResult run;
  std::vector<ClassResult> classes; ///< as Workload::classes
  std::vector<CollectiveRow> collectives;
  std::vector<BucketRow> buckets;
  std::vector<LinkRow> links;
  /// Time on the critical path by what it was spent in, largest first; sums to
  /// the iteration time. Only if asked for.
  std::optional<std::vector<PathShare>> criticalPath;

  /// The class whose kernels take longest: it sets the pace, and what its
  /// breakdown does not spend computing is what could be gained. The first of
  /// equals.
  uint32_t slowestClass() const;
  /// The class whose tensors take most memory; the first of equals.
  uint32_t largestClass() const;
};

/// Figures of merit of the whole job. Absent where the job has no such figure.
struct Figures {
  double iterationSeconds = 0;
  std::optional<double> samplesPerSecond;
  std::optional<double> tokensPerSecond;
  std::optional<double> tokensPerSecondPerDevice;
  /// Model FLOPs (causal half, no recompute) over dense peak x devices x time.
  std::optional<double> mfu;
  std::optional<double> mfuFullSquare; ///< with full attention squares
  std::optional<double> hfu;           ///< executed FLOPs, recompute included
  int64_t peakMemoryBytes = 0;         ///< of tensors, worst device
  int64_t peakReservedBytes = 0;       ///< by the allocator, worst device
  MemoryVerdict memory;
};

/// Runs a workload with the listeners that a report needs, with one that
/// follows the critical path if asked for, and with `extra` ones (a trace).
llvm::Expected<SimulationResult> simulate(const Workload &workload,
                                          const EngineOptions &options = {},
                                          llvm::ArrayRef<Listener *> extra = {},
                                          bool followCriticalPath = false);

/// The share of what a link could have moved in the step; none in a step
/// without time.
std::optional<double> utilization(const Workload &workload,
                                  const SimulationResult &result,
                                  const LinkRow &row);

Figures figuresOf(const Workload &workload, const SimulationResult &result);

} // namespace proteus::sim

#endif // PROTEUS_SIM_SIMULATION_H
