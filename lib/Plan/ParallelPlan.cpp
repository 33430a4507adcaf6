//===- ParallelPlan.cpp - parallel decisions of a job ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Plan/ParallelPlan.h"

#include "Proteus/Plan/PlanFields.h"

using namespace proteus::plan;

bool ParallelPlan::operator==(const ParallelPlan &other) const {
  return true
#define PLAN_FIELD(TYPE, MEMBER) &&MEMBER == other.MEMBER
#include "Proteus/Plan/PlanFields.def"
      ;
}

std::string ParallelPlan::label() const {
  std::string text;
  for (const Field &field : fields())
    if (std::optional<std::string> value = field.get(*this))
      text += (text.empty() ? "" : " ") + field.flag + "=" + *value;
  return text.empty() ? "one device" : text;
}

ResolvedPlan proteus::plan::resolve(const ParallelPlan &plan) {
  ResolvedPlan resolved;
#define PLAN_VALUE(TYPE, MEMBER, DEFAULT)                                      \
  resolved.MEMBER = plan.MEMBER.value_or(resolved.MEMBER);
#define PLAN_OPEN(TYPE, MEMBER) resolved.MEMBER = plan.MEMBER;
#include "Proteus/Plan/PlanFields.def"
  return resolved;
}
