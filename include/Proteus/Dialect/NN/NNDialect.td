//===- NNDialect.td - the nn dialect -----------------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNDIALECT_TD
#define PROTEUS_DIALECT_NN_NNDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::proteus::nn";
  let summary = "Operations at the granularity of deep-learning kernels";
  let description = [{
    An operation is a kernel that a deep-learning framework launches, or a view
    of a tensor, which launches none. Operands and results are builtin tensors.
    A model is a `func.func` with the shapes of the global batch. Each argument
    has a role (`nn.role`) and a path (`nn.path`):

    ```mlir
    func.func @model(
        %x: tensor<64x784xf32> {nn.role = "input", nn.path = "x"},
        %w: tensor<10x784xf32> {nn.role = "parameter", nn.path = "fc.weight"},
        %t: tensor<64xi32> {nn.role = "input", nn.path = "labels"})
        -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
      %y = nn.linear "fc"(%x, %w) : (tensor<64x784xf32>, tensor<10x784xf32>) -> tensor<64x10xf32>
      %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<64x10xf32>, tensor<64xi32>) -> (tensor<f32>, tensor<64xf32>)
      return %loss : tensor<f32>
    }
    ```

    The first dimension of an input is the batch. A function without
    `nn.training` is not trained: its step consists of the forward pass only.

    The description of each operation lists its iterators with their kinds:

    - A *parallel* iterator (the default) can be split freely.
    - The operation sums over a *sum* iterator, or takes the maximum over a
      *max* iterator. If such an iterator is split, the result is partial.
    - A *log-sum-exp* or *moments* iterator can be split only after the
      operation is replaced by simpler ones.
    - An *opaque* iterator can't be split.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

def NN_Optimizer : I32EnumAttr<"Optimizer", "optimizer of the step", [
    I32EnumAttrCase<"SGD", 0, "sgd">,
    I32EnumAttrCase<"Momentum", 1, "momentum">,
    I32EnumAttrCase<"Adam", 2, "adam">]> {
  let cppNamespace = "::proteus::nn";
}

def NN_PoolKind : I32EnumAttr<"PoolKind", "reduction over a pooling window", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">]> {
  let cppNamespace = "::proteus::nn";
}

def NN_TrainingAttr : AttrDef<NN_Dialect, "Training"> {
  let mnemonic = "training";
  let summary = "settings of the training step of a forward graph";
  let description = [{
    - `optimizer`: `sgd`, `momentum` or `adam`.
    - `compute`: the element type of activations and parameters in the step.
      Without `compute`, they keep the types that they have in the function.
    - `gradient`: the element type in which gradients of parameters accumulate.
      The default is the type of the parameter.
    - `reduction`: the element type in which gradients of parameters are reduced
      over devices. The default is the type of the gradient.
    - `master`: the element type of a master copy of the parameters. The
      optimizer updates the master copy and rounds it to the type of the
      parameter. Without `master` there is no master copy.
    - `clip`: the maximum norm of all gradients together. If their norm is
      larger, all gradients are scaled down to this norm.
    - `loss_scale`: the factor by which the gradient of the loss, and therefore
      every other gradient, is multiplied, so that small values of a narrow type
      do not become zero. The updates divide the gradients by the factor. If a
      gradient overflows, all updates use gradients of zero. Without
      `loss_scale`, gradients are neither scaled nor checked.

    **Constraints**: every type is a float type; `clip` and `loss_scale` are
    positive.

    Example: `#nn.training<optimizer = adam, gradient = f32, master = f32, clip = 1.0>`
  }];
  let parameters = (ins
    EnumParameter<NN_Optimizer>:$optimizer,
    OptionalParameter<"::mlir::Type">:$compute,
    OptionalParameter<"::mlir::Type">:$gradient,
    OptionalParameter<"::mlir::Type">:$reduction,
    OptionalParameter<"::mlir::Type">:$master,
    OptionalParameter<"::mlir::FloatAttr">:$clip,
    OptionalParameter<"::mlir::FloatAttr">:$loss_scale);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // PROTEUS_DIALECT_NN_NNDIALECT_TD
