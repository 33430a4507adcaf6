//===- NNRecommenderOps.td - embedding bags and interaction *- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNRECOMMENDEROPS_TD
#define PROTEUS_DIALECT_NN_NNRECOMMENDEROPS_TD

include "Proteus/Dialect/NN/NNBase.td"

def NN_EmbeddingBagOp : NN_ForwardOp<"embedding_bag",
    ["getFlopsPerPoint", "readsWholeOperand", "getReadsPerWrite", "getKernelFamily"]> {
  let summary = "sums of table rows, selected by bags of indices";
  let description = [{
    Sums table rows: each bag is a list of indices, and the result for a bag is
    the sum of the rows that it selects. For one table, the indices are `[batch,
    bag]`, the table is `[vocab, hidden]` and the result is `[batch, hidden]`.
    Several tables of equal size are stacked: the indices are `[batch, table,
    bag]`, the tables are `[table, vocab, hidden]` and the result is `[batch,
    table, hidden]`.

    Iterators: `batch`, `table` if tables are stacked, `bag` (opaque), `vocab`
    (sum) and `hidden`. If `vocab` is split, each device returns zero for rows
    that it does not hold. If only `table` is split, every device looks up its
    tables for the whole batch.

    With `row_updates`, the training step updates only the rows that the bags
    select. The rows are updated in place and by gradient descent
    (`nn.embedding_bag_update`), whatever the optimizer of the step is. Such a
    table has no gradient of the size of the table, no optimizer state and no
    master copy. The table keeps its element type even if the step computes in
    another type.

    **Constraints**: the indices have rank 2 and the table rank 2, or both rank 3.

    ```mlir
    %e = nn.embedding_bag "tables"(%ids, %tables) : (tensor<64x26x4xi32>, tensor<26x1000x16xf32>) -> tensor<64x26x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_IntTensor:$indices, NN_FloatTensor:$table,
                       UnitAttr:$row_updates);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_EmbeddingBagGradOp : NN_KernelOp<"embedding_bag_grad",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "gradient of nn.embedding_bag with respect to its tables";
  let description = [{
    Adds each row of the gradient to the table rows that its bag selects.
    Iterators as in `nn.embedding_bag`, except that `batch` is summed.

    **Constraints**: as for `nn.embedding_bag`.

    ```mlir
    %dt = nn.embedding_bag_grad "tables"(%dy, %ids) : (tensor<64x26x16xf32>, tensor<64x26x4xi32>) -> tensor<26x1000x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_IntTensor:$indices);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_EmbeddingBagUpdateOp : NN_KernelOp<"embedding_bag_update",
    ["getFlopsPerPoint", "getBytesPerPoint"]> {
  let summary = "gradient descent in the table rows that bags of indices select";
  let description = [{
    Updates a table like `nn.sgd` with the gradient of `nn.embedding_bag_grad`,
    but never stores that gradient, which is as large as the table. `gradient`
    is the gradient of the result of `nn.embedding_bag`. Each row of it, times
    `learning_rate`, is subtracted from the table rows that its bag selects. The
    kernel accesses no other rows. Iterators as in `nn.embedding_bag`, except
    that `batch` is opaque, because every device that holds a replica of a table
    needs the indices and gradients of the whole batch.

    **Constraints**: as for `nn.embedding_bag`; the result has the type of the table.

    ```mlir
    %new = nn.embedding_bag_update "tables.weight"(%tables, %dy, %ids) : (tensor<26x1000x16xf32>, tensor<64x26x16xf32>, tensor<64x26x4xi32>) -> tensor<26x1000x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$table, NN_FloatTensor:$gradient,
                       NN_IntTensor:$indices,
                       DefaultValuedAttr<F64Attr, "0.01">:$learning_rate);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_InteractionOp : NN_ForwardOp<"interaction",
    ["getFlopsPerPoint", "getExecutedFlopsPerPoint", "getKernelClass"]> {
  let summary = "dot products of all pairs of feature vectors";
  let description = [{
    Computes the dot products of all pairs of feature vectors. The operand is
    `[batch, features, dim]` and the result is `[batch, features · (features −
    1) / 2]`: the products of feature i with features 0 to i − 1, for i = 1, 2,
    ...
    The kernel computes the products of all ordered pairs, including those of a
    feature with itself. Iterators: `batch`, `pair` (opaque) and `dim` (sum).

    **Constraints**: the operand has rank 3 and at least two features.

    ```mlir
    %z = nn.interaction "interaction"(%x) : (tensor<64x27x16xf32>) -> tensor<64x351xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_InteractionGradOp : NN_KernelOp<"interaction_grad",
    ["getFlopsPerPoint", "getExecutedFlopsPerPoint", "getKernelClass"]> {
  let summary = "gradient of nn.interaction";
  let description = [{
    For a pair (a, b) with gradient g, adds g · b to the gradient of a, and g ·
    a to the gradient of b. Iterators as in `nn.interaction`, except that `dim`
    is parallel.

    **Constraints**: as for `nn.interaction`.

    ```mlir
    %dx = nn.interaction_grad "interaction"(%dz, %x) : (tensor<64x351xf32>, tensor<64x27x16xf32>) -> tensor<64x27x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // PROTEUS_DIALECT_NN_NNRECOMMENDEROPS_TD
