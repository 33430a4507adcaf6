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

/// A part of the step time other than forward and backward kernels, for example
/// exposed communication or recomputation. `remedy` is a change of the job that
/// reduces this part.
struct Cost {
  std::string name; ///< for example "all_reduce over tp"
  double seconds = 0;
  double share = 0; ///< fraction of the step time
  std::string remedy;
};

/// Returns the costs of the slowest device, largest first.
std::vector<Cost> costsOf(const jobs::Job &job, const jobs::Outcome &outcome);

/// Returns variants of the job's plan that need less memory. Used if the job
/// does not fit. The first variants each apply one remedy of the memory
/// verdict, in the order of the verdict. Leaves out remedies without a flag,
/// and half the micro-batch if its size is odd. The last variants combine ZeRO
/// with full recomputation.
std::vector<plan::ParallelPlan> smallerPlans(const jobs::Job &job,
                                             const jobs::Outcome &outcome);

} // namespace proteus::driver

#endif // PROTEUS_DRIVER_ADVICE_H
