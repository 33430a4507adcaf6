//===- NNShapeOps.td - sums, copies and their inverse ------*- tablegen -*-===//
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
  let summary = "sum over all dimensions but some";
  let description = [{
    Sums over every dimension of the operand that is not in `keep`: also the
    gradient of a bias or of a repeated operand. Iterators: the dimensions of the
    operand; those that go are summed.

    **Constraints**: `keep` is increasing and within the rank; the result has the
    kept dimensions.

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
    The gradient of `nn.reduce_sum`, and the other way round: `keep` lists the
    dimensions of the result that the operand has; along the others it is repeated.
    Iterators: the dimensions of the result, all parallel.

    **Constraints**: `keep` is increasing and within the rank of the result; the
    operand has the kept dimensions.

    ```mlir
    %y = nn.broadcast "pool"(%x) {keep = array<i64: 0, 2>} : (tensor<8x16xf32>) -> tensor<8x4x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, DenseI64ArrayAttr:$keep);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_TransposeOp : NN_ForwardOp<"transpose", ["isLinear"]> {
  let summary = "dimensions in another order";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand. A copy.
    Iterators: the dimensions of the operand, named as there.

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
  let summary = "join pieces along the last dimension";
  let description = [{
    The inverse of `nn.split`, and its gradient. A copy. Iterators as there.

    **Constraints**: as for `nn.split` with operands and result exchanged.

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
