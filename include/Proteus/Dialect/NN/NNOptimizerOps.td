//===- NNOptimizerOps.td - parameter updates ---------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNOPTIMIZEROPS_TD
#define PROTEUS_DIALECT_NN_NNOPTIMIZEROPS_TD

include "Proteus/Dialect/NN/NNBase.td"

// Updates do not change their operands: they return the new parameter and the
// new states. If a result of the step function comes from an update, its
// attribute `nn.updates` is the index of the argument that the result replaces.
// With `scaled`, the last operand is a factor by which the update multiplies
// the gradient. If the factor is 0, the update uses a gradient of zero, even if
// elements of the gradient are infinite or NaN.

class NN_UpdateOp<string mnemonic>
    : NN_KernelOp<mnemonic, ["getFlopsPerPoint", "getKernelFamily"]>;

def NN_SGDOp : NN_UpdateOp<"sgd"> {
  let summary = "parameter update by stochastic gradient descent";
  let description = [{
    Operands: the parameter, its gradient, the velocity (with `momentum`), the
    master copy (with `master`) and a scalar, the factor of the gradient (with
    `scaled`). Results: the new values of all operands except the gradient and
    the factor, in the same order. With a master copy, the update is computed on
    it, and the result is rounded to the type of the parameter.

    With momentum v' = 0.9 v + g, without it v' = g; then p' = p − learning_rate
    · v'.

    **Constraints**: all shapes except that of the factor are equal; there is
    one result for each operand except the gradient and the factor.

    ```mlir
    %p = nn.sgd "fc.weight"(%w, %g) {learning_rate = 0.01 : f64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$parameter, NN_FloatTensor:$gradient,
                       Variadic<NN_FloatTensor>:$states, UnitAttr:$momentum,
                       UnitAttr:$master, UnitAttr:$scaled,
                       DefaultValuedAttr<F64Attr, "0.01">:$learning_rate);
  let results = (outs Variadic<NN_FloatTensor>:$results);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the factor of the gradient, or null without `scaled`.
    ::mlir::Value getFactor() {
      return getScaled() ? getOperands().back() : ::mlir::Value();
    }
    /// Returns `states` without the factor of the gradient: the states of the
    /// optimizer and, if there is one, the master copy.
    ::mlir::OperandRange getOwnStates() {
      return getStates().drop_back(getScaled() ? 1 : 0);
    }
  }];
}

def NN_AdamOp : NN_UpdateOp<"adam"> {
  let summary = "parameter update by Adam";
  let description = [{
    Operands: the parameter, its gradient, the first and the second moment, the
    master copy (with `master`) and a scalar, the factor of the gradient (with
    `scaled`). Results: the new values of all operands except the gradient and
    the factor, in the same order. With a master copy, the update is computed on
    it, and the result is rounded to the type of the parameter.

    m' = 0.9 m + 0.1 g; v' = 0.999 v + 0.001 g²; p' = p − learning_rate · m' /
    (√v' + 10⁻⁸). The bias correction of Adam is omitted, because it depends on
    the number of the step, for which the operation has no operand.

    **Constraints**: all shapes except that of the factor are equal; there is
    one result for each operand except the gradient and the factor.

    ```mlir
    %p:3 = nn.adam "fc.weight"(%w, %g, %m, %v) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$parameter, NN_FloatTensor:$gradient,
                       Variadic<NN_FloatTensor>:$states, UnitAttr:$master,
                       UnitAttr:$scaled,
                       DefaultValuedAttr<F64Attr, "0.001">:$learning_rate);
  let results = (outs Variadic<NN_FloatTensor>:$results);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the factor of the gradient, or null without `scaled`.
    ::mlir::Value getFactor() {
      return getScaled() ? getOperands().back() : ::mlir::Value();
    }
    /// Returns `states` without the factor of the gradient: the states of the
    /// optimizer and, if there is one, the master copy.
    ::mlir::OperandRange getOwnStates() {
      return getStates().drop_back(getScaled() ? 1 : 0);
    }
  }];
}

#endif // PROTEUS_DIALECT_NN_NNOPTIMIZEROPS_TD
