//===- PlanEnums.td - choices of a parallel plan -----------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every choice of a plan is declared here. Flags, JSON files, pass options and
// attributes of the IR share the spellings. The generated declarations include
// no MLIR header.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_PLAN_PLANENUMS_TD
#define PROTEUS_PLAN_PLANENUMS_TD

include "mlir/IR/EnumAttr.td"

class Plan_Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::proteus::plan";
}

def Plan_ScheduleOrder
    : Plan_Enum<"ScheduleOrder", "order in which a stage runs micro-batches", [
        I32EnumCase<"GPipe", 0, "gpipe">,
        I32EnumCase<"OneForwardOneBackward", 1, "1f1b">,
        I32EnumCase<"Interleaved", 2, "interleaved">,
        I32EnumCase<"ZeroBubble", 3, "zero-bubble">
      ]>;

def Plan_Recompute
    : Plan_Enum<"Recompute", "activations that the backward pass recomputes", [
        I32EnumCase<"None", 0, "none">,
        I32EnumCase<"Selective", 1, "selective">,
        I32EnumCase<"Full", 2, "full">
      ]>;

def Plan_StagePartition
    : Plan_Enum<"StagePartition", "how layers are distributed over stages", [
        I32EnumCase<"Layers", 0, "layers">,
        I32EnumCase<"Ends", 1, "ends">,
        I32EnumCase<"Divisible", 2, "divisible">,
        I32EnumCase<"Work", 3, "work">
      ]>;

def Plan_ContextKind
    : Plan_Enum<"ContextKind",
                "how attention reads the other parts of a sequence", [
        I32EnumCase<"AllGather", 0, "all-gather">,
        I32EnumCase<"Ring", 1, "ring">,
        I32EnumCase<"Ulysses", 2, "ulysses">
      ]>;

def Plan_TensorOverlap
    : Plan_Enum<"TensorOverlap",
                "kernels that run during collectives of tensor parallelism", [
        I32EnumCase<"None", 0, "none">,
        I32EnumCase<"Async", 1, "async">,
        I32EnumCase<"Chunked", 2, "chunked">
      ]>;

def Plan_ZeroStage
    : Plan_Enum<"ZeroStage", "tensors sharded over data-parallel devices", [
        I32EnumCase<"None", 0, "0">,
        I32EnumCase<"States", 1, "1">,
        I32EnumCase<"Gradients", 2, "2">,
        I32EnumCase<"Parameters", 3, "3">
      ]>;

def Plan_BucketRule
    : Plan_Enum<"BucketRule", "framework whose gradient buckets are used", [
        I32EnumCase<"DDP", 0, "ddp">,
        I32EnumCase<"FSDP", 1, "fsdp">,
        I32EnumCase<"Megatron", 2, "megatron">,
        I32EnumCase<"DeepSpeed", 3, "deepspeed">
      ]>;

def Plan_GradientReduction
    : Plan_Enum<"GradientReduction",
                "when gradients are reduced over their replicas", [
        I32EnumCase<"Overlapped", 0, "overlapped">,
        I32EnumCase<"AfterBackward", 1, "after-backward">,
        I32EnumCase<"PerParameter", 2, "per-parameter">
      ]>;

#endif // PROTEUS_PLAN_PLANENUMS_TD
