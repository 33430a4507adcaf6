//===- PlanEnums.td - choices of a parallel plan -----------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the enumerations of plans, jobs, stacks and simulations. Flags, JSON
// files, pass options and attributes of the IR write the values with the same
// words. The generated C++ declarations include no MLIR header.
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

def Plan_ZeroShards
    : Plan_Enum<"ZeroShards", "parts into which ZeRO cuts a tensor", [
        I32EnumCase<"Elements", 0, "elements">,
        I32EnumCase<"Rows", 1, "rows">,
        I32EnumCase<"Dimensions", 2, "dimensions">
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

//===----------------------------------------------------------------------===//
// Types of a job
//===----------------------------------------------------------------------===//

def Plan_Precision : Plan_Enum<"Precision", "types of a training job", [
      I32EnumCase<"BF16", 0, "bf16">,
      I32EnumCase<"FP16", 1, "fp16">,
      I32EnumCase<"FP32", 2, "fp32">,
      I32EnumCase<"TF32", 3, "tf32">,
      I32EnumCase<"FP8", 4, "fp8">
    ]>;

def Plan_Optimizer : Plan_Enum<"Optimizer", "rule that updates parameters", [
      I32EnumCase<"Adam", 0, "adam">,
      I32EnumCase<"SGD", 1, "sgd">,
      I32EnumCase<"Momentum", 2, "momentum">
    ]>;

//===----------------------------------------------------------------------===//
// Decisions of a stack about the model
//===----------------------------------------------------------------------===//

def Plan_KernelForm
    : Plan_Enum<"KernelForm", "kernels of a composed operation", [
        I32EnumCase<"Fused", 0, "fused">,
        I32EnumCase<"Unfused", 1, "unfused">
      ]>;

def Plan_LogitsType : Plan_Enum<"LogitsType", "type of logits in the loss", [
      I32EnumCase<"Compute", 0, "compute">,
      I32EnumCase<"F32", 1, "f32">
    ]>;

def Plan_GradientType : Plan_Enum<"GradientType", "type of gradients", [
      I32EnumCase<"F32", 0, "f32">,
      I32EnumCase<"Compute", 1, "compute">
    ]>;

def Plan_ReportedMemory
    : Plan_Enum<"ReportedMemory", "memory that the users of a stack report", [
        I32EnumCase<"Allocated", 0, "allocated">,
        I32EnumCase<"Reserved", 1, "reserved">,
        I32EnumCase<"Device", 2, "device">
      ]>;

// If the channels of a pixel are adjacent in memory ("channels last"), batch
// normalisation reads its operands once and keeps them on the chip. Otherwise
// it reads its operands twice. `half_channels_last` selects channels last for
// 16-bit types and channels first for all other types.
def Plan_ImageLayout
    : Plan_Enum<"ImageLayout", "position of the channels of images", [
        I32EnumCase<"ChannelsLast", 0, "channels_last">,
        I32EnumCase<"ChannelsFirst", 1, "channels_first">,
        I32EnumCase<"HalfChannelsLast", 2, "half_channels_last">
      ]>;

// Neighbours are two operations of one module. The second operation reads the
// result of the first. If both run as one kernel, the tensor between them is
// not read from memory, and is written only if it has another reader.
// `elementwise` fuses elementwise operations. For 16-bit images with channels
// last, `norms` also fuses batch normalisation with the elementwise operations
// after it, and the gradient of batch normalisation with those before it.
def Plan_FusedNeighbours
    : Plan_Enum<"FusedNeighbours", "neighbours that run as one kernel", [
        I32EnumCase<"None", 0, "none">,
        I32EnumCase<"Elementwise", 1, "elementwise">,
        I32EnumCase<"Norms", 2, "norms">
      ]>;

//===----------------------------------------------------------------------===//
// Options of a simulation
//===----------------------------------------------------------------------===//

// `flow`: fitted kernel models and flows over links. `paper`: the rules of the
// published Proteus of Duan et al. (docs/reference.md).
def Plan_Fidelity : Plan_Enum<"Fidelity", "simulation model", [
      I32EnumCase<"Flow", 0, "flow">,
      I32EnumCase<"Paper", 1, "paper">
    ]>;

// `ranks`: of several ranks that provably do the same work at the same time,
// only one is simulated. `all`: in addition, if the state of a pipeline recurs
// exactly, the repeated period is simulated only once.
def Plan_Fold : Plan_Enum<"Fold", "equal work that is simulated once", [
      I32EnumCase<"None", 0, "none">,
      I32EnumCase<"Ranks", 1, "ranks">,
      I32EnumCase<"All", 2, "all">
    ]>;

// `fitted`: models with the kernel parameters of the device file, which are
// fitted to measurements of the device, or are means of other devices. If the
// file has no kernel parameters, `roofline` is used instead. `roofline`: times at
// the peak rates of the datasheet, which are lower bounds.
def Plan_KernelModel : Plan_Enum<"KernelModel", "source of kernel times", [
      I32EnumCase<"Fitted", 0, "fitted">,
      I32EnumCase<"Roofline", 1, "roofline">
    ]>;

def Plan_Switch : Plan_Enum<"Switch", "selection of a part of the model", [
      I32EnumCase<"Off", 0, "off">,
      I32EnumCase<"On", 1, "on">
    ]>;

#endif // PROTEUS_PLAN_PLANENUMS_TD
