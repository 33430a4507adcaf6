//===- NNForwardOps.td - operations of forward graphs ------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNFORWARDOPS_TD
#define PROTEUS_DIALECT_NN_NNFORWARDOPS_TD

include "Proteus/Dialect/NN/NNBase.td"

//===----------------------------------------------------------------------===//
// Matrix operations
//===----------------------------------------------------------------------===//

def NN_LinearOp : NN_ForwardOp<"linear", ["getFlopsPerPoint", "getKernelClass"]> {
  let summary = "linear layer: y = x wᵀ + bias";
  let description = [{
    Computes y = x wᵀ + bias. Iterators: the leading dimensions of x (`batch`,
    `seq`), `out`, and `in` (sum). The weight is stored as `[out, in]`. If `in`
    is split, only the devices with the first shard of `in` add the bias, so
    that it is added once.

    **Constraints**: the last dimension of x is equal to the second dimension of
    the weight; the bias has the size of `out`.

    ```mlir
    %y = nn.linear "mlp.fc1"(%x, %w, %b) : (tensor<8x128xf32>, tensor<256x128xf32>, tensor<256xf32>) -> tensor<8x256xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_FloatTensor:$weight,
                       Optional<NN_FloatTensor>:$bias);
  let results = (outs NN_FloatTensor:$result);
}

def NN_MatmulOp : NN_ForwardOp<"matmul", ["getFlopsPerPoint", "getKernelClass"]> {
  let summary = "batched matrix product of two activations";
  let description = [{
    Computes the matrix product of the last two dimensions, for every index of
    the leading dimensions. Iterators: the leading dimensions (parallel), `m`,
    `n` and `k` (sum). With `transpose_a` the left operand is `[.., k, m]`
    instead of `[.., m, k]`; with `transpose_b` the right operand is `[.., n,
    k]` instead of `[.., k, n]`.

    **Constraints**: both operands have the same rank, which is at least two,
    and the same leading dimensions.

    ```mlir
    %c = nn.matmul "scores"(%a, %b) {transpose_b} : (tensor<8x64x32xf32>, tensor<8x64x32xf32>) -> tensor<8x64x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_AttentionOp : NN_ForwardOp<"attention",
    ["getFlopsPerPoint", "getKernelClass", "getVisitedShare", "getVisitedShareOf",
     "getKernelFamily"],
    [DeclareOpInterfaceMethods<RingOpInterface>]> {
  let summary = "fused scaled-dot-product attention";
  let description = [{
    Computes softmax(q kᵀ / √dim) v per head. The scores, which are the operand
    of the softmax, are never written to memory.

    The query is `[batch, seq, heads · dim]`, the key `[batch, key, kv_heads ·
    dim]`, the value `[batch, key, kv_heads · value_dim]` and the result
    `[batch, seq, heads · value_dim]`. If there are fewer key heads than query
    heads, each group of query heads shares one key head. With `causal`, query i
    attends to keys 0 to i. The second result is the log-sum-exp of each row of
    scores, which the gradient reads.

    Iterators: `batch`, `head` (key heads), `group` (query heads per key head),
    `seq`, `key` (log-sum-exp), `dim` (opaque) and, if its size differs from
    that of `dim`, `value_dim` (opaque). Blocks of `key` may travel around a
    ring of devices.

    **Constraints**: `kv_heads` divides `heads`; `heads` divides the last
    dimension of the query, and `kv_heads` those of the key and the value.

    ```mlir
    %o, %lse = nn.attention "core"(%q, %k, %v) {heads = 12 : i64, causal} : (tensor<8x1024x768xbf16>, tensor<8x1024x768xbf16>, tensor<8x1024x768xbf16>) -> (tensor<8x1024x768xbf16>, tensor<8x12x1024xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$query, NN_FloatTensor:$key,
                       NN_FloatTensor:$value, I64Attr:$heads,
                       OptionalAttr<I64Attr>:$kv_heads, UnitAttr:$causal);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$logsumexp);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getKeyHeads() { return getKvHeads().value_or(getHeads()); }
  }];
}

def NN_AttentionBlockOp : NN_KernelOp<"attention_block",
    ["getFlopsPerPoint", "getKernelClass", "getVisitedShare", "getVisitedShareOf",
     "getKernelFamily"]> {
  let summary = "attention over one block of keys, combined with earlier blocks";
  let description = [{
    One step of ring attention. The keys and values are cut into `blocks`
    blocks, and in each step a device holds a different block. The operation
    computes `nn.attention` over this block alone. `so_far` are the two results
    over the blocks of all earlier steps. If `so_far` is given, the operation
    adds the new block to them, with weights that follow from the log-sum-exps,
    and returns the results over all blocks so far. A query that has attended to
    no key yet has the result 0 and the log-sum-exp −∞. Iterators as in
    `nn.attention`.

    **Constraints**: as for `nn.attention`; `blocks` is positive; `so_far` is
    empty or has the types of the results.

    ```mlir
    %o1, %lse1 = nn.attention_block "core"(%q, %k, %v, %o0, %lse0) {heads = 2 : i64, blocks = 4 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x2x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x2x4xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$query, NN_FloatTensor:$key,
                       NN_FloatTensor:$value, Variadic<NN_FloatTensor>:$so_far,
                       I64Attr:$heads, OptionalAttr<I64Attr>:$kv_heads,
                       UnitAttr:$causal, I64Attr:$blocks);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$logsumexp);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getKeyHeads() { return getKvHeads().value_or(getHeads()); }
  }];
}

//===----------------------------------------------------------------------===//
// Memory-bound operations
//===----------------------------------------------------------------------===//

def NN_EmbeddingOp : NN_ForwardOp<"embedding",
    ["readsWholeOperand", "getKernelFamily"]> {
  let summary = "table rows selected by index";
  let description = [{
    Returns the table row of each index. Iterators: the dimensions of the
    indices, `vocab` (sum) and `hidden`. If `vocab` is split, each device
    returns zeros for an index of a row that it does not hold, and the sum over
    devices is the result.

    ```mlir
    %x = nn.embedding "embedding"(%ids, %table) : (tensor<8x1024xi32>, tensor<50304x768xbf16>) -> tensor<8x1024x768xbf16>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_IntTensor:$indices, NN_FloatTensor:$table);
  let results = (outs NN_FloatTensor:$result);
}

def NN_LayerNormOp : NN_ForwardOp<"layer_norm",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "normalisation over the last dimension, with scale and shift";
  let description = [{
    Computes (x − mean) / √(variance + 10⁻⁵) · scale + shift, where the variance
    is the mean of the squared deviations.
    Iterators: the leading dimensions (parallel) and `hidden` (opaque).

    ```mlir
    %y = nn.layer_norm "ln_1"(%x, %g, %b) : (tensor<8x1024x768xbf16>, tensor<768xbf16>, tensor<768xbf16>) -> tensor<8x1024x768xbf16>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_FloatTensor:$scale,
                       NN_FloatTensor:$shift);
  let results = (outs NN_FloatTensor:$result);
}

class NN_UnaryOp<string mnemonic> : NN_ForwardOp<mnemonic, ["getFlopsPerPoint"]> {
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
}

def NN_ReluOp : NN_UnaryOp<"relu"> {
  let summary = "rectified linear unit, max(x, 0)";
  let description = [{
    Computes max(x, 0) for each element. The gradient reads the result.

    ```mlir
    %y = nn.relu "act"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
}

def NN_GeluOp : NN_UnaryOp<"gelu"> {
  let summary = "Gaussian error linear unit";
  let description = [{
    Computes x Φ(x) for each element, where Φ is the exact distribution function
    of the normal distribution and not an approximation. The gradient reads the
    operand.

    ```mlir
    %y = nn.gelu "mlp.act"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
}

def NN_AddOp : NN_ForwardOp<"add", ["getFlopsPerPoint", "isLinear"]> {
  let summary = "element-wise sum";
  let description = [{
    Adds the operands element by element. If the right operand has fewer
    dimensions than the left, it is repeated along the leading dimensions of the
    left, for example a position embedding `[seq, hidden]` along `batch`.

    **Constraints**: the right operand has no more dimensions than the left, and
    its dimensions are equal to the last ones of the left.

    ```mlir
    %y = nn.add "residual"(%a, %b) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$lhs, NN_FloatTensor:$rhs);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_DropoutOp : NN_ForwardOp<"dropout"> {
  let summary = "dropout";
  let description = [{
    Replaces each element by zero with the given probability and divides the
    other elements by (1 − probability). Whether an element is replaced depends
    only on `seed` and on its index in the whole tensor, so that every partition
    and every recomputation drop the same elements. The second result is the
    mask, with one byte per element. The gradient reads it.

    **Constraints**: 0 ≤ probability < 1.

    ```mlir
    %y, %mask = nn.dropout "drop"(%x) {probability = 0.1 : f64, seed = 7 : i64} : (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xi8>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, F64Attr:$probability,
                       I64Attr:$seed);
  let results = (outs NN_FloatTensor:$result, NN_MaskTensor:$mask);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Views of tensors
//===----------------------------------------------------------------------===//

def NN_ReshapeOp : NN_ForwardOp<"reshape", ["getKernelClass", "isLinear"]> {
  let summary = "view of the same elements in another shape";
  let description = [{
    Iterators: the common factors of both shapes, for example 8, 256, 6 and 6
    for `8x256x6x6 -> 8x9216`. A merged dimension, such as 9216, is indexed by
    the iterators of the dimensions that it merges, so that a split of the major
    one, 256, is preserved. If neither of two sizes divides the other, as in
    `6x4 -> 4x6`, one opaque iterator covers these dimensions, and they are
    never split. A dimension of size one without a counterpart in the other
    shape is indexed by no iterator.

    **Constraints**: both shapes have the same number of elements.

    ```mlir
    %y = nn.reshape "flatten"(%x) : (tensor<8x256x6x6xf32>) -> tensor<8x9216xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_Tensor:$input);
  let results = (outs NN_Tensor:$result);
  let hasVerifier = 1;
}

def NN_SplitOp : NN_ForwardOp<"split", ["getKernelClass"]> {
  let summary = "split the last dimension into several tensors";
  let description = [{
    The last dimension consists of `groups` groups of equal size. Each group is
    cut into one part per result, and a result consists of its parts of all
    groups. The sizes of the parts follow from the last dimensions of the
    results. For example, with `groups` = heads, a fused projection `[head, 3,
    dim]` becomes query, key and value, and a split over heads needs no
    communication. The results are views.

    Iterators: the leading dimensions, `head` (the groups), and for each tensor
    an opaque iterator for its part of a group.

    **Constraints**: `groups` divides the last dimension of every result; the
    last dimensions of the results add up to that of the operand; all element
    types are equal.

    ```mlir
    %q, %k, %v = nn.split "qkv_split"(%qkv) {groups = 12 : i64} : (tensor<8x1024x2304xbf16>) -> (tensor<8x1024x768xbf16>, tensor<8x1024x768xbf16>, tensor<8x1024x768xbf16>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_Tensor:$input,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Variadic<NN_Tensor>:$results);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

def NN_CrossEntropyOp : NN_ForwardOp<"cross_entropy",
    ["getFlopsPerPoint", "getKernelFamily"],
    [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "mean cross-entropy of logits and labels";
  let description = [{
    Computes the loss as the sum of the cross-entropies of all rows, divided by
    the number of rows of the whole tensor, so that every partition gives the
    same value. The second result is the log-sum-exp of each row, which the
    gradient reads. Iterators: the leading dimensions (sum) and `vocab`
    (log-sum-exp).

    ```mlir
    %loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$logits, NN_IntTensor:$labels);
  let results = (outs NN_FloatTensor:$loss, NN_FloatTensor:$logsumexp);
}

def NN_MSELossOp : NN_ForwardOp<"mse_loss", ["getFlopsPerPoint"]> {
  let summary = "mean squared error of prediction and target";
  let description = [{
    Computes Σ (prediction − target)² divided by the number of elements of the
    whole tensor, so that every partition gives the same value. Iterators: all
    dimensions (sum).

    ```mlir
    %loss = nn.mse_loss "loss"(%p, %t) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$prediction, NN_FloatTensor:$target);
  let results = (outs NN_FloatTensor:$loss);
}

//===----------------------------------------------------------------------===//
// Operations of a decomposed cross-entropy
//===----------------------------------------------------------------------===//

def NN_RowMaxOp : NN_KernelOp<"row_max",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "maximum over the last dimension";
  let description = [{
    Computes the maximum of each row. Iterators: the leading dimensions and
    `vocab` (max).

    ```mlir
    %m = nn.row_max "loss"(%logits) : (tensor<8x10xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$logits);
  let results = (outs NN_FloatTensor:$result);
}

def NN_RowExpSumOp : NN_KernelOp<"row_exp_sum",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "sum of exponentials, and the logit of the label";
  let description = [{
    Computes for each row Σ exp(logit − max) and the logit of the label. If
    `vocab` is split, the second result is zero on devices that do not hold that
    logit. Iterators: the leading dimensions and `vocab` (sum).

    ```mlir
    %s, %p = nn.row_exp_sum "loss"(%logits, %labels, %max) : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$logits, NN_IntTensor:$labels,
                       NN_FloatTensor:$max);
  let results = (outs NN_FloatTensor:$sum, NN_FloatTensor:$picked);
}

def NN_RowLossOp : NN_KernelOp<"row_loss", ["getFlopsPerPoint"]> {
  let summary = "loss and log-sum-exp from maxima, sums and label logits";
  let description = [{
    Computes lse = max + log(sum) for each row and loss = Σ (lse − picked) /
    rows, where `picked` is the logit of the label and `rows` is the number of
    rows of the whole tensor. Iterators: the leading dimensions (sum).

    ```mlir
    %loss, %lse = nn.row_loss "loss"(%max, %sum, %picked) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$max, NN_FloatTensor:$sum,
                       NN_FloatTensor:$picked);
  let results = (outs NN_FloatTensor:$loss, NN_FloatTensor:$logsumexp);
}

#endif // PROTEUS_DIALECT_NN_NNFORWARDOPS_TD
