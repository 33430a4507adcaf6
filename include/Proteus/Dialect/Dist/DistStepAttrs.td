//===- DistStepAttrs.td - settings of a training step ------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Settings of a training step as a whole, such as its schedule. A strategy tree
// contains the settings, and each program holds a copy of them. These passes
// apply them: schedule-pipeline, fuse-gradients, chunk-products and simulate.
// The enumerations are those of a parallel plan (PlanEnums.h).
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_DISTSTEPATTRS_TD
#define PROTEUS_DIALECT_DIST_DISTSTEPATTRS_TD

include "Proteus/Dialect/Dist/DistDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Dist_StepPart<string name, string attrMnemonic>
    : AttrDef<Dist_Dialect, name> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` struct(params) `>`";
}

class Dist_OptionalInt<string desc>
    : OptionalParameter<"std::optional<int64_t>", desc>;
class Dist_Flag<string desc> : DefaultValuedParameter<"bool", "false", desc>;

def Dist_ScheduleRequestAttr
    : Dist_StepPart<"ScheduleRequest", "schedule_request"> {
  let summary = "The order in which stages are to run micro-batches";
  let description = [{
    - `order`: a built-in order.
    - `orders`: replaces `order` by a list of work items for every stage, such
      as `[["F0", "F1", "B0", "B1"], ["F0", "B0", "F1", "B1"]]`.
    - `max_ongoing`: the largest number of micro-batches that a stage may have
      in flight, that is, between their forward pass and their last gradient.
      Each chunk of a micro-batch counts. Without `max_ongoing`, the order
      determines this number.
    - `virtual_stages`: the number of chunks of the model on each stage.

    **Constraints**
    - numbers are at least 1;
    - `orders` is an array of arrays of work items.

    Example: `#dist.schedule_request<order = "zero-bubble", max_ongoing = 4>`
  }];
  let parameters = (ins
    DefaultValuedParameter<"::proteus::plan::ScheduleOrder",
      "::proteus::plan::ScheduleOrder::OneForwardOneBackward">:$order,
    Dist_OptionalInt<"limit of micro-batches in flight">:$max_ongoing,
    DefaultValuedParameter<"int64_t", "1", "chunks per stage">:$virtual_stages,
    OptionalParameter<"::mlir::ArrayAttr", "work items of every stage">:$orders);
  let builders = [AttrBuilder<(ins), [{
    return $_get($_ctxt, plan::ScheduleOrder::OneForwardOneBackward,
                 std::nullopt, 1, ::mlir::ArrayAttr());
  }]>];
}

def Dist_BucketingAttr : Dist_StepPart<"Bucketing", "bucketing"> {
  let summary = "Buckets in which gradients are reduced and parameters gathered";
  let description = [{
    `strategy.bucket` describes these settings in full.

    - `size`: capacity of a bucket in bytes.
    - `first`: capacity of the first bucket in bytes.
    - `per_layer`: a bucket also ends where a layer ends.
    - `reduction`: `overlapped` reduces buckets during the backward pass,
      `after-backward` reduces them after it, and `per-parameter` reduces each
      gradient by itself, without buckets.
    - `gather`: capacity in bytes of the buckets in which updated parameters are
      gathered.
    - `gather_per_parameter`: every updated parameter is gathered by itself.
    - `by_operation`: all gradients of an operation are ready at the same time.
    - `all_reduce`: a gradient is reduced as a whole, even if each replica
      updates only a part of its parameter.

    **Constraints**
    - sizes are at least 1;
    - with `reduction = "per-parameter"` there are no sizes and no `per_layer`;
    - `gather_per_parameter` excludes `gather`.

    Example: `#dist.bucketing<size = 26214400, first = 1048576>`
  }];
  let parameters = (ins
    Dist_OptionalInt<"bytes of a bucket">:$size,
    Dist_OptionalInt<"bytes of the first bucket">:$first,
    Dist_Flag<"whether a bucket ends with a layer">:$per_layer,
    DefaultValuedParameter<"::proteus::plan::GradientReduction",
      "::proteus::plan::GradientReduction::Overlapped">:$reduction,
    Dist_OptionalInt<"bytes of a bucket of parameters">:$gather,
    Dist_Flag<"whether parameters are gathered one at a time">
      :$gather_per_parameter,
    Dist_Flag<"whether gradients of an operation are ready together">
      :$by_operation,
    Dist_Flag<"whether whole gradients are reduced">:$all_reduce);
}

def Dist_OverlapAttr : Dist_StepPart<"Overlap", "overlap"> {
  let summary = "Kernels that run during communication";
  let description = [{
    `strategy.overlap` describes these settings in full.

    - `tensor`: the kernels that run during collectives of tensor parallelism.
    - `chunks`: the number of chunks into which a product is cut with `tensor =
      chunked`. Without `chunks`, a collective through user buffers (attribute
      `proteus.exchange`) has one chunk per device of its group, and any other
      collective has 4 chunks.
    - `messages`: true if kernels run during messages between stages.
    - `reductions`: the number of layers whose sharded gradients may be reduced,
      or wait for that, at the same time. Kernels of later layers wait.

    **Constraints**
    - `chunks` is at least 2 and needs `tensor = chunked`;
    - `reductions` is at least 1.

    Example: `#dist.overlap<tensor = chunked, chunks = 4, messages = false>`
  }];
  let parameters = (ins
    DefaultValuedParameter<"::proteus::plan::TensorOverlap",
      "::proteus::plan::TensorOverlap::Async">:$tensor,
    Dist_OptionalInt<"chunks of a product">:$chunks,
    DefaultValuedParameter<"bool", "true",
      "whether kernels run during messages">:$messages,
    DefaultValuedParameter<"int64_t", "2",
      "layers with gradients in reduction">:$reductions);
  let builders = [AttrBuilder<(ins), [{
    return $_get($_ctxt, plan::TensorOverlap::Async, std::nullopt, true, 2);
  }]>];
}

def Dist_StepAttr : AttrDef<Dist_Dialect, "Step"> {
  let mnemonic = "step";
  let summary = "Settings of a training step that follow its programs";
  let description = [{
    The settings that passes on programs apply, in three parts: schedule,
    buckets and overlap. A part that has its default value is not printed. A
    pass that rewrites programs resets the settings that it has applied to their
    defaults.

    Example:
    ```mlir
    dist.program @stage0 mesh #mesh (...) attributes {
      step = #dist.step<schedule = <order = gpipe>, overlap = <tensor = none>>
    } { ... }
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"::proteus::dist::ScheduleRequestAttr",
      "::proteus::dist::ScheduleRequestAttr::get($_ctxt)">:$schedule,
    OptionalParameter<"::proteus::dist::BucketingAttr",
      "buckets; absent: those of PyTorch's DistributedDataParallel">:$buckets,
    DefaultValuedParameter<"::proteus::dist::OverlapAttr",
      "::proteus::dist::OverlapAttr::get($_ctxt)">:$overlap);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Return these settings with one part replaced.
    StepAttr withSchedule(ScheduleRequestAttr schedule) const;
    StepAttr withBuckets(BucketingAttr buckets) const;
    StepAttr withOverlap(OverlapAttr overlap) const;
  }];
  let builders = [AttrBuilder<(ins), [{
    return $_get($_ctxt, ScheduleRequestAttr::get($_ctxt), BucketingAttr(),
                 OverlapAttr::get($_ctxt));
  }]>];
}

#endif // PROTEUS_DIALECT_DIST_DISTSTEPATTRS_TD
