//===- Passes.td - checks of the lowering by execution -----*- tablegen -*-===//
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
    **Input:** a small model with its strategy tree and a cluster. The model has
    not been matched with the tree.

    Executes one copy of the model, with gradients and updates, on whole
    tensors. A second copy goes through `lower-strategy` and is executed on one
    shard per rank: collectives and messages move real data in the order of the
    schedule. Both copies get the same random inputs and parameters. Master
    copies start with the values of their parameters, and all other states of
    the optimizer start at zero. All arithmetic is in double precision.

    Compares the loss, every updated parameter and every updated state of both
    executions. A difference is an error with the path, the index and both
    values. Without a difference, a remark states the number of values compared.

    **Output:** the unchanged module.

    ```
    remark: lowering is right: 1234 values of 5 tensors agree, largest relative difference 2.1e-16
    ```
  }];
  let options = [
    Option<"strategy", "strategy", "std::string", "",
           "The tree to use if there are several (@name)">,
    Option<"cluster", "cluster", "std::string", "",
           "Preset or JSON file that replaces the attribute proteus.cluster">,
    Option<"seed", "seed", "uint64_t", "0",
           "Seed of the random inputs and parameters">,
    Option<"tolerance", "tolerance", "double", "1e-9",
           "Largest difference, relative to the largest value of the tensor">
  ];
  let dependentDialects = ["::proteus::dist::DistDialect",
                           "::proteus::nn::NNDialect"];
}

def UnrollRepeats : Pass<"unroll-repeats", "::mlir::func::FuncOp"> {
  let summary = "Write out every iteration of repeated layers";
  let description = [{
    **Input:** a function in which repeats slice only function arguments that
    nothing else reads. Stacked results of repeats are not read.

    Replaces each `nn.repeat` by its iterations, and each stacked argument by
    one argument per iteration. The paths contain the index of the iteration.

    The simulation of the unrolled function gives the same figures as that of
    the original, if all layers can be split alike. The figures differ in these
    cases:

    - the body of a repeat that cannot be cut leaves a carried value in another
      layout than it had at the start of the iteration (see `settle-repeats`);
    - a body reads, from outside, a parameter that is stored in shards: the
      original function gathers it for each layer;
    - a body reads, from outside, a value that is offloaded to the host;
    - several repeats on a stage read the same value from outside: each repeat
      of the original function sums the gradient of the value by itself;
    - the update changes the layout of parameters in another way than by a
      gather: the original function does this for all layers at once;
    - repeats are nested: in the original function, the inner layers share a
      bucket.

    **Output:** the function without repeats.

    ```mlir
    // Input:
    nn.repeat "layers" count 2 carry(%h = %x : ...) slice(%w = %ws : ...) { %y = nn.linear "fc"(%h, %w) ... }
    // Output:
    %0 = nn.linear "layers[0].fc"(%x, %w0) ...
    %1 = nn.linear "layers[1].fc"(%0, %w1) ...
    ```
  }];
}

#endif // PROTEUS_TRANSFORMS_CHECK_PASSES_TD
