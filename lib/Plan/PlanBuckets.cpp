//===- PlanBuckets.cpp - gradient buckets of a plan -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Plan/PlanBuckets.h"

#include <algorithm>

using namespace proteus::plan;

Buckets proteus::plan::bucketsOf(const ResolvedPlan &plan,
                                 int64_t elementBytes) {
  Buckets buckets;
  buckets.size = plan.bucketSize;
  buckets.first = plan.firstBucketSize;
  if (!plan.bucketRule || buckets.areStated())
    return buckets;
  bool isAfter = plan.gradientReduction == GradientReduction::AfterBackward;
  switch (*plan.bucketRule) {
  case BucketRule::DDP:
    // The sizes of DDP are the defaults, so they need not be stated. Exception:
    // if gradients are reduced after the backward pass, the default is a single
    // bucket, so the sizes of DDP are stated.
    if (isAfter) {
      buckets.size = 26214400;
      buckets.first = 1048576;
    }
    return buckets;
  case BucketRule::FSDP:
    buckets.perLayer = true;
    return buckets;
  case BucketRule::Megatron:
    // Megatron-LM's capacity is a number of elements. It grows with the number
    // of ranks, so that each step of a ring still moves much data. Megatron-LM
    // has one bucket if the reduction does not overlap.
    if (!isAfter)
      buckets.size = buckets.first =
          std::max<int64_t>(40'000'000, 1'000'000 * plan.dp * plan.cp) *
          elementBytes;
    return buckets;
  case BucketRule::DeepSpeed:
    buckets.size = buckets.first = 500'000'000 * elementBytes;
    return buckets;
  }
  return buckets;
}
