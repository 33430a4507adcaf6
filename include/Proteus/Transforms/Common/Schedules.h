//===- Schedules.h - orders of micro-batches --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built-in pipeline schedules. Each is a comparator that decides which of two
// work items a stage runs first. A new schedule needs a class and an entry in
// the list of Schedules.cpp. Used by apply-strategy, match-strategy,
// split-stages and schedule-pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_SCHEDULES_H
#define PROTEUS_TRANSFORMS_COMMON_SCHEDULES_H

#include "Proteus/Dialect/Dist/Dist.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>

namespace proteus {

/// A stage and the dimensions of its pipeline.
struct StageShape {
  int64_t stage = 0;
  /// Number of stages.
  int64_t stages = 1;
  /// Number of chunks per stage.
  int64_t chunks = 1;
  int64_t microBatches = 1;
  /// Maximum number of (chunk, micro-batch) pairs whose forward pass has
  /// started and whose last gradient is not computed; absent if unlimited.
  std::optional<int64_t> maxOngoing = std::nullopt;
};

/// Rule by which a stage orders its work.
class PipelineSchedule {
public:
  virtual ~PipelineSchedule() = default;

  /// Returns true if the gradients that the preceding stage waits for are a
  /// work item of their own, separate from the gradients of parameters.
  virtual bool splitsGradients() const { return false; }
  /// Returns the reason why the schedule does not fit the pipeline, with a
  /// remedy, or nullopt if it fits.
  virtual std::optional<std::string> whyNot(const StageShape &) const {
    return std::nullopt;
  }
  /// Returns true if the stage runs `a` before `b`. It is a strict weak order
  /// of all work of the stage except the update.
  virtual bool isBefore(const StageShape &shape, const dist::Work &a,
                        const dist::Work &b) const = 0;
  /// Returns the maximum number of (chunk, micro-batch) pairs that the stage
  /// has in flight.
  virtual int64_t getOngoing(const StageShape &shape) const = 0;
};

/// Returns a built-in schedule.
const PipelineSchedule &getSchedule(plan::ScheduleOrder order);

/// Returns true if a requested schedule splits the gradients of a chunk of a
/// stage into two work items.
bool splitsGradients(dist::ScheduleRequestAttr schedule, int64_t stage,
                     int64_t chunk);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_SCHEDULES_H
