//===- Passes.td - programs to the engine ------------------*- tablegen -*-===//
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
    Precondition: the module is lowered (`lower-strategy`) and names a cluster.
    Repeats are written out, ranks that do the same thing are simulated once, and
    the discrete-event engine executes the schedule. The module gets the
    attributes `proteus.iteration_time_ms`, `proteus.samples_per_second`,
    `proteus.peak_memory_mb` (10⁶ bytes, worst device) and `proteus.fits`: whether
    what the allocator reserves, the framework and the communication library fit
    on every device.

    If remarks of the category `proteus-simulate` are enabled, every operation of
    the programs gets one that tells what it costs. `docs/views.md` explains the
    report, the trace and the remarks.

    With `fidelity=paper` kernels and collectives cost what the published rules of
    the original say, communication has its two queues, and only gradients and
    kernels slow each other; docs/reference.md lists the rules. Clusters that these
    rules do not know are an error.

    ```mlir
    module attributes {proteus.cluster = "dgx-a100"} { dist.program ... dist.schedule ... }
    // becomes
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
    Option<"report", "report", "std::string", "", "Write a JSON report here">,
    Option<"trace", "trace", "std::string", "",
           "Write a Chrome/Perfetto trace here">,
    Option<"fold", "fold", "::proteus::Fold", "::proteus::Fold::All",
           "What is simulated once; the result is the same",
           [{::llvm::cl::values(
             clEnumValN(::proteus::Fold::None, "none", "nothing"),
             clEnumValN(::proteus::Fold::Ranks, "ranks",
                        "ranks that do the same thing at the same time"),
             clEnumValN(::proteus::Fold::All, "all",
                        "and the steady state of a pipeline"))}]>,
    Option<"fidelity", "fidelity", "::proteus::Fidelity", "::proteus::Fidelity::Flow",
           "Whose rules and costs",
           [{::llvm::cl::values(
             clEnumValN(::proteus::Fidelity::Flow, "flow", "ours"),
             clEnumValN(::proteus::Fidelity::Paper, "paper",
                        "those of the original Proteus (docs/reference.md)"))}]>,
    Option<"share", "share", "::proteus::Switch", "::proteus::Switch::On",
           "Whether flows share links; off: each has them for itself",
           [{::llvm::cl::values(
             clEnumValN(::proteus::Switch::On, "on", "they do"),
             clEnumValN(::proteus::Switch::Off, "off", "they do not"))}]>,
    Option<"overlap", "overlap", "::proteus::Switch", "::proteus::Switch::On",
           "Whether kernels and communication beside each other slow down",
           [{::llvm::cl::values(
             clEnumValN(::proteus::Switch::On, "on", "they do"),
             clEnumValN(::proteus::Switch::Off, "off", "they do not"))}]>,
    Option<"overlapFactor", "overlap-factor", "double", "-1",
           "Kernels and communication beside each other take 1 + this many times "
           "as long; default: what the device says">,
    Option<"kernels", "kernels", "::proteus::KernelModel",
           "::proteus::KernelModel::Fitted", "Where the times of kernels come from",
           [{::llvm::cl::values(
             clEnumValN(::proteus::KernelModel::Fitted, "fitted",
                        "models fitted to measurements"),
             clEnumValN(::proteus::KernelModel::Roofline, "roofline",
                        "peak rates of the datasheet: lower bounds"))}]>,
    ListOption<"profiles", "profile", "std::string",
               "Files with measured kernels (docs/profiles.md)">,
    Option<"collectiveError", "collective-error", "double", "0.15",
           "Mean relative error of exposed communication, for the interval">,
    Option<"stackError", "stack-error", "double", "-1",
           "Mean relative error of what is not modelled, for the interval; "
           "default: what the stack says">,
    Option<"cudaGraphs", "cuda-graphs", "bool", "false",
           "The host launches a step as one graph: no time per kernel">,
    Option<"tf32", "tf32", "bool", "false",
           "Matrix units take f32 in TF32, where devices have it">,
    Option<"channelMiB", "channel-mib", "double", "14",
           "Device memory that the communication library takes per channel of a connection">,
    Option<"channels", "channels", "int64_t", "24",
           "Channels of a communicator's rings">,
    Option<"exchangeChannels", "exchange-channels", "int64_t", "32",
           "Channels of an all-to-all to each peer in the node">,
    Option<"messageChannels", "message-channels", "int64_t", "2",
           "Channels to each peer of other messages">,
    Option<"bucketCopies", "bucket-copies", "bool", "false",
           "Gradients are copied into buckets that live beside them">,
    Option<"criticalPath", "critical-path", "bool", "false",
           "Find out what the step waited for; nothing of it is skipped then">,
    Option<"summary", "summary", "bool", "false",
           "Print a summary to standard output">
  ];
}

#endif // PROTEUS_TRANSFORMS_SIMULATE_PASSES_TD
