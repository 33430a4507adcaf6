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

// Tokens are tensors `[batch, .., hidden]`. The batch is cut into `groups` equal
// token groups; each expert has room for `capacity` tokens of every group. Who
// gets a place depends on the group alone, so every partition of the groups, into
// micro-batches or over devices, gives the same result.

def NN_MoeRouteOp : NN_ForwardOp<"moe_route", ["getFlopsPerPoint"]> {
  let summary = "choose the experts of each token";
  let description = [{
    Takes the softmax of the logits `[batch, .., experts]` over the experts and
    chooses the k largest per token; of equal ones the expert with the lower
    number comes first. The results are `[batch, .., k]`: the gates (the chosen
    probabilities; with `normalize` divided by their sum), the chosen experts, and
    the slot of the token at that expert. Slots are given away in the order of the
    tokens of a group, and of the choices of a token; each expert has

    capacity = ⌈capacity_factor · tokens per group · k / experts⌉

    slots per group. A token that finds its expert full is dropped there: its slot
    is −1. No balancing loss is part of it.
    Iterators: `group` (parallel), which indexes the batch with the samples of a
    group as its minor part; all else is opaque.

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
    /// Slots of an expert per group.
    int64_t getCapacity();
  }];
}

def NN_MoeRouteGradOp : NN_KernelOp<"moe_route_grad", ["getFlopsPerPoint"]> {
  let summary = "gradient of nn.moe_route with respect to the logits";
  let description = [{
    The choice itself is piecewise constant; the gradient goes through the
    probabilities of the chosen experts. Operands: gradient of the gates, logits,
    chosen experts. Tokens are independent of each other here.
    Iterators: the leading dimensions (parallel); experts and choices are opaque.

    **Constraints**: gradient and experts have the same shape, which differs from
    that of the logits in the last dimension only.

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
  let summary = "put tokens into the slots of their experts";
  let description = [{
    Copies each token of `[batch, .., hidden]` to the slots it was given, in a
    tensor `[experts, groups, capacity, hidden]`; slots that nobody got are zero.
    With gates, the copies are multiplied by them: that is the gradient of
    `nn.moe_combine`, whose transpose this operation is.
    Iterators: `expert`, `group`, `slot` and `hidden` (parallel); `group` indexes
    the batch of the tokens with the samples of a group as its minor part.

    **Constraints**: the number of groups divides the batch; experts, slots and
    gates have the leading dimensions of the input and the same last one; where the
    slots come from an `nn.moe_route`, groups, experts and capacity are its own.

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
  let summary = "sum of what the experts of each token computed";
  let description = [{
    Each token of the result `[batch, .., hidden]` is the sum over its choices of
    the gate times the row in its slot of `[experts, groups, capacity, hidden]`. A
    dropped choice adds nothing. Without gates the rows are just added: that is the
    gradient of `nn.moe_dispatch`, whose transpose this operation is.
    Iterators: `group` with the samples of a group as its minor part, the other
    leading dimensions (`seq`) and `hidden` (parallel); `expert` and `slot` (sum).

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
    The product of a token's gradient with the row in the slot of each of its
    choices; zero where the choice was dropped. Operands: gradient of the tokens,
    output of the experts, chosen experts, slots. Iterators as in `nn.moe_combine`;
    `hidden` is summed too.

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
  let summary = "grouped matrix product: every expert has its own weight";
  let description = [{
    y = x wᵀ + bias for each expert: input `[experts, groups, capacity, in]`, weight
    `[experts, out, in]`, bias `[experts, out]`. All slots are computed, used or not.
    Iterators: `expert`, `group`, `slot`, `out` (parallel) and `in` (sum). Where `in`
    is split, the first part adds the bias.

    **Constraints**: the sizes of equal iterators are equal.

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
    dx = dy w for each expert. Iterators as in `nn.expert_linear`; `out` is summed.

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
    dw = dyᵀ x for each expert. Iterators as in `nn.expert_linear`; `group` and
    `slot` are summed.

    ```mlir
    %dw = nn.expert_linear_wgrad "experts.fc1"(%dy, %d) : (tensor<4x4x20x64xf32>, tensor<4x4x20x32xf32>) -> tensor<4x64x32xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // PROTEUS_DIALECT_NN_NNEXPERTOPS_TD
