//===- Passes.td - gradients and updates -------------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_TRAININGSTEP_PASSES_TD
#define PROTEUS_TRANSFORMS_TRAININGSTEP_PASSES_TD

include "mlir/Pass/PassBase.td"

def BuildTrainingStep : Pass<"build-training-step", "::mlir::func::FuncOp"> {
  let summary = "Add gradients and parameter updates to a forward graph";
  let description = [{
    **Input:** a function with the attribute `nn.training`. All its arguments
    have a role, and it returns one scalar, the loss. A function without
    `nn.training` is a forward-only program and is left unchanged.

    Adds the backward pass and one update per parameter.

    - Optimizer states become arguments.
    - Every operation is annotated with its phase: forward, backward or update.
    - For every repeat, a backward repeat is added that runs in the opposite
      direction. The forward repeat stacks the values that the backward repeat
      reads slice by slice.
    - Operations of a recompute group are repeated in an `nn.recompute` before
      their gradients.
    - With `clip` or `loss_scale`, all updates multiply their gradients by one
      factor. The factor depends on one number per gradient, such as the sum of
      its squares. These numbers are combined first per stage, then from stage
      to stage.

    **Output:** the function returns the loss, the new parameters and the new
    states. The attribute `nn.updates` of a result holds the number of the
    argument that the result replaces.

    ```mlir
    // Input:
    %y = nn.linear "fc"(%x, %w) : ...
    // Output:
    %y = nn.linear "fc"(%x, %w) : ...
    %dw = nn.linear_wgrad "fc"(%dy, %x) : ...
    %new = nn.sgd "fc.weight"(%w, %dw) : ...
    ```
  }];
  let dependentDialects = ["::proteus::nn::NNDialect",
                           "::proteus::strategy::StrategyDialect"];
}

#endif // PROTEUS_TRANSFORMS_TRAININGSTEP_PASSES_TD
