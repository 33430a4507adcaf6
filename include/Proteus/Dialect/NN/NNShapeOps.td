//===- NNShapeOps.td - sums, broadcasts, transposes --------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNSHAPEOPS_TD
#define PROTEUS_DIALECT_NN_NNSHAPEOPS_TD

include "Proteus/Dialect/NN/NNBase.td"

def NN_ReduceSumOp : NN_ForwardOp<"reduce_sum", ["getFlopsPerPoint", "isLinear"]> {
  let summary = "sum over all dimensions but those in `keep`";
  let description = [{
    Sums over every dimension of the operand that is not in `keep`. For example,
    the gradient of a bias is the sum of the gradient of the result over all
    dimensions but the last. Iterators: the dimensions of the operand; those in
    `keep` are parallel, the others are summed.

    **Constraints**: `keep` is increasing and within the rank; the result has the
    dimensions in `keep`.

    ```mlir
    %db = nn.reduce_sum "fc"(%dy) {keep = array<i64: 1>} : (tensor<8x256xf32>) -> tensor<256xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, DenseI64ArrayAttr:$keep);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_BroadcastOp : NN_ForwardOp<"broadcast", ["isLinear"]> {
  let summary = "repeat a tensor along new dimensions";
  let description = [{
    Repeats the operand along new dimensions. `keep` lists the dimensions of the
    result that the operand has. The operand is repeated along all other
    dimensions of the result. `nn.broadcast` and `nn.reduce_sum` are the
    gradients of each other. Iterators: the dimensions of the result, all
    parallel.

    **Constraints**: `keep` is increasing and within the rank of the result; the
    operand has the dimensions in `keep`.

    ```mlir
    %y = nn.broadcast "pool"(%x) {keep = array<i64: 0, 2>} : (tensor<8x16xf32>) -> tensor<8x4x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, DenseI64ArrayAttr:$keep);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_TransposeOp : NN_ForwardOp<"transpose", ["isLinear"]> {
  let summary = "permutation of the dimensions";
  let description = [{
    Copies the operand so that dimension i of the result is dimension
    `permutation[i]` of the operand. Iterators: the dimensions of the operand,
    with the names that they have in the operand.

    **Constraints**: `permutation` holds every dimension of the operand once.

    ```mlir
    %y = nn.transpose "heads"(%x) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x64x12x32xf32>) -> tensor<8x12x64x32xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs NN_Tensor:$result);
  let hasVerifier = 1;
}

def NN_ConcatOp : NN_ForwardOp<"concat"> {
  let summary = "concatenation along the last dimension";
  let description = [{
    Joins the operands along the last dimension. The operation is the inverse of
    `nn.split` and also its gradient. The kernel copies the operands. Iterators
    as in `nn.split`.

    **Constraints**: as for the `nn.split` that cuts the result into the
    operands.

    ```mlir
    %x = nn.concat "qkv_split"(%q, %k, %v) {groups = 12 : i64} : (tensor<8x4x24xf32>, tensor<8x4x24xf32>, tensor<8x4x24xf32>) -> tensor<8x4x72xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, Variadic<NN_Tensor>:$inputs,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs NN_Tensor:$result);
  let hasVerifier = 1;
}

#endif // PROTEUS_DIALECT_NN_NNSHAPEOPS_TD
