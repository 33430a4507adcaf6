//===- NNStructureOps.td - repeats, recomputation, constants --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNSTRUCTUREOPS_TD
#define PROTEUS_DIALECT_NN_NNSTRUCTUREOPS_TD

include "Proteus/Dialect/NN/NNBase.td"

def NN_FillOp : NN_KernelOp<"fill"> {
  let summary = "tensor whose elements are all equal";
  let description = [{
    ```mlir
    %one = nn.fill "loss"() {value = 1.0 : f64} : () -> tensor<f32>
    ```
  }];
  let arguments = (ins StrAttr:$path, F64Attr:$value);
  let results = (outs NN_FloatTensor:$result);
}

def NN_CastOp : NN_ForwardOp<"cast", ["isLinear"]> {
  let summary = "conversion to another element type";
  let description = [{
    ```mlir
    %y = nn.cast "grad"(%x) : (tensor<4xbf16>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
}

def NN_KeepOp : NN_ForwardOp<"keep", ["getKernelClass"],
    [AllTypesMatch<["input", "result"]>]> {
  let summary = "identity whose result has a layout of its own";
  let description = [{
    Returns its operand unchanged, but in a layout of its own. The operation is
    inserted where a strategy stores a value in another layout than its producer
    and its readers compute with. With `split output`, the value has this layout
    between its producer and all its readers. With `split input k`, it has this
    layout until the backward pass reads it. Iterators as in an element-wise
    operation: one for each dimension. A partial sum is reduced before the
    operation.

    **Constraints**: operand and result have the same type.

    ```mlir
    %k = nn.keep "mlp.fc1"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_Tensor:$input);
  let results = (outs NN_Tensor:$result);
}

def NN_RepeatOp : Op<NN_Dialect, "repeat", [SingleBlock, RecursiveMemoryEffects,
    AttrSizedOperandSegments]> {
  let summary = "layers that are written once and run n times";
  let description = [{
    Runs the body `count` times.

    - A carried value passes from one iteration to the next.
    - A sliced operand has a leading dimension of size `count`. Iteration i
      reads slice i of it.
    - Values that the body yields after the carried values are stacked along a
      new leading dimension of size `count`.
    - With `reverse`, the iterations run from the last to the first.
    - `first` is the index of the first iteration in the module path: iteration
      i of `nn.repeat "layers" first 12` has the path `layers[12 + i]`. Paths in
      the body are relative to the path of the iteration.

    **Constraints**: `count` is positive; the leading dimension of sliced operands
    and stacked results is `count`; block arguments, yielded values, operands and
    results have matching shapes.

    ```mlir
    %y = nn.repeat "layers" count 12
        carry(%h = %x : tensor<8x64xf32>)
        slice(%w = %ws : tensor<12x64x64xf32> to tensor<64x64xf32>)
        -> (tensor<8x64xf32>) {
      %z = nn.linear "fc"(%h, %w) : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
      nn.yield %z : tensor<8x64xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$path, DefaultValuedAttr<I64Attr, "0">:$first,
                       I64Attr:$count, UnitAttr:$reverse,
                       Variadic<NN_Tensor>:$carried, Variadic<NN_Tensor>:$sliced);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$path, "int64_t":$first,
      "int64_t":$count, "bool":$reverse, "::mlir::ValueRange":$carried,
      "::mlir::ValueRange":$sliced, "::mlir::TypeRange":$results)>];
  let extraClassDeclaration = [{
    unsigned getNumCarried() { return getCarried().size(); }
    ::mlir::Block::BlockArgListType getCarriedArgs() {
      return getBody().getArguments().take_front(getNumCarried());
    }
    ::mlir::Block::BlockArgListType getSliceArgs() {
      return getBody().getArguments().drop_front(getNumCarried());
    }
    ::mlir::ResultRange getCarriedResults() {
      return getResults().take_front(getNumCarried());
    }
    ::mlir::ResultRange getStackedResults() {
      return getResults().drop_front(getNumCarried());
    }
    ::mlir::Operation *getYield() { return getBody().front().getTerminator(); }
  }];
}

def NN_RecomputeOp : Op<NN_Dialect, "recompute", [SingleBlock, IsolatedFromAbove,
    RecursiveMemoryEffects]> {
  let summary = "recomputation of forward work in the backward pass";
  let description = [{
    The body is a copy of operations of the forward pass. It runs again in the
    backward pass, on the operands of `nn.recompute`. The body can't use values
    from outside (IsolatedFromAbove), so that common subexpression elimination
    does not replace the recomputed operations by those of the forward pass.

    **Constraints**: block arguments have the types of the operands, and yielded
    values have the types of the results.

    ```mlir
    %r = nn.recompute "layers[0]" (%h = %x : tensor<8x64xf32>) -> (tensor<8x64xf32>) {
      %y = nn.relu "act"(%h) : (tensor<8x64xf32>) -> tensor<8x64xf32>
      nn.yield %y : tensor<8x64xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$path, Variadic<NN_Tensor>:$inputs);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$path,
      "::mlir::ValueRange":$inputs, "::mlir::TypeRange":$results)>];
  let extraClassDeclaration = [{
    ::mlir::Operation *getYield() { return getBody().front().getTerminator(); }
  }];
}

def NN_YieldOp : Op<NN_Dialect, "yield", [Pure, Terminator,
    ParentOneOf<["RepeatOp", "RecomputeOp"]>]> {
  let summary = "terminator of the body of a repeat or recomputation";
  let description = [{
    In `nn.repeat`, the operation yields the carried values for the next
    iteration, followed by the values to stack. In `nn.recompute`, it yields the
    results.
  }];
  let arguments = (ins Variadic<NN_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{
    build($_builder, $_state, ::mlir::ValueRange());
  }]>];
}

#endif // PROTEUS_DIALECT_NN_NNSTRUCTUREOPS_TD
