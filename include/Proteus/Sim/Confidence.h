//===- Confidence.h - the uncertainty of a prediction -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the uncertainty of a simulated step time from the mean relative
// errors of its parts: kernels, collectives, and effects of the software stack
// that are not modelled. Computes the uncertainty of the memory in the same
// manner. The report and the summary show both.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_CONFIDENCE_H
#define PROTEUS_SIM_CONFIDENCE_H

#include "Proteus/Sim/Simulation.h"

namespace proteus::sim {

/// Returns the share of each source of kernel times (such as a profile or a
/// datasheet) in the kernel time of the slowest device. The shares sum to 1, or
/// all are 0 if the device has no kernels.
std::array<double, cost::numSources>
sharesBySource(const Workload &workload, const SimulationResult &result);

/// The range in which the real time of the step lies with a probability of
/// 80 %.
struct Interval {
  double lowSeconds = 0, highSeconds = 0;
};

/// Returns the 80 % interval of the time of the step, or nullopt if the errors
/// of the workload are unknown. Kernels of one family (such as matrix products)
/// are assumed to share one error. The errors of different families, of
/// collectives and of the software stack are assumed to be independent. All
/// time other than exposed communication is taken to be as uncertain as the
/// kernels, even time in which the device waits.
std::optional<Interval> intervalOf(const Workload &workload,
                                   const SimulationResult &result);

/// The range in which the memory that a device needs lies with a probability of
/// 80 %.
struct MemoryInterval {
  int64_t lowBytes = 0, highBytes = 0;
};

/// Returns the 80 % interval of `verdict.needed`, or nullopt if the errors of
/// the workload are unknown. The error of the memory is one constant: the mean
/// relative error of published runs (docs/models.md).
std::optional<MemoryInterval> memoryIntervalOf(const Workload &workload,
                                               const MemoryVerdict &verdict);

} // namespace proteus::sim

#endif // PROTEUS_SIM_CONFIDENCE_H
