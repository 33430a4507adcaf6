//===- Confidence.h - how far a prediction can be trusted -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_CONFIDENCE_H
#define PROTEUS_SIM_CONFIDENCE_H

#include "Proteus/Sim/Simulation.h"

namespace proteus::sim {

/// Kernel time of the slowest device by where the times came from, as shares
/// that sum to 1; all 0 if it has no kernels.
std::array<double, cost::numSources>
sharesBySource(const Workload &workload, const SimulationResult &result);

/// Between these the time of the step is expected in 4 of 5 cases.
struct Interval {
  double lowSeconds = 0, highSeconds = 0;
};

/// Errors of kernels of one family are taken to be the same one; those of
/// families, of communication and of the rest to be independent. What of the
/// step is no exposed communication, waiting included, is as uncertain as its
/// kernels. None if the costs say nothing about their errors.
std::optional<Interval> intervalOf(const Workload &workload,
                                   const SimulationResult &result);

} // namespace proteus::sim

#endif // PROTEUS_SIM_CONFIDENCE_H
