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

// Operations that run after the gradients are computed and before the updates.
// They compute the norm of all gradients together, detect overflows, and derive
// from norm and overflow the factor by which every update multiplies its
// gradient.

/// Base class of operations that compute a scalar from a gradient. Such an
/// operation reads the gradient in the layout in which the update reads it, and
/// has no influence on that layout.
class NN_ObserverOp<string mnemonic>
    : NN_KernelOp<mnemonic, ["getFlopsPerPoint", "isObserver"]> {
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
}

def NN_SquareSumOp : NN_ObserverOp<"square_sum"> {
  let summary = "sum of the squares of all elements";
  let description = [{
    Computes Σ x², one summand of the squared norm of all gradients. Iterators:
    `d0`, `d1`, .. (sum).

    ```mlir
    %s = nn.square_sum "fc.weight"(%g) : (tensor<4x4xf32>) -> tensor<f32>
    ```
  }];
}

def NN_OverflowOp : NN_ObserverOp<"overflow"> {
  let summary = "test for infinite and NaN elements";
  let description = [{
    Returns 1 if an element is infinite or NaN, else 0. Iterators: `d0`, `d1`,
    .. (max).

    ```mlir
    %o = nn.overflow "fc.weight"(%g) : (tensor<4x4xf32>) -> tensor<f32>
    ```
  }];
}

def NN_TotalOp : NN_KernelOp<"total", ["getFlopsPerPoint"]> {
  let summary = "sum or maximum of scalars";
  let description = [{
    Returns the sum of all elements of the operands, which are scalars or stacks
    of scalars. With `max`, returns the largest element instead; the elements
    must then be non-negative.

    The lowering first combines, on each device, the operands that are partial
    over the same axes. One small collective then reduces all of them.

    ```mlir
    %t = nn.total "clip"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins StrAttr:$path, Variadic<NN_FloatTensor>:$inputs, UnitAttr:$max);
  let results = (outs NN_FloatTensor:$result);
}

def NN_UpdateFactorOp : NN_KernelOp<"update_factor", ["getFlopsPerPoint"]> {
  let summary = "factor by which all updates multiply their gradients";
  let description = [{
    Operands: with `clip`, the sum of the squares of all gradients; with
    `loss_scale`, the overflow of all gradients, 0 or 1. The gradients are
    `loss_scale` times too large, so their true norm is √squares / loss_scale,
    and

    factor = min(1, clip / norm) / loss_scale.

    After an overflow the factor is 0, and an update with a factor of 0 uses a
    gradient of zero. Frameworks skip the update instead. Unlike a skipped
    update, an update with a gradient of zero lets the moments of the optimizer
    decay, and still changes the parameter if a moment is not zero.

    **Constraints**: `clip` or `loss_scale` is present; both are positive; there is
    one operand for each of them.

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
