//===- NNGenericOp.td - operation with a given cost --------*- tablegen -*-===//
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
  let summary = "operation defined by its iteration space and its cost";
  let description = [{
    Describes a kernel that no other operation of the dialect expresses. The
    attributes define the iterators, the iterators that index each dimension,
    and the cost of a point. Partitions, local shapes, partial results, time and
    memory are derived from them as for every other operation. The values of the
    results are not defined, so `--check-lowering`, which executes the model,
    rejects the operation.

    - `iterators`, `sizes`, `kinds`: name, size and kind of each iterator. A kind is
      `parallel`, `sum`, `max` or `opaque`.
    - `indexing`: for each operand, then for each result, one string per
      dimension. Each string names the iterators that index the dimension, major
      first, separated by spaces. A dimension with an empty string is indexed by
      no iterator and is never split.
    - `flops`: the number of floating-point operations per point.
    - `bytes`: the bytes of memory traffic per point. Without `bytes`, operands
      are read once and results are written once.
    - `matrix`: set if the kernel runs on the matrix units.
    - `gradient_flops`: the number of floating-point operations per point of the
      gradient of one operand. Without `gradient_flops`, the operation has no
      gradient. The gradient of an operand is again an `nn.generic` over the
      same space. Opaque iterators stay opaque. Other iterators are parallel if
      they index that operand, and sums if not.
    - `multilinear`: set if the results are linear in each operand. The gradient
      of an operand reads the gradients of the results and all operands. With
      `multilinear`, it does not read the operand of which it is the gradient.

    **Constraints**: `iterators`, `sizes` and `kinds` have the same length;
    names differ and consist of letters, digits and underscores; sizes are
    positive; kinds are those listed above; `indexing` has an entry for each
    operand and result, which matches its shape; every name in it is an
    iterator; a parallel iterator indexes every result; costs are not negative.

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
