//===- Simulation.h - a run and all its figures -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the engine with all listeners that a report needs and collects their
// figures. The pass `simulate` is built on the function `simulate` of this
// file.
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
  /// Kernel time per kind of operation (an index into Workload::labels),
  /// largest first.
  std::vector<std::pair<uint32_t, Time>> computeByOperation;
  /// Parts of Breakdown::exposedCommunication, largest first.
  std::vector<ExposedCommunication> exposedByKind;
  /// Time during which gradient reductions continue after the last backward
  /// kernel.
  Time exposedReduction = 0;
};

/// The figures of all device classes and of the whole step.
struct SimulationResult {
  RunResult run;
  std::vector<ClassResult> classes; ///< in the order of Workload::classes
  std::vector<CollectiveRow> collectives;
  std::vector<BucketRow> buckets;
  std::vector<LinkRow> links;
  /// Time on the critical path by kind, largest first; sums to the iteration
  /// time. Present only if `simulate` followed the critical path.
  std::optional<std::vector<PathShare>> criticalPath;

  /// Returns the index of the class with the largest kernel time, or of the
  /// first one if several are equal. No other class spends more time in
  /// kernels, so the remaining parts of the breakdown of this class show how
  /// much time could be saved without faster kernels.
  uint32_t slowestClass() const;
  /// Returns the index of the class with the largest peak of tensor memory, or
  /// of the first one if several are equal.
  uint32_t largestClass() const;
};

/// Figures of merit of the whole job. A figure that does not apply to the job
/// is nullopt, for example the tokens per second of a model without tokens.
struct Figures {
  double iterationSeconds = 0;
  std::optional<double> samplesPerSecond;
  std::optional<double> tokensPerSecond;
  std::optional<double> tokensPerSecondPerDevice;
  /// FLOPs of the model per second and device, counted like `mfu`.
  std::optional<double> modelFlopsPerSecondPerDevice;
  /// Model FLOPs utilisation: the FLOPs of the model, divided by (dense peak
  /// rate of all devices x time of the step). The peak rate of a device is that
  /// of `utilizationType`, in whatever type the job computes. Counts no
  /// recomputation. Of attention with a causal mask, counts only the half that
  /// the mask permits.
  std::optional<double> mfu;
  /// Like `mfu`, but with the peak rate of fp8. Present only if most matrix
  /// products of the job are in fp8.
  std::optional<double> mfuFp8;
  /// Like `mfu`, but with the peak rate of the type in which most matrix
  /// products of the job are. More than 1 means that kernels are faster than
  /// this peak, because of a profile or a device that is not right.
  std::optional<double> shareOfOwnPeak;
  /// Like `mfu`, but counts attention as if it had no causal mask.
  std::optional<double> mfuFullSquare;
  /// Like `mfu`, but counts all executed FLOPs, including recomputation.
  std::optional<double> hfu;
  /// Largest number of bytes that live tensors occupy at one time, on the
  /// device where this number is largest.
  int64_t peakMemoryBytes = 0;
  /// Largest number of bytes that the allocator reserves, on the device where
  /// this number is largest. This device need not be that of `peakMemoryBytes`.
  int64_t peakReservedBytes = 0;
  MemoryVerdict memory;
};

/// Runs a workload with the listeners that a report needs and with the
/// listeners in `extra`, for example a trace. Also finds the critical path if
/// `followCriticalPath` is true.
llvm::Expected<SimulationResult> simulate(const Workload &workload,
                                          const EngineOptions &options = {},
                                          llvm::ArrayRef<Listener *> extra = {},
                                          bool followCriticalPath = false);

/// Runs a workload with the listener of memory and those in `extra`. Of every
/// class, the result has only the figures of memory. They are those of
/// `simulate`.
llvm::Expected<SimulationResult>
simulateMemory(const Workload &workload, const EngineOptions &options = {},
               llvm::ArrayRef<Listener *> extra = {});

/// Returns the utilisation of a link: the bytes that it moved, divided by the
/// bytes that it could have moved in the time of the step. Returns nullopt if
/// the step takes no time.
std::optional<double> utilization(const Workload &workload,
                                  const SimulationResult &result,
                                  const LinkRow &row);

/// Returns the type whose dense peak rate is the denominator of the MFU: bf16
/// or, if the device has no peak rate of it, f16, or else f32.
machine::DType utilizationType(const machine::Device &device);

/// Computes the figures of merit of a simulated job.
Figures figuresOf(const Workload &workload, const SimulationResult &result);

} // namespace proteus::sim

#endif // PROTEUS_SIM_SIMULATION_H
