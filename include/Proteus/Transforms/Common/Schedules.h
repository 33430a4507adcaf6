//===- Schedules.h - orders of micro-batches --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The built-in schedules. Each is a comparator: which of two pieces of work a
// stage runs first. A new schedule is a class and an entry of the list in
// Schedules.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_SCHEDULES_H
#define PROTEUS_TRANSFORMS_COMMON_SCHEDULES_H

#include "Proteus/Dialect/Dist/Dist.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>

namespace proteus {

/// A stage and the pipeline it is in.
struct StageShape {
  int64_t stage = 0;
  int64_t stages = 1;
  int64_t chunks = 1;
  int64_t microBatches = 1;
  /// The most (chunk, micro-batch) pairs between forward and last gradient.
  std::optional<int64_t> maxOngoing = std::nullopt;
};

/// A rule by which a stage orders its work.
class PipelineSchedule {
public:
  virtual ~PipelineSchedule() = default;

  /// Whether the gradients that a stage in front waits for run by themselves.
  virtual bool splitsGradients() const { return false; }
  /// Why it does not fit the pipeline and what to do; none if it does.
  virtual std::optional<std::string> whyNot(const StageShape &) const {
    return std::nullopt;
  }
  /// Whether the stage runs `a` before `b`; a strict weak order of all work of
  /// the stage but the update.
  virtual bool isBefore(const StageShape &shape, const dist::Work &a,
                        const dist::Work &b) const = 0;
  /// The most (chunk, micro-batch) pairs that the stage has in flight.
  virtual int64_t getOngoing(const StageShape &shape) const = 0;
};

/// Returns a built-in schedule.
const PipelineSchedule &getSchedule(plan::ScheduleOrder order);

/// Returns true if a requested schedule splits the gradients of a chunk of a
/// stage.
bool splitsGradients(dist::ScheduleRequestAttr schedule, int64_t stage,
                     int64_t chunk);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_SCHEDULES_H
