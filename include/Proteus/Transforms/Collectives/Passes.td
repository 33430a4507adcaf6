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
  let summary = "Put layouts into types and insert collectives";
  let description = [{
    **Input:** a function whose operations have partitions and whose arguments
    have layouts, as `propagate-strategy` leaves it, in a module with a cluster.

    Gives every value a type with a layout. If an operand has another layout
    than its operation needs, the cheapest sequence of collectives on the
    cluster converts it. Readers of the same phase that need the same layout
    share the conversion. A sum that is pending in all operands of a linear
    operation, such as an addition, stays pending in its result.

    - A value that another stage reads goes through a `dist.transfer`. With the
      setting `scatter_gather` it is sent in slices if that is cheaper.
    - A sum over micro-batches becomes a `dist.accumulate` before the update
      reads it.
    - If an iterator with a compound reduction, such as log-sum-exp, is split,
      its operation is first decomposed into operations with simple reductions.
    - An operation with a `ring` split becomes one operation per block of the
      ring. Between two of them, a `dist.shift` passes the blocks to the next
      device.
    - The backward pass does not reuse a conversion of the forward pass if the
      converted value is larger than the original one, because the larger value
      would occupy memory until the backward pass. The backward pass converts
      the original value again.

    **Output:** every value has a layout, and every operand has the layout that
    the partition of its operation requires.

    ```mlir
    // Input:
    %1 = nn.linear "proj"(%0, %w) : ...        // `in` is split over tp
    %2 = nn.add "residual"(%x, %1) : ...
    // Output:
    %1 = nn.linear "proj"(%0, %w) : ... -> tensor<..., #partial>
    %2 = dist.all_reduce sum %1 over {tp} for activation : ...
    %3 = nn.add "residual"(%x, %2) : ...
    ```
  }];
  let dependentDialects = ["::proteus::dist::DistDialect",
                           "::proteus::strategy::StrategyDialect"];
}

#endif // PROTEUS_TRANSFORMS_COLLECTIVES_PASSES_TD
