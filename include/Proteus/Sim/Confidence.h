//===- Confidence.h - the uncertainty of a prediction -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The uncertainty of a simulated step, derived from the mean relative errors of
// its costs. The report and the summary show it.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_CONFIDENCE_H
#define PROTEUS_SIM_CONFIDENCE_H

#include "Proteus/Sim/Simulation.h"

namespace proteus::sim {

/// Returns the kernel time of the slowest device by the source of its costs, as
/// shares that sum to 1. All shares are 0 if the device has no kernels.
std::array<double, cost::numSources>
sharesBySource(const Workload &workload, const SimulationResult &result);

/// An 80 % interval of the time of the step.
struct Interval {
  double lowSeconds = 0, highSeconds = 0;
};

/// Returns the interval of the time of the step, or nullopt if the errors of
/// the costs are unknown. Kernels of one family are assumed to share one error.
/// The errors of different families, of communication and of the rest are
/// assumed to be independent. All time except exposed communication, including
/// time of waiting, is as uncertain as the kernels.
std::optional<Interval> intervalOf(const Workload &workload,
                                   const SimulationResult &result);

} // namespace proteus::sim

#endif // PROTEUS_SIM_CONFIDENCE_H
