//===- PlanBuckets.h - gradient buckets of a plan ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_PLAN_PLANBUCKETS_H
#define PROTEUS_PLAN_PLANBUCKETS_H

#include "Proteus/Plan/ParallelPlan.h"

namespace proteus::plan {

/// Capacities of gradient buckets in bytes. If none of these fields is stated,
/// PyTorch's defaults apply: the first bucket has 1 MiB and all others have 25
/// MiB. Exception: if gradients are reduced after the backward pass, one bucket
/// holds all of them.
struct Buckets {
  std::optional<int64_t> size, first;
  bool perLayer = false; ///< true if a bucket ends with each layer

  bool areStated() const { return size || first || perLayer; }
};

/// Returns the capacities that `plan` states or, if it states none, those of
/// its bucket rule. The result is empty if `plan` has no bucket rule, or if the
/// rule agrees with the defaults above. `elementBytes` is the number of bytes
/// of one gradient element.
Buckets bucketsOf(const ResolvedPlan &plan, int64_t elementBytes);

} // namespace proteus::plan

#endif // PROTEUS_PLAN_PLANBUCKETS_H
