//===- Passes.td - partitions along the data flow ----------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_PROPAGATION_PASSES_TD
#define PROTEUS_TRANSFORMS_PROPAGATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def SettleRepeats : Pass<"settle-repeats", "::mlir::func::FuncOp"> {
  let summary = "Peel the first iteration of repeats that change a layout";
  let description = [{
    **Input:** a function that match-strategy has annotated, before
    build-training-step adds gradients. A function without a mesh is left
    unchanged.

    All iterations of a repeat are split alike, so a carried value must enter
    each iteration in the same layout. But the body may leave a carried value in
    another layout than the one in which the value entered. The pass then cuts
    off the first iteration as a repeat of its own. The other iterations start
    from the new layout. If they still change the layout, or if the repeat
    cannot be cut, the value is converted back at the end of each iteration.

    **Output:** in every repeat of several iterations, carried values leave an
    iteration in the layout in which they enter it, with the two exceptions
    above.

    ```mlir
    // Input: the body splits %h by sequence, and %x is whole
    nn.repeat "layers" count 12 carry(%h = %x : ...)
    // Output:
    %0 = nn.repeat "layers" count 1 carry(%h = %x : ...)
    nn.repeat "layers" first 1 count 11 carry(%h = %0 : ...)
    ```
  }];
  let dependentDialects = ["::proteus::dist::DistDialect",
                           "::proteus::strategy::StrategyDialect"];
}

def PropagateStrategy : Pass<"propagate-strategy", "::mlir::func::FuncOp"> {
  let summary = "Propagate axes along the data flow to all operations";
  let description = [{
    **Input:** a function that match-strategy has annotated, after
    build-training-step if the model is trained. A function without a mesh is
    left unchanged.

    An iterator that the tree does not set takes the axes of the operand
    dimension that it indexes. If the operands have no axes for it, it takes the
    axes that the first reader of the result needs. It takes axes only if it is
    splittable, if none of the axes splits another iterator of the operation,
    and if there is an element for every part. Axes that an iterator has taken
    never change. The pass ends when no iterator can take axes any more.

    Parameters are stored in the layout that their first reader needs, unless
    the tree sets another one. Updates take the layout of the states of the
    optimizer. At the end, the batch is cut into micro-batches: the axis `micro`
    is added to the axes of the batch, before all device axes.

    Errors are: an axis on two iterators (except with a ring), a zigzag of
    unequal chunks, a split of an opaque iterator, more parts than elements, and
    a strategy that splits nothing. If several operations have the same fault,
    one error reports the fault and the number of these operations. An axis over
    which nothing is split gets a warning. An operand is converted if it has
    other axes for an iterator than those that the iterator has taken. In the
    forward pass, a remark then names this operand, and the operand or reader
    from which the iterator has taken its axes. With `explain`, a remark on each
    operation states its splits and their origin. docs/propagation.md states the
    order of precedence.

    **Output:** the partition (`strategy.op`) of every operation is complete,
    and every argument has a layout (`strategy.layout`).

    ```mlir
    // Input:
    %1 = nn.relu "act"(%0) : ...    // %0 is split [batch -> dp, hidden -> tp]
    // Output:
    %1 = nn.relu "act"(%0) {strategy.op = #strategy.partition<[batch -> dp, hidden -> tp]>} : ...
    ```
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Emit a remark on every operation: its splits and their origin">
  ];
  let dependentDialects = ["::proteus::dist::DistDialect",
                           "::proteus::strategy::StrategyDialect"];
}

#endif // PROTEUS_TRANSFORMS_PROPAGATION_PASSES_TD
