//===- NNSequenceOps.td - position-dependent operations ----*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNSEQUENCEOPS_TD
#define PROTEUS_DIALECT_NN_NNSEQUENCEOPS_TD

include "Proteus/Dialect/NN/NNBase.td"

def NN_RopeOp : NN_ForwardOp<"rope",
    ["getFlopsPerPoint", "isLinear", "getKernelFamily"]> {
  let summary = "rotary position embedding";
  let description = [{
    Rotates pairs of elements. In every head, the elements i and i + dim/2 are
    rotated by the angle position · base^(−2i/dim). The position is the index in
    the whole sequence, even if the sequence is split. With `inverse`, the angle
    is negative; the inverse rotation is the gradient. The operation is linear,
    so partial sums pass through it without a reduction. Iterators: `batch`,
    `seq`, `head` (parallel) and `dim` (opaque).

    **Constraints**: the operand is `[batch, seq, heads · dim]`; `heads` divides the
    last dimension into heads of an even size; `base` is positive.

    ```mlir
    %y = nn.rope "attention.rope_q"(%q) {heads = 12 : i64} : (tensor<8x1024x768xbf16>) -> tensor<8x1024x768xbf16>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, I64Attr:$heads,
                       DefaultValuedAttr<F64Attr, "10000.0">:$base,
                       UnitAttr:$inverse);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_CausalMaskOp : NN_ForwardOp<"causal_mask", ["isLinear"]> {
  let summary = "mask of the keys after each query";
  let description = [{
    Masks scores `[.., seq, key]`. If the key follows the query, the score
    becomes −∞, so that a softmax gives the key no weight. With `zero`, the
    score becomes 0 instead; this is the gradient of the mask. Positions are
    those in the whole tensor, even if the tensor is split. Iterators: the
    leading dimensions, `seq` and `key`, all parallel.

    **Constraints**: the operand has at least two dimensions.

    ```mlir
    %y = nn.causal_mask "attention.mask"(%scores) : (tensor<8x12x64x64xf32>) -> tensor<8x12x64x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, UnitAttr:$zero);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // PROTEUS_DIALECT_NN_NNSEQUENCEOPS_TD
