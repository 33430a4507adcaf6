//===- PlanMerge.h - fill a plan from a stack -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decision in a flag or a tree overrides that of the stack, and that of the
// stack overrides the default. This is the only file that applies the order.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_PLAN_PLANMERGE_H
#define PROTEUS_PLAN_PLANMERGE_H

#include "Proteus/Plan/ParallelPlan.h"

#include <vector>

namespace proteus::plan {

struct Field;

/// Decisions of a software stack for jobs that leave them open.
struct StackPlan {
  ParallelPlan plan;
  /// True if the stack reduces gradients and gathers parameters of ZeRO one
  /// parameter at a time.
  bool zeroPerParameter = false;

  /// Returns the decisions as "tp-overlap=none ...", or an empty string.
  std::string label() const;
};

/// A plan and the origin of its fields.
struct CompletedPlan {
  ParallelPlan plan;
  std::vector<const Field *> fromStack;
  /// Remarks on decisions of the stack that the simulator does not model for
  /// this plan.
  std::vector<std::string> remarks;
};

/// Fills the open fields of `stated` with the decisions of a stack that have an
/// effect on such a plan. Fields that both leave open stay open; `resolve`
/// fills them.
CompletedPlan complete(const ParallelPlan &stated, const StackPlan &stack,
                       llvm::StringRef stackName);

} // namespace proteus::plan

#endif // PROTEUS_PLAN_PLANMERGE_H
