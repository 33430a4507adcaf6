//===- Passes.td - simulation of programs ------------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_SIMULATE_PASSES_TD
#define PROTEUS_TRANSFORMS_SIMULATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Simulate : Pass<"simulate", "::mlir::ModuleOp"> {
  let summary = "Predict throughput and memory, and annotate the module";
  let description = [{
    **Input:** a lowered module (`lower-strategy`) with a cluster, given by the
    attribute `proteus.cluster` or the option `cluster`.

    Writes out repeats, simulates equivalent ranks once, and executes the
    schedule in the discrete-event engine.

    If remarks of the category `proteus-simulate` are enabled, every operation
    of the programs gets a remark with its cost. `docs/views.md` explains the
    report, the trace and the remarks.

    With `fidelity=paper` the costs of kernels and collectives follow the rules
    of the reference. A device then has the two communication queues of the
    reference, and only reductions of gradients interfere with kernels.
    `docs/reference.md` lists the rules. A cluster that these rules do not cover
    is an error.

    **Output:** the module with the attributes `proteus.iteration_time_ms`,
    `proteus.samples_per_second`, `proteus.peak_memory_mb` (10⁶ bytes, worst
    device) and `proteus.fits`. `proteus.fits` is true if every device has
    enough memory for its allocator, the framework and the communication library
    together.

    ```mlir
    // Input:
    module attributes {proteus.cluster = "dgx-a100"} { dist.program ... dist.schedule ... }
    // Output:
    module attributes {proteus.cluster = "dgx-a100", proteus.fits = true, proteus.iteration_time_ms = 23.1 : f64, ...} { ... }
    ```
  }];
  let options = [
    Option<"cluster", "cluster", "std::string", "",
           "Preset or JSON file that replaces the attribute proteus.cluster">,
    Option<"stack", "stack", "std::string", "",
           "Name, JSON file or JSON text that replaces proteus.stack">,
    Option<"site", "site", "std::string", "",
           "Name, JSON file or JSON text that replaces proteus.site">,
    Option<"report", "report", "std::string", "", "File for a JSON report">,
    Option<"trace", "trace", "std::string", "",
           "File for a Chrome/Perfetto trace">,
    Option<"fold", "fold", "::proteus::Fold", "::proteus::Fold::All",
           "Work that is simulated only once; the result does not depend on it",
           [{::llvm::cl::values(
             clEnumValN(::proteus::Fold::None, ::proteus::plan::stringifyEnum(::proteus::Fold::None), "nothing"),
             clEnumValN(::proteus::Fold::Ranks, ::proteus::plan::stringifyEnum(::proteus::Fold::Ranks),
                        "ranks that do the same thing at the same time"),
             clEnumValN(::proteus::Fold::All, ::proteus::plan::stringifyEnum(::proteus::Fold::All),
                        "these ranks and the steady state of a pipeline"))}]>,
    Option<"fidelity", "fidelity", "::proteus::Fidelity", "::proteus::Fidelity::Flow",
           "Rules and costs of the simulation",
           [{::llvm::cl::values(
             clEnumValN(::proteus::Fidelity::Flow, ::proteus::plan::stringifyEnum(::proteus::Fidelity::Flow), "those of this project"),
             clEnumValN(::proteus::Fidelity::Paper, ::proteus::plan::stringifyEnum(::proteus::Fidelity::Paper),
                        "those of the published Proteus (docs/reference.md)"))}]>,
    Option<"share", "share", "::proteus::Switch", "::proteus::Switch::On",
           "Link sharing; off: every flow has its links to itself",
           [{::llvm::cl::values(
             clEnumValN(::proteus::Switch::On, ::proteus::plan::stringifyEnum(::proteus::Switch::On), "flows share the bandwidth of links"),
             clEnumValN(::proteus::Switch::Off, ::proteus::plan::stringifyEnum(::proteus::Switch::Off), "flows do not share links"))}]>,
    Option<"overlap", "overlap", "::proteus::Switch", "::proteus::Switch::On",
           "Interference of kernels and communication that overlap",
           [{::llvm::cl::values(
             clEnumValN(::proteus::Switch::On, ::proteus::plan::stringifyEnum(::proteus::Switch::On), "they slow each other"),
             clEnumValN(::proteus::Switch::Off, ::proteus::plan::stringifyEnum(::proteus::Switch::Off), "they do not slow each other"))}]>,
    Option<"overlapFactor", "overlap-factor", "double", "-1",
           "Kernels and communication that overlap take 1 + this factor times "
           "as long; default: the factor of the device">,
    Option<"kernels", "kernels", "::proteus::KernelModel",
           "::proteus::KernelModel::Fitted", "Source of the times of kernels",
           [{::llvm::cl::values(
             clEnumValN(::proteus::KernelModel::Fitted, ::proteus::plan::stringifyEnum(::proteus::KernelModel::Fitted),
                        "models fitted to measurements"),
             clEnumValN(::proteus::KernelModel::Roofline, ::proteus::plan::stringifyEnum(::proteus::KernelModel::Roofline),
                        "peak rates of the datasheet: lower bounds"))}]>,
    ListOption<"profiles", "profile", "std::string",
               "Files with measured kernels (docs/profiles.md)">,
    Option<"collectiveError", "collective-error", "double", "0.15",
           "Mean relative error of exposed communication, for the interval">,
    Option<"stackError", "stack-error", "double", "-1",
           "Mean relative error of effects that are not modelled, for the "
           "interval; default: the value of the stack">,
    Option<"memoryError", "memory-error", "double", "0.066",
           "Mean relative error of the memory that a device needs, for its "
           "interval">,
    Option<"cudaGraphs", "cuda-graphs", "bool", "false",
           "The host launches a step as one graph: no host time per kernel">,
    Option<"tf32", "tf32", "bool", "false",
           "Matrix units compute f32 products in TF32 if the device can">,
    Option<"channelMiB", "channel-mib", "double", "14",
           "Device memory in MiB that the communication library takes per channel of a connection">,
    Option<"channels", "channels", "int64_t", "24",
           "Channels of a communicator's rings">,
    Option<"exchangeChannels", "exchange-channels", "int64_t", "32",
           "Channels of an all-to-all to each peer in the node">,
    Option<"messageChannels", "message-channels", "int64_t", "2",
           "Channels of other messages to each peer">,
    Option<"bucketCopies", "bucket-copies", "bool", "false",
           "Gradients are copied into buckets, which take memory of their own">,
    Option<"criticalPath", "critical-path", "bool", "false",
           "Find the critical path; no part of the step is skipped">,
    Option<"onlyMemory", "only-memory", "bool", "false",
           "Follow the memory only; without report, trace, summary and critical "
           "path">,
    Option<"summary", "summary", "bool", "false",
           "Print a summary to standard output">
  ];
}

#endif // PROTEUS_TRANSFORMS_SIMULATE_PASSES_TD
