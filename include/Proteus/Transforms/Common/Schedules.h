//===- Schedules.h - orders of micro-batches --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built-in pipeline schedules. A schedule is a comparator: given two work items
// of a stage, such as a forward and a backward pass, it decides which of them
// runs first. A new schedule needs a value of `plan::ScheduleOrder`, a class,
// and a case in `getSchedule` (Schedules.cpp). Used by apply-strategy,
// match-strategy, split-stages and schedule-pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_SCHEDULES_H
#define PROTEUS_TRANSFORMS_COMMON_SCHEDULES_H

#include "Proteus/Dialect/Dist/Dist.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>

namespace proteus {

/// Position of a stage in its pipeline, and the size of that pipeline.
struct StageShape {
  /// Number of the stage, counted from 0.
  int64_t stage = 0;
  /// Number of stages.
  int64_t stages = 1;
  /// Number of chunks per stage.
  int64_t chunks = 1;
  int64_t microBatches = 1;
  /// Maximum number of (chunk, micro-batch) pairs in flight; absent if
  /// unlimited. A pair is in flight from the start of its forward pass until
  /// its last gradient is computed.
  std::optional<int64_t> maxOngoing = std::nullopt;
};

/// Rule by which a stage orders its forward and backward passes.
class PipelineSchedule {
public:
  virtual ~PipelineSchedule() = default;

  /// Returns true if the backward pass consists of two work items: the
  /// gradients for which the preceding stage waits, and the gradients of
  /// parameters.
  virtual bool splitsGradients() const { return false; }
  /// Returns the reason, with a remedy, why the schedule cannot be used for the
  /// pipeline. Returns nullopt if it can be used.
  virtual std::optional<std::string> whyNot(const StageShape &) const {
    return std::nullopt;
  }
  /// Returns true if the stage runs `a` before `b`. This is a strict weak order
  /// of all work items of the stage except the update.
  virtual bool isBefore(const StageShape &shape, const dist::Work &a,
                        const dist::Work &b) const = 0;
  /// Returns the maximum number of (chunk, micro-batch) pairs that the stage
  /// has in flight, as defined at `StageShape::maxOngoing`.
  virtual int64_t getOngoing(const StageShape &shape) const = 0;
};

/// Returns the built-in schedule for `order`.
const PipelineSchedule &getSchedule(plan::ScheduleOrder order);

/// Returns true if the requested schedule, which is a built-in or a listed
/// order, splits the gradients of the given chunk and stage into two work
/// items.
bool splitsGradients(dist::ScheduleRequestAttr schedule, int64_t stage,
                     int64_t chunk);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_SCHEDULES_H
