//===- PlanMerge.h - fill a plan from a stack -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Combines the plan of a job with the decisions of a stack. A decision that the
// job states takes precedence over the stack, and the stack takes precedence
// over the default.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_PLAN_PLANMERGE_H
#define PROTEUS_PLAN_PLANMERGE_H

#include "Proteus/Plan/ParallelPlan.h"

#include <vector>

namespace proteus::plan {

struct Field;

/// Decisions of a software stack for the fields that a job leaves open.
struct StackPlan {
  ParallelPlan plan;
  /// True if, with ZeRO, the stack reduces gradients and gathers parameters one
  /// parameter at a time.
  bool zeroPerParameter = false;

  /// Returns the decisions by the names of their flags, for example
  /// "tp-overlap=none". `zeroPerParameter`, which has no flag, appears as
  /// "zero_one_by_one=true". Returns an empty string if there are no decisions.
  std::string label() const;
};

/// A plan, with a list of the fields that come from a stack.
struct CompletedPlan {
  ParallelPlan plan;
  std::vector<const Field *> fromStack;
  /// Remarks about decisions of the stack that the simulator does not model for
  /// this plan.
  std::vector<std::string> remarks;
};

/// Fills the open fields of `stated` with the decisions of a stack. Ignores
/// decisions that have no effect on this plan, such as a gather of parameters
/// without ZeRO. Fields that neither the plan nor the stack states stay open;
/// `resolve` fills them with defaults.
CompletedPlan complete(const ParallelPlan &stated, const StackPlan &stack,
                       llvm::StringRef stackName);

} // namespace proteus::plan

#endif // PROTEUS_PLAN_PLANMERGE_H
