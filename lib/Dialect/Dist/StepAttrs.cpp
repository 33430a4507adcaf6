//===- StepAttrs.cpp - settings of a training step ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies the attributes with the settings of a training step: schedule,
// buckets and overlap.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::dist;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// Fails with an error if `value` is present and less than `least`.
static LogicalResult checkAtLeast(EmitError emitError, StringRef name,
                                  std::optional<int64_t> value, int64_t least) {
  if (!value || *value >= least)
    return success();
  return emitError() << name << " must be at least " << least << ", got "
                     << *value;
}

LogicalResult ScheduleRequestAttr::verify(EmitError emitError,
                                          plan::ScheduleOrder,
                                          std::optional<int64_t> maxOngoing,
                                          int64_t virtualStages,
                                          ArrayAttr orders) {
  if (failed(checkAtLeast(emitError, "max_ongoing", maxOngoing, 1)) ||
      failed(checkAtLeast(emitError, "virtual_stages", virtualStages, 1)))
    return failure();
  if (!orders)
    return success();
  for (Attribute stage : orders) {
    auto items = dyn_cast<ArrayAttr>(stage);
    if (!items)
      return emitError() << "orders must be an array of arrays of work items, "
                            "got "
                         << stage;
    for (Attribute item : items)
      if (auto text = dyn_cast<StringAttr>(item);
          !text || !parseWork(text.getValue()))
        return emitError() << "orders lists " << item
                           << ", which is no work item such as \"F0\"";
  }
  return success();
}

LogicalResult BucketingAttr::verify(EmitError emitError,
                                    std::optional<int64_t> size,
                                    std::optional<int64_t> first, bool perLayer,
                                    plan::GradientReduction reduction,
                                    std::optional<int64_t> gather,
                                    bool gatherPerParameter, bool, bool) {
  if (failed(checkAtLeast(emitError, "size", size, 1)) ||
      failed(checkAtLeast(emitError, "first", first, 1)) ||
      failed(checkAtLeast(emitError, "gather", gather, 1)))
    return failure();
  if (reduction == plan::GradientReduction::PerParameter &&
      (size || first || perLayer))
    return emitError() << "reduction = \"per-parameter\" has no buckets; leave "
                          "out size, first and per_layer";
  if (gather && gatherPerParameter)
    return emitError() << "gather_per_parameter has no buckets; leave out "
                          "gather";
  return success();
}

LogicalResult OverlapAttr::verify(EmitError emitError,
                                  plan::TensorOverlap tensor,
                                  std::optional<int64_t> chunks, bool,
                                  int64_t reductions) {
  if (chunks && tensor != plan::TensorOverlap::Chunked)
    return emitError() << "chunks needs tensor = chunked, got tensor = "
                       << plan::stringifyTensorOverlap(tensor);
  if (failed(checkAtLeast(emitError, "reductions", reductions, 1)))
    return failure();
  return checkAtLeast(emitError, "chunks", chunks, 2);
}

StepAttr StepAttr::withSchedule(ScheduleRequestAttr schedule) const {
  return get(getContext(), schedule, getBuckets(), getOverlap());
}

StepAttr StepAttr::withBuckets(BucketingAttr buckets) const {
  return get(getContext(), getSchedule(), buckets, getOverlap());
}

StepAttr StepAttr::withOverlap(OverlapAttr overlap) const {
  return get(getContext(), getSchedule(), getBuckets(), overlap);
}
