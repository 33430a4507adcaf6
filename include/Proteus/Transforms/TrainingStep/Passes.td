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
    Precondition: a function with the attribute `nn.training` that returns one
    scalar loss, every argument with a role. Postcondition: the function returns
    (loss, new parameters, new states); results say which argument they replace
    (`nn.updates`). Optimizer states become arguments. Operations are marked as
    forward, backward or update. A repeat gets a backward repeat that runs in
    reverse and reads forward values as slices of stacks. Operations in a
    recompute group are repeated in an `nn.recompute` in front of their gradients.
    With `clip` or `loss_scale`, numbers about all gradients are put together, per
    stage and from stage to stage, into one factor that all updates apply.
    A function without `nn.training` is left as it is: a forward-only program.

    ```mlir
    %y = nn.linear "fc"(%x, %w) : ...
    // adds
    %dw = nn.linear_wgrad "fc"(%dy, %x) : ...
    %new = nn.sgd "fc.weight"(%w, %dw) : ...
    ```
  }];
  let dependentDialects = ["::proteus::nn::NNDialect"];
}

#endif // PROTEUS_TRANSFORMS_TRAININGSTEP_PASSES_TD
