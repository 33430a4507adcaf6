//===- NNSoftmaxOps.td - softmax and its decomposition -----*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNSOFTMAXOPS_TD
#define PROTEUS_DIALECT_NN_NNSOFTMAXOPS_TD

include "Proteus/Dialect/NN/NNBase.td"

def NN_SoftmaxOp : NN_ForwardOp<"softmax",
    ["getFlopsPerPoint", "getKernelFamily"],
    [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "softmax over the last dimension";
  let description = [{
    Computes exp(x − max) / Σ exp(x − max) for each row. The gradient reads the
    result. Iterators: the leading dimensions (parallel), and `vocab`
    (log-sum-exp), which is the name of the last dimension in every softmax. If
    `vocab` is split, the maximum and the sum of each row are reduced over
    devices.

    **Constraints**: the operand has at least one dimension.

    ```mlir
    %p = nn.softmax "attention.softmax"(%scores) : (tensor<8x12x64x64xf32>) -> tensor<8x12x64x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_SoftmaxGradOp : NN_KernelOp<"softmax_grad",
    ["getFlopsPerPoint", "getKernelFamily"],
    [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "gradient of nn.softmax";
  let description = [{
    Computes dx = y (dy − Σ dy y) for each row. Iterators as in `nn.softmax`.

    ```mlir
    %dx = nn.softmax_grad "attention.softmax"(%dy, %y) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$output);
  let results = (outs NN_FloatTensor:$result);
}

//===----------------------------------------------------------------------===//
// Operations of a decomposed softmax
//===----------------------------------------------------------------------===//

def NN_SoftmaxSumOp : NN_KernelOp<"softmax_sum",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "sum of exponentials per row";
  let description = [{
    Computes Σ exp(x − max) for each row. Iterators: the leading dimensions and
    `vocab` (sum).

    ```mlir
    %s = nn.softmax_sum "softmax"(%x, %max) : (tensor<8x10xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_FloatTensor:$max);
  let results = (outs NN_FloatTensor:$result);
}

def NN_SoftmaxNormalizeOp : NN_KernelOp<"softmax_normalize",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "softmax from the maximum and the sum of each row";
  let description = [{
    Computes exp(x − max) / sum for each element, with the maximum and the sum
    of its row. Iterators: the leading dimensions and `vocab`, all parallel.

    ```mlir
    %y = nn.softmax_normalize "softmax"(%x, %max, %sum) : (tensor<8x10xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_FloatTensor:$max,
                       NN_FloatTensor:$sum);
  let results = (outs NN_FloatTensor:$result);
}

def NN_SoftmaxDotOp : NN_KernelOp<"softmax_dot",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "dot product of the gradient and the softmax per row";
  let description = [{
    Computes Σ dy y for each row. Iterators: the leading dimensions and `vocab`
    (sum).

    ```mlir
    %d = nn.softmax_dot "softmax"(%dy, %y) : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$output);
  let results = (outs NN_FloatTensor:$result);
}

def NN_SoftmaxInputGradOp : NN_KernelOp<"softmax_input_grad",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "gradient of nn.softmax from the dot product of each row";
  let description = [{
    Computes dx = y (dy − dot) for each element, with the dot product Σ dy y of
    its row. Iterators: the leading dimensions and `vocab`, all parallel.

    ```mlir
    %dx = nn.softmax_input_grad "softmax"(%dy, %y, %dot) : (tensor<8x10xf32>, tensor<8x10xf32>, tensor<8xf32>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$output,
                       NN_FloatTensor:$dot);
  let results = (outs NN_FloatTensor:$result);
}

#endif // PROTEUS_DIALECT_NN_NNSOFTMAXOPS_TD
