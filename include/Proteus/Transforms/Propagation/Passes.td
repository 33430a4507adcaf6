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
  let summary = "Peel the first iteration of layers that change a layout";
  let description = [{
    Precondition: match-strategy has run, gradients are not built. All
    iterations of a repeat are split alike, so a carried value must enter each
    in the same layout. Where propagation shows that a body leaves it in another
    layout than it finds it, the first iteration becomes a repeat of its own and
    the others carry the new layout. A repeat that can't be cut, or that changes
    the layout in every iteration, is left alone: the value is converted back at
    the end of each iteration.

    ```mlir
    nn.repeat "layers" count 12 carry(%h = %x : ...)
    // becomes, if the body splits %h by sequence and %x is whole
    %0 = nn.repeat "layers" count 1 carry(%h = %x : ...)
    nn.repeat "layers" first 1 count 11 carry(%h = %0 : ...)
    ```
  }];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

def PropagateStrategy : Pass<"propagate-strategy", "::mlir::func::FuncOp"> {
  let summary = "Spread axes along the data flow to every operation and argument";
  let description = [{
    Precondition: match-strategy has run. An iterator that the tree does not set
    takes the axes that an operand's dimension has, then those its first reader
    wants, if it is splittable, the axes are not used otherwise in the
    operation, and there are enough elements; first come, first served, until
    nothing changes. Parameters are stored as their first reader uses them,
    unless the tree says otherwise; updates follow the state of the optimizer.
    The batch, followed from the inputs, is split over micro-batches first.

    Postcondition: `strategy.op` of every operation is complete, and every
    argument has a layout (`strategy.layout`). An axis on two iterators (but for
    those that go round a ring), a zigzag of unequal chunks, a split of an opaque iterator and more parts than elements are errors; all offenders
    are listed, and so is a strategy that splits nothing. An axis that nothing
    is split over gets a warning. Where two operands bring different axes for an
    iterator that the tree does not set, a remark says which one it follows and
    which one is converted. With `explain`, a remark per operation says how it is
    split and why. docs/propagation.md states the order of precedence.

    ```mlir
    %1 = nn.relu "act"(%0) : ...    // %0 is split [batch -> dp, hidden -> tp]
    // becomes
    %1 = nn.relu "act"(%0) {strategy.op = #strategy.partition<[batch -> dp, hidden -> tp]>} : ...
    ```
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Say by a remark on every operation how it is split and why">
  ];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

#endif // PROTEUS_TRANSFORMS_PROPAGATION_PASSES_TD
