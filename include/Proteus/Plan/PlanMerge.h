//===- PlanMerge.h - fill a plan from a stack -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Defaults come before the stack, the stack before flags and trees. This is the
// only place that applies the order.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_PLAN_PLANMERGE_H
#define PROTEUS_PLAN_PLANMERGE_H

#include "Proteus/Plan/ParallelPlan.h"

#include <vector>

namespace proteus::plan {

struct Field;

/// Decisions of a software stack, for jobs that do not state them.
struct StackPlan {
  ParallelPlan plan;
  /// Where ZeRO shards optimizer states, gradients are reduced and parameters
  /// gathered one at a time.
  bool zeroPerParameter = false;

  /// Returns the decisions as "tp-overlap=none ...", or an empty string.
  std::string label() const;
};

/// A plan and the origin of its fields.
struct CompletedPlan {
  ParallelPlan plan;
  std::vector<const Field *> fromStack;
  /// Decisions of the stack that do not apply to the plan.
  std::vector<std::string> remarks;
};

/// Fills the open fields of `stated` with the decisions of a stack that apply
/// to it. Fields that both leave open stay open: see `resolve`.
CompletedPlan complete(const ParallelPlan &stated, const StackPlan &stack,
                       llvm::StringRef stackName);

} // namespace proteus::plan

#endif // PROTEUS_PLAN_PLANMERGE_H
