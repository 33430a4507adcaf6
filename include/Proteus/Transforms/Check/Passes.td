//===- Passes.td - proofs of the lowering ------------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_CHECK_PASSES_TD
#define PROTEUS_TRANSFORMS_CHECK_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckLowering : Pass<"check-lowering", "::mlir::ModuleOp"> {
  let summary = "Execute a model before and after its lowering and compare";
  let description = [{
    Precondition: a small model with its strategy tree and a cluster, neither
    matched nor lowered. A copy of the model with gradients and updates is
    executed on whole tensors; another one goes through `lower-strategy` and is
    executed on one block per rank, with collectives and messages that move real
    data in the order of the schedule. Both get the same random inputs and
    parameters; states of the optimizer are zero, master copies those of their
    parameter. Everything is computed in double precision.

    Compared are the loss, every updated parameter and every updated state, by
    path. A difference is an error that names the path, the index and both
    values; otherwise a remark tells how much was compared. The module is left
    as it is.

    ```
    remark: lowering of @mlp is right: 1234 values of 5 tensors agree, largest relative difference 2.1e-16
    ```
  }];
  let options = [
    Option<"strategy", "strategy", "std::string", "",
           "The tree to use, where there are several (@name)">,
    Option<"cluster", "cluster", "std::string", "",
           "Preset or JSON file that replaces the attribute proteus.cluster">,
    Option<"seed", "seed", "uint64_t", "0",
           "Start of the random inputs and parameters">,
    Option<"tolerance", "tolerance", "double", "1e-9",
           "Largest difference, relative to the largest value of the tensor">
  ];
  let dependentDialects = ["::proteus::dist::DistDialect",
                           "::proteus::nn::NNDialect"];
}

def UnrollRepeats : Pass<"unroll-repeats", "::mlir::func::FuncOp"> {
  let summary = "Write out every iteration of repeated layers";
  let description = [{
    Replaces each `nn.repeat` by its iterations, stacked arguments by one argument
    per iteration, with the indices in the paths. The flat form simulates
    exactly like the repeated one as long as all layers can be split alike. It
    differs where the body of a repeat that can't be cut leaves a carried value in
    another layout than it found it (see `settle-repeats`), where a body captures
    a parameter that is stored in parts (the repeated form gathers it for each
    layer) or a value that goes to the host, where several repeats on a stage
    capture one value (each sums its gradient by itself), where the update
    changes the layout of parameters in other ways than by gathering them (the
    repeated form does so for all layers at once) and in repeats inside repeats
    (whose layers share a bucket).

    ```mlir
    nn.repeat "layers" count 2 carry(%h = %x : ...) slice(%w = %ws : ...) { %y = nn.linear "fc"(%h, %w) ... }
    // becomes
    %0 = nn.linear "layers[0].fc"(%x, %w0) ...
    %1 = nn.linear "layers[1].fc"(%0, %w1) ...
    ```
  }];
}

#endif // PROTEUS_TRANSFORMS_CHECK_PASSES_TD
