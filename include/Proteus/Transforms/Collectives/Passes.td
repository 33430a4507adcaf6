//===- Passes.td - layouts and collectives -----------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COLLECTIVES_PASSES_TD
#define PROTEUS_TRANSFORMS_COLLECTIVES_PASSES_TD

include "mlir/Pass/PassBase.td"

def InsertCollectives : Pass<"insert-collectives", "::mlir::func::FuncOp"> {
  let summary = "Put layouts into types and conversions between them";
  let description = [{
    Precondition: propagate-strategy has run. Every value gets a type with a
    layout. Where an operand has another layout than its operation needs, the
    cheapest sequence of collectives on the cluster of the module converts it,
    shared by all readers that follow; partial sums pass through linear
    operations unreduced. Values that another stage reads go through
    `dist.transfer`, in slices where the tree says `scatter_gather` and that is
    cheaper. Sums over micro-batches become
    `dist.accumulate` where the update reads them. A log-sum-exp that is split is
    decomposed first. An operation whose keys go round a ring becomes its steps,
    with `dist.shift` between them. The backward pass converts again what it
    reads, unless the forward pass has made that form and it is no larger than
    the value.

    ```mlir
    %1 = nn.linear "proj"(%0, %w) : ...        // `in` is split over tp
    %2 = nn.add "residual"(%x, %1) : ...
    // becomes
    %1 = nn.linear "proj"(%0, %w) : ... -> tensor<..., #partial>
    %2 = dist.all_reduce sum %1 over {tp} for activation : ...
    %3 = nn.add "residual"(%x, %2) : ...
    ```
  }];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

#endif // PROTEUS_TRANSFORMS_COLLECTIVES_PASSES_TD
