//===- NNRecurrentOps.td - recurrent layers ----------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNRECURRENTOPS_TD
#define PROTEUS_DIALECT_NN_NNRECURRENTOPS_TD

include "Proteus/Dialect/NN/NNBase.td"

def NN_LstmOp : NN_ForwardOp<"lstm",
    ["getFlopsPerPoint", "getKernelClass", "getSequentialIterator"]> {
  let summary = "recurrent part of a long short-term memory layer";
  let description = [{
    Computes the recurrent part of the layer. The input `[batch, time, 4 ·
    hidden]` is the contribution of the sequence to the gates; an `nn.linear`
    before this operation computes it for all times at once. At time t

        gates = input(t) + weight h(t−1) + bias
        c(t) = σ(forget) c(t−1) + σ(in) tanh(candidate)
        h(t) = σ(out) tanh(c(t))

    with h(−1) = c(−1) = 0. The gates are stored in the order in, forget,
    candidate, out. The weight is `[4 · hidden, hidden]`. With `reverse`, time
    runs backwards. The results are h, the gates after their activation
    functions, and c. Only the gradient reads the gates and c. Iterators:
    `batch` (parallel) and the opaque iterators `time`, `gate`, `hidden` and
    `in` (the hidden units of the preceding time). The times are computed one
    after another, and each of them reads the whole weight again.

    **Constraints**: operands and results have the shapes above.

    ```mlir
    %h, %gates, %c = nn.lstm "decoder.lstm"(%x, %w, %b) : (tensor<8x20x64xf32>, tensor<64x16xf32>, tensor<64xf32>) -> (tensor<8x20x16xf32>, tensor<8x20x64xf32>, tensor<8x20x16xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_FloatTensor:$weight,
                       Optional<NN_FloatTensor>:$bias, UnitAttr:$reverse);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$gates,
                      NN_FloatTensor:$cells);
  let hasVerifier = 1;
}

def NN_LstmGradOp : NN_KernelOp<"lstm_grad",
    ["getFlopsPerPoint", "getKernelClass", "getSequentialIterator"]> {
  let summary = "gradient of nn.lstm with respect to its input";
  let description = [{
    Computes the gradient of the gates before their activation functions, which
    is also the gradient of the input. The gradients of weight and bias are
    computed from it. The times run in the opposite order of `nn.lstm`.
    Iterators as in `nn.lstm`.

    **Constraints**: as for `nn.lstm`.

    ```mlir
    %dx = nn.lstm_grad "lstm"(%dh, %w, %gates, %c) : (tensor<8x20x16xf32>, tensor<64x16xf32>, tensor<8x20x64xf32>, tensor<8x20x16xf32>) -> tensor<8x20x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$weight,
                       NN_FloatTensor:$gates, NN_FloatTensor:$cells,
                       UnitAttr:$reverse);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_LstmWgradOp : NN_KernelOp<"lstm_wgrad",
    ["getFlopsPerPoint", "getKernelClass", "getKernelPass"]> {
  let summary = "gradient of nn.lstm with respect to its weight";
  let description = [{
    Computes the gradient of the weight in one matrix product: the sum over
    batch and time of the gradient of the gates times the state h of the
    preceding time. Iterators as in `nn.lstm`, except that `batch` is summed.

    **Constraints**: as for `nn.lstm`.

    ```mlir
    %dw = nn.lstm_wgrad "lstm"(%dx, %h) : (tensor<8x20x64xf32>, tensor<8x20x16xf32>) -> tensor<64x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$states,
                       UnitAttr:$reverse);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // PROTEUS_DIALECT_NN_NNRECURRENTOPS_TD
