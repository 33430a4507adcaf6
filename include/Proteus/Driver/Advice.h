//===- Advice.h - costs of a step and remedies ------------------*- C++ -*-===//
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

/// Time that a step spends beyond its model kernels and that a plan may reduce.
struct Cost {
  std::string name; ///< "all_reduce over tp"
  double seconds = 0;
  double share = 0; ///< of the step's time
  std::string remedy;
};

/// Returns the costs of the slowest device beyond the kernels that the model
/// needs, largest first.
std::vector<Cost> costsOf(const jobs::Job &job, const jobs::Outcome &outcome);

/// Returns plans that need less memory than a plan that does not fit, the most
/// promising first. They change the settings that the memory verdict names and
/// that flags can set.
std::vector<plan::ParallelPlan> smallerPlans(const jobs::Job &job,
                                             const jobs::Outcome &outcome);

} // namespace proteus::driver

#endif // PROTEUS_DRIVER_ADVICE_H
