//===- Advice.h - what a step loses, and what would help --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DRIVER_ADVICE_H
#define PROTEUS_DRIVER_ADVICE_H

#include "Proteus/Jobs/Job.h"
#include "Proteus/Jobs/RunJob.h"

namespace proteus::driver {

/// Something that a step spends time on and that a strategy may change.
struct Cost {
  std::string what; ///< "all_reduce over tp"
  double seconds = 0;
  double share = 0; ///< of the step
  std::string remedy;
};

/// The costs of the slowest device beyond the kernels that the model needs,
/// largest first.
std::vector<Cost> costsOf(const Job &job, const Outcome &outcome);

/// Strategies that need less memory than one that does not fit, likely ones
/// first: the knobs of the verdict, as far as flags can turn them.
std::vector<plan::ParallelPlan> smallerPlans(const Job &job,
                                             const Outcome &outcome);

} // namespace proteus::driver

#endif // PROTEUS_DRIVER_ADVICE_H
