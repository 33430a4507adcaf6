//===- NNGradientOps.td - operations of the backward pass --*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNGRADIENTOPS_TD
#define PROTEUS_DIALECT_NN_NNGRADIENTOPS_TD

include "Proteus/Dialect/NN/NNBase.td"

// A multilinear operation, such as a matrix product, and its gradient with
// respect to one operand have the same iteration space. The gradient is summed
// over the iterators that do not index this operand. For example,
// nn.linear_wgrad sums over `batch`, because the weight is `[out, in]`.

def NN_LinearDgradOp : NN_KernelOp<"linear_dgrad",
    ["getFlopsPerPoint", "getKernelClass", "getKernelPass"]> {
  let summary = "gradient of nn.linear with respect to its input";
  let description = [{
    Computes dx = dy w. Iterators as in `nn.linear`, except that `out` is
    summed.

    ```mlir
    %dx = nn.linear_dgrad "fc"(%dy, %w) : (tensor<8x256xf32>, tensor<256x128xf32>) -> tensor<8x128xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$weight);
  let results = (outs NN_FloatTensor:$result);
}

def NN_LinearWgradOp : NN_KernelOp<"linear_wgrad",
    ["getFlopsPerPoint", "getKernelClass", "getKernelPass"]> {
  let summary = "gradient of nn.linear with respect to its weight";
  let description = [{
    Computes dw = dyᵀ x. Iterators as in `nn.linear`, except that the leading
    dimensions are summed.

    ```mlir
    %dw = nn.linear_wgrad "fc"(%dy, %x) : (tensor<8x256xf32>, tensor<8x128xf32>) -> tensor<256x128xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
}

def NN_AttentionGradOp : NN_KernelOp<"attention_grad",
    ["getFlopsPerPoint", "getExecutedFlopsPerPoint", "getKernelClass",
     "getVisitedShare", "getVisitedShareOf", "getKernelFamily", "getKernelPass"],
    [DeclareOpInterfaceMethods<RingOpInterface>]> {
  let summary = "gradients of nn.attention with respect to query, key and value";
  let description = [{
    Computes the gradients of query, key and value. It recomputes the scores and
    uses the log-sum-exp of the forward pass to normalise them. Iterators as in
    `nn.attention`, except that `seq` and `group` are summed in the gradients of
    key and value, and `key` in the gradient of the query. Blocks of `key` may
    travel around a ring of devices.

    ```mlir
    %dq, %dk, %dv = nn.attention_grad "core"(%do, %q, %k, %v, %o, %lse) {heads = 2 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x2x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$query,
                       NN_FloatTensor:$key, NN_FloatTensor:$value, NN_FloatTensor:$output,
                       NN_FloatTensor:$logsumexp, I64Attr:$heads,
                       OptionalAttr<I64Attr>:$kv_heads, UnitAttr:$causal);
  let results = (outs NN_FloatTensor:$query_gradient, NN_FloatTensor:$key_gradient,
                      NN_FloatTensor:$value_gradient);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getKeyHeads() { return getKvHeads().value_or(getHeads()); }
  }];
}

def NN_AttentionBlockGradOp : NN_KernelOp<"attention_block_grad",
    ["getFlopsPerPoint", "getExecutedFlopsPerPoint", "getKernelClass",
     "getVisitedShare", "getVisitedShareOf", "getKernelFamily", "getKernelPass"]> {
  let summary = "contribution of one block of keys to the gradients of attention";
  let description = [{
    One step of the backward pass of ring attention. The keys and values are cut
    into `blocks` blocks, and in each step a device holds a different block. The
    operation computes `nn.attention_grad` over this block alone. `output` and
    `logsumexp` are the results of the forward pass over all keys. The gradient
    of the query is added to `query_gradient_so_far`, if that operand is given.
    The gradients of key and value contain only the contributions of the queries
    that the device holds. Iterators as in `nn.attention_grad`.

    **Constraints**: as for `nn.attention_grad`; `blocks` is positive.

    ```mlir
    %dq, %dk, %dv = nn.attention_block_grad "core"(%do, %q, %k, %v, %o, %lse) {heads = 2 : i64, blocks = 4 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x2x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$query,
                       NN_FloatTensor:$key, NN_FloatTensor:$value, NN_FloatTensor:$output,
                       NN_FloatTensor:$logsumexp,
                       Optional<NN_FloatTensor>:$query_gradient_so_far, I64Attr:$heads,
                       OptionalAttr<I64Attr>:$kv_heads, UnitAttr:$causal,
                       I64Attr:$blocks);
  let results = (outs NN_FloatTensor:$query_gradient, NN_FloatTensor:$key_gradient,
                      NN_FloatTensor:$value_gradient);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getKeyHeads() { return getKvHeads().value_or(getHeads()); }
  }];
}

def NN_EmbeddingGradOp : NN_KernelOp<"embedding_grad",
    ["getKernelFamily"]> {
  let summary = "gradient of nn.embedding with respect to its table";
  let description = [{
    Adds each row of the gradient to the table row of its index. Iterators as in
    `nn.embedding`, except that the dimensions of the indices are summed.

    ```mlir
    %dt = nn.embedding_grad "embedding"(%dy, %ids) : (tensor<8x4x16xf32>, tensor<8x4xi32>) -> tensor<100x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_IntTensor:$indices);
  let results = (outs NN_FloatTensor:$result);
}

def NN_LayerNormGradOp : NN_KernelOp<"layer_norm_grad",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "gradients of nn.layer_norm with respect to input, scale and shift";
  let description = [{
    Computes the three gradients in one kernel. Iterators as in `nn.layer_norm`,
    except that the leading dimensions are summed in the gradients of scale and
    shift.

    ```mlir
    %dx, %dg, %db = nn.layer_norm_grad "ln"(%dy, %x, %g) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input,
                       NN_FloatTensor:$scale);
  let results = (outs NN_FloatTensor:$input_gradient, NN_FloatTensor:$scale_gradient,
                      NN_FloatTensor:$shift_gradient);
}

class NN_BinaryGradOp<string mnemonic> : NN_KernelOp<mnemonic, ["getFlopsPerPoint"]> {
  let results = (outs NN_FloatTensor:$result);
}

def NN_ReluGradOp : NN_BinaryGradOp<"relu_grad"> {
  let summary = "gradient of nn.relu";
  let description = [{
    Computes dx = dy where the result of `nn.relu` is positive, else dx = 0.

    ```mlir
    %dx = nn.relu_grad "act"(%dy, %y) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$output);
}

def NN_GeluGradOp : NN_BinaryGradOp<"gelu_grad"> {
  let summary = "gradient of nn.gelu";
  let description = [{
    Computes dx = dy (Φ(x) + x φ(x)), where x is the operand of `nn.gelu`, and Φ
    and φ are the distribution function and the density of the normal
    distribution.

    ```mlir
    %dx = nn.gelu_grad "act"(%dy, %x) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input);
}

def NN_DropoutGradOp : NN_BinaryGradOp<"dropout_grad"> {
  let summary = "gradient of nn.dropout";
  let description = [{
    Computes dx = dy · mask / (1 − probability).

    ```mlir
    %dx = nn.dropout_grad "drop"(%dy, %mask) {probability = 0.1 : f64} : (tensor<8x16xf32>, tensor<8x16xi8>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_MaskTensor:$mask,
                       F64Attr:$probability);
}

def NN_CrossEntropyGradOp : NN_KernelOp<"cross_entropy_grad",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "gradient of nn.cross_entropy with respect to the logits";
  let description = [{
    Computes (softmax − one-hot(label)) · dloss / rows, where the softmax is
    exp(logits − log-sum-exp). All iterators are parallel.

    ```mlir
    %dx = nn.cross_entropy_grad "loss"(%dloss, %logits, %labels, %lse) : (tensor<f32>, tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$logits,
                       NN_IntTensor:$labels, NN_FloatTensor:$logsumexp);
  let results = (outs NN_FloatTensor:$result);
}

def NN_MSELossGradOp : NN_KernelOp<"mse_loss_grad", ["getFlopsPerPoint"]> {
  let summary = "gradient of nn.mse_loss with respect to the prediction";
  let description = [{
    Computes 2 (prediction − target) · dloss / elements, where `elements` is the
    number of elements of the whole tensor. All iterators are parallel.

    ```mlir
    %dx = nn.mse_loss_grad "loss"(%dloss, %p, %t) : (tensor<f32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$prediction,
                       NN_FloatTensor:$target);
  let results = (outs NN_FloatTensor:$result);
}

#endif // PROTEUS_DIALECT_NN_NNGRADIENTOPS_TD
