//===- NNGradientScalingOps.td - gradient norm and loss scale -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNGRADIENTSCALINGOPS_TD
#define PROTEUS_DIALECT_NN_NNGRADIENTSCALINGOPS_TD

include "Proteus/Dialect/NN/NNBase.td"

// What happens between the gradients and the updates: numbers about all gradients
// together, from which the factor follows that all updates apply.

/// A number about a gradient. It looks at the gradient as the update has it.
class NN_ObserverOp<string mnemonic>
    : NN_KernelOp<mnemonic, ["getFlopsPerPoint", "isObserver"]> {
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
}

def NN_SquareSumOp : NN_ObserverOp<"square_sum"> {
  let summary = "sum of the squares of all elements";
  let description = [{
    One term of the squared norm of all gradients. Iterators: `d0`, `d1`, .. (sum).

    ```mlir
    %s = nn.square_sum "fc.weight"(%g) : (tensor<4x4xf32>) -> tensor<f32>
    ```
  }];
}

def NN_OverflowOp : NN_ObserverOp<"overflow"> {
  let summary = "whether an element is infinite or not a number";
  let description = [{
    1 if there is such an element, else 0. Iterators: `d0`, `d1`, .. (max).

    ```mlir
    %o = nn.overflow "fc.weight"(%g) : (tensor<4x4xf32>) -> tensor<f32>
    ```
  }];
}

def NN_TotalOp : NN_KernelOp<"total", ["getFlopsPerPoint"]> {
  let summary = "sum or maximum of a few numbers";
  let description = [{
    The sum of all elements of the operands, scalars or stacks of them; with `max`,
    the largest, of numbers that are not negative. Where some operands are pending
    reductions over devices, those over the same axes are put together first, so
    that there is one small collective for all of them.

    ```mlir
    %t = nn.total "clip"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins StrAttr:$path, Variadic<NN_FloatTensor>:$inputs, UnitAttr:$max);
  let results = (outs NN_FloatTensor:$result);
}

def NN_UpdateFactorOp : NN_KernelOp<"update_factor", ["getFlopsPerPoint"]> {
  let summary = "the factor that all updates apply to their gradients";
  let description = [{
    Operands, in this order what exists of: the sum of the squares of all gradients
    (with `clip`), whether one of them overflowed (with `loss_scale`). Gradients are
    `loss_scale` times too large, so their norm is √squares / loss_scale, and

    factor = min(1, clip / norm) / loss_scale,

    0 after an overflow. Updates take a factor of 0 as a gradient of zero; frameworks
    leave the update out, which differs in the decay of moments.

    **Constraints**: `clip` or `loss_scale` is there, and positive; one operand per
    attribute.

    ```mlir
    %f = nn.update_factor "clip"(%squares) {clip = 1.0 : f64} : (tensor<f32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins StrAttr:$path, Variadic<NN_FloatTensor>:$inputs,
                       OptionalAttr<F64Attr>:$clip, OptionalAttr<F64Attr>:$loss_scale);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // PROTEUS_DIALECT_NN_NNGRADIENTSCALINGOPS_TD
