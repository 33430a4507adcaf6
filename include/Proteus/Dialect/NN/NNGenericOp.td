//===- NNGenericOp.td - an operation that states its cost --*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNGENERICOP_TD
#define PROTEUS_DIALECT_NN_NNGENERICOP_TD

include "Proteus/Dialect/NN/NNBase.td"

def NN_GenericOp : NN_ForwardOp<"generic",
    ["getFlopsPerPoint", "getKernelClass", "getBytesPerPoint"]> {
  let summary = "an operation known by its iteration space and cost alone";
  let description = [{
    For what no other operation expresses. It says over which iterators it runs,
    which of them index which dimension, and what a point costs; partitions, local
    shapes, partial results, time and memory follow as for every other operation. It
    has no values: `--check-lowering` refuses it.

    - `iterators`, `sizes`, `kinds`: names, sizes, and for each `parallel`, `sum`,
      `max` or `opaque`.
    - `indexing`: for each operand, then each result, one string per dimension with
      the names of the iterators that index it, major first, separated by spaces.
      An empty string is a dimension indexed by nothing: it is never split.
    - `flops`: floating-point operations per point.
    - `bytes`: bytes of memory traffic per point; without it operands are read once
      and results written once.
    - `matrix`: it runs on the matrix units.
    - `gradient_flops`: floating-point operations per point that the gradient of one
      operand needs; without it the operation has no gradient. The gradient of an
      operand is again `nn.generic`, over the same space: iterators that do not index
      the operand become sums, those that do are parallel, opaque ones stay opaque.
      It reads the gradients of the results and the operands; with `multilinear`,
      the other operands only.

    **Constraints**: the three lists have the same length; names are words and differ;
    sizes are positive; kinds are known; `indexing` has an entry per operand and
    result, which names iterators and fits the shape; a parallel iterator indexes every
    result; costs are not negative.

    ```mlir
    %y = nn.generic "ssm.scan"(%x, %a) {iterators = ["batch", "seq", "hidden", "state"],
        sizes = array<i64: 8, 16, 64, 4>, kinds = ["parallel", "opaque", "parallel", "sum"],
        indexing = [["batch", "seq", "hidden"], ["hidden", "state"], ["batch", "seq", "hidden"]],
        flops = 6.0 : f64, gradient_flops = 6.0 : f64}
        : (tensor<8x16x64xf32>, tensor<64x4xf32>) -> tensor<8x16x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, Variadic<NN_Tensor>:$inputs,
                       StrArrayAttr:$iterators, DenseI64ArrayAttr:$sizes,
                       StrArrayAttr:$kinds, TypedArrayAttrBase<StrArrayAttr,
                         "array of string arrays">:$indexing,
                       F64Attr:$flops, OptionalAttr<F64Attr>:$bytes,
                       UnitAttr:$matrix, OptionalAttr<F64Attr>:$gradient_flops,
                       UnitAttr:$multilinear);
  let results = (outs Variadic<NN_FloatTensor>:$results);
  let hasVerifier = 1;
}

#endif // PROTEUS_DIALECT_NN_NNGENERICOP_TD
