//===- Schedules.cpp - orders of micro-batches ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Common/Schedules.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>

using namespace mlir;
using namespace proteus;
using dist::SectionKind;
using dist::Work;

namespace {

/// Base of the built-in schedules. It sorts the work of a stage into numbered
/// slots: slot k contains backward pass k. The limit is the number of forward
/// passes that may run before the first backward pass. Forward pass p must wait
/// for backward pass p - limit, so it is in slot max(0, p - limit + 1). With a
/// limit of 2, for example, slot 0 contains F0, F1 and B0, slot 1 contains F2
/// and B1, and slot 2 contains F3 and B2. Within a slot, forward passes run
/// first and gradients of parameters last.
class SlottedSchedule : public PipelineSchedule {
public:
  bool isBefore(const StageShape &shape, const Work &a,
                const Work &b) const override {
    return keyOf(shape, a) < keyOf(shape, b);
  }

protected:
  /// Returns the number of forward passes that may run before the first
  /// backward pass.
  virtual int64_t getLimit(const StageShape &shape) const = 0;
  /// Returns the index of a forward pass in the order in which the stage runs
  /// forward passes. Backward passes have the same order, but with the chunks
  /// in reverse.
  virtual int64_t getPosition(const StageShape &shape, int64_t chunk,
                              int64_t micro) const {
    return micro;
  }
  /// Returns the number of slots by which gradients of parameters follow their
  /// backward pass.
  virtual int64_t getDelay(const StageShape &) const { return 0; }

  /// Returns the smaller of `limit` and `shape.maxOngoing`, or `limit` if
  /// `shape.maxOngoing` is absent.
  static int64_t limited(const StageShape &shape, int64_t limit) {
    return shape.maxOngoing ? std::min(limit, *shape.maxOngoing) : limit;
  }

private:
  /// Sort key of a work item: its slot, its order within the slot, and its
  /// index among all forward or backward passes.
  using Key = std::tuple<int64_t, int64_t, int64_t>;
  Key keyOf(const StageShape &shape, const Work &work) const {
    bool forward = work.kind == SectionKind::Forward;
    int64_t chunk = forward ? work.chunk : shape.chunks - 1 - work.chunk;
    int64_t position = getPosition(shape, chunk, *work.micro);
    if (forward)
      return {std::max<int64_t>(0, position - getLimit(shape) + 1), 0,
              position};
    if (work.kind == SectionKind::WeightGradient)
      return {position + getDelay(shape), 2, position};
    return {position, 1, position};
  }
};

/// GPipe: a stage runs all forward passes, then all backward passes.
class GPipe : public SlottedSchedule {
public:
  int64_t getOngoing(const StageShape &shape) const override {
    return getLimit(shape);
  }
  std::optional<std::string> whyNot(const StageShape &shape) const override {
    if (shape.chunks == 1 || !shape.maxOngoing ||
        *shape.maxOngoing >= shape.chunks * shape.microBatches)
      return std::nullopt;
    return "max_ongoing = " + std::to_string(*shape.maxOngoing) +
           " is less than the " +
           std::to_string(shape.chunks * shape.microBatches) +
           " forwards of a stage with " + std::to_string(shape.chunks) +
           " chunks; leave it out";
  }

protected:
  int64_t getLimit(const StageShape &shape) const override {
    return limited(shape, shape.chunks * shape.microBatches);
  }
  int64_t getPosition(const StageShape &shape, int64_t chunk,
                      int64_t micro) const override {
    return chunk * shape.microBatches + micro;
  }
};

/// 1F1B: as soon as a stage can run its first backward pass, it alternates
/// between backward and forward passes.
class OneForwardOneBackward : public SlottedSchedule {
public:
  int64_t getOngoing(const StageShape &shape) const override {
    return std::min(getLimit(shape), shape.microBatches);
  }

protected:
  int64_t getLimit(const StageShape &shape) const override {
    return limited(shape, shape.stages - shape.stage);
  }
};

/// Interleaved: 1F1B with several chunks per stage. Micro-batches form groups
/// with as many members as there are stages. A stage runs a group through all
/// its chunks before it starts the next group.
class Interleaved : public SlottedSchedule {
public:
  int64_t getOngoing(const StageShape &shape) const override {
    return std::min(getLimit(shape), shape.chunks * shape.microBatches);
  }
  std::optional<std::string> whyNot(const StageShape &shape) const override {
    // With one chunk the order would be 1F1B with more micro-batches in flight:
    // the same time, and more memory.
    if (shape.chunks == 1 && shape.stages > 1)
      return "it needs several chunks per stage; set virtual_stages (--vpp) to "
             "2 or more, or use order = \"1f1b\"";
    if (shape.microBatches % shape.stages != 0)
      return std::to_string(shape.microBatches) +
             " micro-batches can't be cut into groups of " +
             std::to_string(shape.stages) +
             ", the number of stages; use a multiple of it, or order = "
             "\"gpipe\"";
    StageShape first = shape;
    first.stage = 0;
    int64_t needed = getOngoing(first);
    if (shape.maxOngoing && *shape.maxOngoing < needed)
      return "max_ongoing = " + std::to_string(*shape.maxOngoing) +
             " is less than the " + std::to_string(needed) +
             " pairs of chunk and micro-batch that the first stage must have "
             "in flight; leave it out";
    return std::nullopt;
  }

protected:
  int64_t getLimit(const StageShape &shape) const override {
    int64_t all = shape.chunks * shape.microBatches;
    // With a single group of micro-batches, the stage runs all its forward
    // passes before its first backward pass.
    if (shape.microBatches == shape.stages)
      return all;
    return std::min(all, 2 * (shape.stages - shape.stage - 1) +
                             (shape.chunks - 1) * shape.stages + 1);
  }
  int64_t getPosition(const StageShape &shape, int64_t chunk,
                      int64_t micro) const override {
    int64_t group = micro / shape.stages;
    return (group * shape.chunks + chunk) * shape.stages + micro % shape.stages;
  }
};

/// Zero bubble: 1F1B in which a backward pass computes only the gradients for
/// which the preceding stage waits. Stage s, counted from 0, computes the
/// gradients of parameters s slots later. With this delay, no stage has more
/// micro-batches in flight than the first one. The last stages run out of other
/// work first, and they have the most gradients of parameters left to compute.
class ZeroBubble : public SlottedSchedule {
public:
  bool splitsGradients() const override { return true; }
  int64_t getOngoing(const StageShape &shape) const override {
    return std::min(getLimit(shape) + getDelay(shape), shape.microBatches);
  }
  std::optional<std::string> whyNot(const StageShape &shape) const override {
    if (shape.chunks == 1)
      return std::nullopt;
    return "it has one chunk per stage, not " + std::to_string(shape.chunks) +
           "; use order = \"interleaved\", or list the work with order = "
           "\"explicit\"";
  }

protected:
  int64_t getLimit(const StageShape &shape) const override {
    return limited(shape, shape.stages - shape.stage);
  }
  int64_t getDelay(const StageShape &shape) const override {
    if (!shape.maxOngoing)
      return shape.stage;
    return std::min(shape.stage, *shape.maxOngoing - getLimit(shape));
  }
};

} // namespace

const PipelineSchedule &proteus::getSchedule(plan::ScheduleOrder order) {
  static const GPipe gpipe;
  static const OneForwardOneBackward oneForwardOneBackward;
  static const Interleaved interleaved;
  static const ZeroBubble zeroBubble;
  switch (order) {
  case plan::ScheduleOrder::GPipe:
    return gpipe;
  case plan::ScheduleOrder::OneForwardOneBackward:
    return oneForwardOneBackward;
  case plan::ScheduleOrder::Interleaved:
    return interleaved;
  case plan::ScheduleOrder::ZeroBubble:
    return zeroBubble;
  }
  llvm_unreachable("unknown order");
}

bool proteus::splitsGradients(dist::ScheduleRequestAttr schedule, int64_t stage,
                              int64_t chunk) {
  ArrayAttr orders = schedule.getOrders();
  if (!orders)
    return getSchedule(schedule.getOrder()).splitsGradients();
  if (stage >= static_cast<int64_t>(orders.size()))
    return false;
  return llvm::any_of(cast<ArrayAttr>(orders[stage]).getAsRange<StringAttr>(),
                      [&](StringAttr item) {
                        std::optional<Work> work = dist::parseWork(item);
                        return work && work->chunk == chunk &&
                               (work->kind == SectionKind::InputGradient ||
                                work->kind == SectionKind::WeightGradient);
                      });
}
