//===- NNExpertOps.td - mixture of experts -----------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNEXPERTOPS_TD
#define PROTEUS_DIALECT_NN_NNEXPERTOPS_TD

include "Proteus/Dialect/NN/NNBase.td"

// Tokens are tensors `[batch, .., hidden]`. The batch is divided into `groups`
// equal token groups, and each expert has `capacity` slots for the tokens of
// each group. Whether a token gets a slot depends only on the tokens of its own
// group. The result is therefore the same for every partition of the batch,
// into micro-batches or over devices, that keeps each group whole.

def NN_MoeRouteOp : NN_ForwardOp<"moe_route", ["getFlopsPerPoint"]> {
  let summary = "choice of experts and slots for each token";
  let description = [{
    Assigns each token to k experts, and to a slot of each of these experts.

    Computes the softmax of the logits `[batch, .., experts]` over the experts
    and chooses for each token the k experts with the largest probabilities.
    Among equal probabilities, the expert with the lower number comes first.
    There are three results of shape `[batch, .., k]`:

    - the gates: the probabilities of the chosen experts. With `normalize`, the
      gates of a token are divided by their sum;
    - the numbers of the chosen experts;
    - the slot of the token at each chosen expert.

    Each expert has

    capacity = ⌈capacity_factor · tokens per group · k / experts⌉

    slots per group. The slots are assigned in the order of the tokens of a
    group and, for one token, in the order of its choices. If all slots of an
    expert are taken, the expert drops the token, and the slot of this choice is
    −1. The operation computes no loss for load balancing.

    Iterators: `group` (parallel). The batch is indexed by `group` and, minor to
    it, by an opaque iterator for the samples of a group. All other iterators
    are opaque.

    **Constraints**: `groups` divides the first dimension; 1 ≤ k ≤ experts; the
    capacity factor is positive.

    ```mlir
    %gates, %experts, %slots = nn.moe_route "moe.router"(%logits) {groups = 4 : i64, capacity_factor = 1.25 : f64, normalize} : (tensor<8x16x4xf32>) -> (tensor<8x16x2xf32>, tensor<8x16x2xi32>, tensor<8x16x2xi32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$logits, I64Attr:$groups,
                       F64Attr:$capacity_factor, UnitAttr:$normalize);
  let results = (outs NN_FloatTensor:$gates, NN_IntTensor:$experts, NN_IntTensor:$slots);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the number of slots that an expert has for the tokens of one
    /// group.
    int64_t getCapacity();
  }];
}

def NN_MoeRouteGradOp : NN_KernelOp<"moe_route_grad", ["getFlopsPerPoint"]> {
  let summary = "gradient of nn.moe_route with respect to the logits";
  let description = [{
    Computes the gradient of the logits from the gradient of the gates. The
    choice of experts is piecewise constant and contributes nothing. Operands:
    gradient of the gates, logits, chosen experts. Unlike in `nn.moe_route`, no
    token depends on other tokens. Iterators: the leading dimensions (parallel)
    and `expert` (opaque). No iterator indexes the choices.

    **Constraints**: gradient and experts have the same shape; the logits differ
    from this shape in the last dimension only.

    ```mlir
    %dlogits = nn.moe_route_grad "moe.router"(%dgates, %logits, %experts) {normalize} : (tensor<8x16x2xf32>, tensor<8x16x4xf32>, tensor<8x16x2xi32>) -> tensor<8x16x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$logits,
                       NN_IntTensor:$experts, UnitAttr:$normalize);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_MoeDispatchOp : NN_ForwardOp<"moe_dispatch", ["getFlopsPerPoint"]> {
  let summary = "copy tokens into the slots of their experts";
  let description = [{
    Copies each token of `[batch, .., hidden]` to its slots in a tensor
    `[experts, groups, capacity, hidden]`. Slots without a token are zero. With
    gates, each copy is multiplied by its gate. The operation is linear in its
    input, and is the transpose of an `nn.moe_combine` with the same gates. It
    therefore also computes the gradient of the input of that `nn.moe_combine`.

    Iterators: `expert`, `group`, `slot` and `hidden` (parallel). The batch of
    the tokens is indexed by `group` and, minor to it, by an opaque iterator for
    the samples of a group.

    **Constraints**: the number of groups divides the batch; experts, slots and
    gates have the leading dimensions of the input and equal last dimensions; if
    `slots` is a result of an `nn.moe_route`, the numbers of groups, experts and
    slots are those of that operation.

    ```mlir
    %d = nn.moe_dispatch "moe.dispatch"(%x, %experts, %slots) : (tensor<8x16x32xf32>, tensor<8x16x2xi32>, tensor<8x16x2xi32>) -> tensor<4x4x20x32xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_IntTensor:$experts,
                       NN_IntTensor:$slots, Optional<NN_FloatTensor>:$gates);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_MoeCombineOp : NN_ForwardOp<"moe_combine", ["getFlopsPerPoint"]> {
  let summary = "sum of the outputs of the experts of each token";
  let description = [{
    Sums for each token of the result `[batch, .., hidden]` the outputs of its
    experts. Each summand is a gate times the row of `[experts, groups,
    capacity, hidden]` in the slot of the token. A dropped choice adds nothing.
    Without gates, the rows are summed without weights. The operation is linear
    in its input, and is the transpose of an `nn.moe_dispatch` with the same
    gates. It therefore also computes the gradient of the input of that
    `nn.moe_dispatch`.

    Iterators: `group`, the leading dimensions after the batch (`seq`) and
    `hidden` (all parallel); `expert` and `slot` (sum). The batch is indexed by
    `group` and, minor to it, by an opaque iterator for the samples of a group.

    **Constraints**: as for `nn.moe_dispatch`, with input and result exchanged.

    ```mlir
    %y = nn.moe_combine "moe.combine"(%e, %experts, %slots, %gates) : (tensor<4x4x20x32xf32>, tensor<8x16x2xi32>, tensor<8x16x2xi32>, tensor<8x16x2xf32>) -> tensor<8x16x32xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_IntTensor:$experts,
                       NN_IntTensor:$slots, Optional<NN_FloatTensor>:$gates);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_MoeGateGradOp : NN_KernelOp<"moe_gate_grad", ["getFlopsPerPoint"]> {
  let summary = "gradient of nn.moe_combine with respect to the gates";
  let description = [{
    Computes for each choice of a token the dot product of the gradient of the
    token with the row in the slot of the choice, or zero if the choice was
    dropped. Operands: gradient of the tokens, outputs of the experts, chosen
    experts, slots. Iterators as in `nn.moe_combine`, except that the operation
    also sums over `hidden`.

    **Constraints**: as for `nn.moe_combine`.

    ```mlir
    %dg = nn.moe_gate_grad "moe.combine"(%dy, %e, %experts, %slots) : (tensor<8x16x32xf32>, tensor<4x4x20x32xf32>, tensor<8x16x2xi32>, tensor<8x16x2xi32>) -> tensor<8x16x2xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input,
                       NN_IntTensor:$experts, NN_IntTensor:$slots);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_ExpertLinearOp : NN_ForwardOp<"expert_linear",
    ["getFlopsPerPoint", "getKernelClass", "getKernelFamily"]> {
  let summary = "grouped matrix product with a weight per expert";
  let description = [{
    Computes y = x wᵀ + bias for each expert. The input is `[experts, groups,
    capacity, in]`, the weight `[experts, out, in]` and the bias `[experts,
    out]`. The kernel computes all slots, including those without a token.
    Iterators: `expert`, `group`, `slot`, `out` (parallel) and `in` (sum). If
    `in` is split, only the devices with the first shard of `in` add the bias,
    so that it is added once.

    **Constraints**: dimensions that the same iterator indexes have the same
    size.

    ```mlir
    %y = nn.expert_linear "experts.fc1"(%d, %w) : (tensor<4x4x20x32xf32>, tensor<4x64x32xf32>) -> tensor<4x4x20x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_FloatTensor:$weight,
                       Optional<NN_FloatTensor>:$bias);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_ExpertLinearDgradOp : NN_KernelOp<"expert_linear_dgrad",
    ["getFlopsPerPoint", "getKernelClass", "getKernelPass", "getKernelFamily"]> {
  let summary = "gradient of nn.expert_linear with respect to its input";
  let description = [{
    Computes dx = dy w for each expert. Iterators as in `nn.expert_linear`,
    except that `out` is summed.

    ```mlir
    %dx = nn.expert_linear_dgrad "experts.fc1"(%dy, %w) : (tensor<4x4x20x64xf32>, tensor<4x64x32xf32>) -> tensor<4x4x20x32xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$weight);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_ExpertLinearWgradOp : NN_KernelOp<"expert_linear_wgrad",
    ["getFlopsPerPoint", "getKernelClass", "getKernelPass", "getKernelFamily"]> {
  let summary = "gradient of nn.expert_linear with respect to its weight";
  let description = [{
    Computes dw = dyᵀ x for each expert. Iterators as in `nn.expert_linear`,
    except that `group` and `slot` are summed.

    ```mlir
    %dw = nn.expert_linear_wgrad "experts.fc1"(%dy, %d) : (tensor<4x4x20x64xf32>, tensor<4x4x20x32xf32>) -> tensor<4x64x32xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // PROTEUS_DIALECT_NN_NNEXPERTOPS_TD
