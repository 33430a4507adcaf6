//===- PlanSizes.h - devices and batches of a plan --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_PLAN_PLANSIZES_H
#define PROTEUS_PLAN_PLANSIZES_H

#include "Proteus/Plan/ParallelPlan.h"

#include "llvm/Support/Error.h"

namespace proteus::plan {

/// Sizes of a job. `sizesOf` computes them from the plan, and from the number
/// of devices and the global batch if these are given.
struct Sizes {
  int64_t gpus = 1;
  int64_t dp = 1; ///< data-parallel degree, including expert parallelism
  int64_t microBatches = 1;
  int64_t globalBatch = 1;
};

/// Computes the sizes of a job. The number of devices is `gpus` if given. Else
/// it is the product of the degrees dp, tp, pp and cp if the plan states `dp`,
/// else `clusterGPUs`, the size of the cluster. If `clusterGPUs` is absent too,
/// `dp` is 1. Without `globalBatch`, the plan determines the number of
/// micro-batches. Fails if values contradict each other or are too large.
llvm::Expected<Sizes> sizesOf(const ParallelPlan &plan,
                              std::optional<int64_t> gpus,
                              std::optional<int64_t> globalBatch,
                              std::optional<int64_t> clusterGPUs);

} // namespace proteus::plan

#endif // PROTEUS_PLAN_PLANSIZES_H
