//===- NNElementwiseOps.td - activations and products ------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNELEMENTWISEOPS_TD
#define PROTEUS_DIALECT_NN_NNELEMENTWISEOPS_TD

include "Proteus/Dialect/NN/NNBase.td"

class NN_ActivationOp<string mnemonic> : NN_ForwardOp<mnemonic, ["getFlopsPerPoint"]> {
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
}

def NN_SiluOp : NN_ActivationOp<"silu"> {
  let summary = "sigmoid linear unit, x σ(x)";
  let description = [{
    Computes x σ(x) for each element. The gradient reads the operand.

    ```mlir
    %y = nn.silu "act"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
}

def NN_TanhOp : NN_ActivationOp<"tanh"> {
  let summary = "hyperbolic tangent";
  let description = [{
    Computes tanh(x) for each element. The gradient reads the result.

    ```mlir
    %y = nn.tanh "act"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
}

def NN_SigmoidOp : NN_ActivationOp<"sigmoid"> {
  let summary = "sigmoid, σ(x) = 1 / (1 + exp(−x))";
  let description = [{
    Computes σ(x) for each element. The gradient reads the result.

    ```mlir
    %y = nn.sigmoid "gate"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
}

def NN_MulOp : NN_ForwardOp<"mul", ["getFlopsPerPoint"]> {
  let summary = "element-wise product";
  let description = [{
    Multiplies the operands element by element. If the right operand has fewer
    dimensions than the left, it is repeated along the leading dimensions of the
    left, for example `[8, 16] · [16]`.

    **Constraints**: the right operand has no more dimensions than the left, and
    its dimensions are equal to the last ones of the left.

    ```mlir
    %y = nn.mul "gated"(%a, %b) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$lhs, NN_FloatTensor:$rhs);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_ScaleOp : NN_ForwardOp<"scale", ["getFlopsPerPoint", "isLinear"]> {
  let summary = "product with a constant";
  let description = [{
    Multiplies each element by `factor`. The operation is linear, so partial
    sums pass through it without a reduction.

    ```mlir
    %y = nn.scale "scores"(%x) {factor = 0.125 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, F64Attr:$factor);
  let results = (outs NN_FloatTensor:$result);
}

def NN_SwigluOp : NN_ForwardOp<"swiglu",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "silu(gate) · up in one kernel";
  let description = [{
    Computes silu(gate) · up for each element. The gradient reads both operands.

    ```mlir
    %y = nn.swiglu "mlp.act"(%gate, %up) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gate, NN_FloatTensor:$up);
  let results = (outs NN_FloatTensor:$result);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

class NN_ActivationGradOp<string mnemonic> : NN_KernelOp<mnemonic, ["getFlopsPerPoint"]> {
  let results = (outs NN_FloatTensor:$result);
}

def NN_SiluGradOp : NN_ActivationGradOp<"silu_grad"> {
  let summary = "gradient of nn.silu";
  let description = [{
    Computes dx = dy σ(x) (1 + x (1 − σ(x))), where x is the operand of
    `nn.silu`.

    ```mlir
    %dx = nn.silu_grad "act"(%dy, %x) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input);
}

def NN_TanhGradOp : NN_ActivationGradOp<"tanh_grad"> {
  let summary = "gradient of nn.tanh";
  let description = [{
    Computes dx = dy (1 − y²), where y is the result of `nn.tanh`.

    ```mlir
    %dx = nn.tanh_grad "act"(%dy, %y) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$output);
}

def NN_SigmoidGradOp : NN_ActivationGradOp<"sigmoid_grad"> {
  let summary = "gradient of nn.sigmoid";
  let description = [{
    Computes dx = dy y (1 − y), where y is the result of `nn.sigmoid`.

    ```mlir
    %dx = nn.sigmoid_grad "gate"(%dy, %y) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$output);
}

def NN_SwigluGradOp : NN_KernelOp<"swiglu_grad",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "gradients of nn.swiglu with respect to gate and up";
  let description = [{
    Computes dgate = dy · up · silu'(gate) and dup = dy · silu(gate).

    ```mlir
    %dg, %du = nn.swiglu_grad "mlp.act"(%dy, %gate, %up) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$gate,
                       NN_FloatTensor:$up);
  let results = (outs NN_FloatTensor:$gate_gradient, NN_FloatTensor:$up_gradient);
}

#endif // PROTEUS_DIALECT_NN_NNELEMENTWISEOPS_TD
