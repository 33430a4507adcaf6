//===- ParallelPlan.h - parallel decisions of a job -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan holds the parallel decisions that a user, a case, a stack or a test
// states. Absent fields are open. `complete` (PlanMerge.h) fills open fields
// with the decisions of a stack; `resolve` fills the others with defaults. The
// structs ParallelPlan and ResolvedPlan have the fields of PlanFields.def.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_PLAN_PARALLELPLAN_H
#define PROTEUS_PLAN_PARALLELPLAN_H

#include "Proteus/Plan/PlanEnums.h"

#include <cstdint>
#include <optional>
#include <string>

namespace proteus::plan {

/// Upper bounds of degrees, of batches in samples and of sizes in bytes. A
/// larger value is certainly a mistake and could overflow when it is
/// multiplied.
constexpr int64_t maxDegree = 10'000'000, maxBatch = 1'000'000'000,
                  maxBytes = int64_t(1) << 40;

/// The decisions that were stated. Absent fields are open.
struct ParallelPlan {
#define PLAN_FIELD(TYPE, MEMBER) std::optional<TYPE> MEMBER;
#include "Proteus/Plan/PlanFields.def"

  bool operator==(const ParallelPlan &other) const;
  /// Returns the stated fields by the names of their flags, for example "tp=8
  /// pp=4 zero=1", or "one device" if all fields are open.
  std::string label() const;
};

/// All decisions of a job. Fields without a default are still optional.
struct ResolvedPlan {
#define PLAN_VALUE(TYPE, MEMBER, DEFAULT) TYPE MEMBER = DEFAULT;
#define PLAN_OPEN(TYPE, MEMBER) std::optional<TYPE> MEMBER;
#include "Proteus/Plan/PlanFields.def"

  /// Returns true if the devices of a tensor-parallel group hold different
  /// whole experts, instead of shards of the same experts.
  bool hasWholeExperts() const { return tp > 1 && etp == 1; }
  /// Returns the number of data-parallel ranks over which the experts are
  /// distributed.
  int64_t expertRanks() const { return hasWholeExperts() ? ep / tp : ep; }
  /// Returns the number of copies of each expert. `dp` is this number times
  /// `expertRanks`.
  int64_t dataReplicas() const { return dp / expertRanks(); }
  /// Returns the order of the schedule. `1f1b` with several chunks per stage
  /// becomes `interleaved`.
  ScheduleOrder scheduleOrder() const {
    return virtualStages > 1 && schedule == ScheduleOrder::OneForwardOneBackward
               ? ScheduleOrder::Interleaved
               : schedule;
  }
};

/// Returns `plan` with the defaults in its open fields.
ResolvedPlan resolve(const ParallelPlan &plan);

} // namespace proteus::plan

#endif // PROTEUS_PLAN_PARALLELPLAN_H
