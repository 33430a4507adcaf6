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
    **Input:** a small model with its strategy tree and a cluster, before
    match-strategy has run.

    Executes one copy of the model, with gradients and updates, on whole
    tensors. A second copy is lowered by `lower-strategy` and executed in the
    order of the schedule. Each rank then holds only its shard of every tensor,
    and collectives and messages move the data between ranks. Both copies get
    the same random inputs and parameters. Master copies start with the values
    of their parameters, and all other states of the optimizer start at zero.
    All arithmetic is in double precision.

    Compares the loss, every updated parameter and every updated state of both
    executions. If a tensor differs by more than `tolerance`, an error states
    its path, and the index and both values of the largest difference. If all
    tensors agree, a remark states the number of values compared.

    Both executions have the same gradients, so these are compared with
    derivatives of the model itself. The model without gradients is executed on
    dual numbers while all parameters move in a random direction. The
    derivative of the loss must be the sum of the products of the gradients
    with the direction. If it differs by more than `tolerance` of the terms, an
    error states the path of every parameter with a wrong gradient. The
    gradients are those before clipping, divided by the loss scale.

    **Output:** the unchanged module.

    ```
    remark: lowering is right: 1234 values of 5 tensors agree, largest relative difference 2.1e-16; its gradients agree with derivatives, relative difference 4.4e-17
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
    **Input:** a function in which every sliced operand of a repeat is a
    function argument. Such an argument is read only as a sliced operand. No
    operation reads a stacked result of a repeat.

    Replaces each `nn.repeat` by its iterations, and each stacked argument by
    one argument per iteration. The paths contain the index of the iteration.

    The simulation gives the same figures for the unrolled function as for the
    original one if both do the same work: every operation with the same
    layouts, and the same communication. A strategy tree that splits single
    operations can make them different programs, because a repeat has one
    partition for each operation of its body and one layout for each value that
    it carries or stacks, while each unrolled layer has its own.

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
