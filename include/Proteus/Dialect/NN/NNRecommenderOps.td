//===- NNRecommenderOps.td - tables and feature interaction *- tablegen -*-===//
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
  let summary = "sums of rows of a table, selected by bags of indices";
  let description = [{
    One table: indices `[batch, bag]`, table `[vocab, hidden]`, result `[batch,
    hidden]`. Tables of one size, stacked: indices `[batch, table, bag]`, tables
    `[table, vocab, hidden]`, result `[batch, table, hidden]`.
    Iterators: `batch`, `table` if there is one, `bag` (opaque), `vocab` (sum: a
    device that does not hold a row contributes zero) and `hidden`. With `table`
    split every device looks up whole tables for the whole batch.

    With `row_updates` the training step changes the rows that the bags name and no
    others, by plain descent and in place (`nn.embedding_bag_update`), whatever the
    optimizer of the step is: such a table has no gradient of its own size, no state
    and no second copy, and keeps its element type in a step that computes in another.

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
    Adds each row of the gradient to the rows of its bag. Iterators as in
    `nn.embedding_bag`; `batch` is summed.

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
  let summary = "descent in the rows of tables that bags of indices name";
  let description = [{
    What `nn.sgd` with the gradient of `nn.embedding_bag_grad` gives, without that
    gradient: each row of `gradient`, that of the looked-up sums, is subtracted
    from the rows of its bag, times `learning_rate`. Rows that no bag names are not
    touched.
    Iterators as in `nn.embedding_bag`; `batch` is opaque: a table that several
    devices hold needs the indices and gradients of the whole batch on each.

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
    Features `[batch, features, dim]` become `[batch, features · (features − 1) / 2]`:
    the products of feature i with features 0 to i − 1, for i from 1 on. The kernel
    computes the whole square of products.
    Iterators: `batch`, `pair` (opaque) and `dim` (sum).

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
    Every pair adds its gradient times one vector to the gradient of the other.
    Iterators as in `nn.interaction`; `dim` is parallel.

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
