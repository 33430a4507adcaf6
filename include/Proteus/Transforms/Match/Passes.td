//===- Passes.td - annotations from a strategy tree --------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_MATCH_PASSES_TD
#define PROTEUS_TRANSFORMS_MATCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def MatchStrategy : Pass<"match-strategy", "::mlir::ModuleOp"> {
  let summary = "Annotate operations and arguments with the settings of a tree";
  let description = [{
    **Input:** a module with a model, a `strategy.tree` for it, and a cluster.

    Annotates every forward operation with the settings of the nodes that select
    it. If several nodes split the same iterator, the innermost node wins. Later
    passes read the annotations, but no patterns or paths.

    - Repeats are cut where the tree treats their iterations differently and
      where a stage ends, so that all iterations of a repeat have the same
      settings.
    - An operation to which no node assigns a stage gets the stage of its
      producers, else that of its readers.
    - If the tree uses a part of an axis, such as `d:(1)2`, the axis is first
      replaced by its parts, in the mesh and in the tree.
    - Decisions that the tree leaves open are added from the stack
      (`proteus.stack`).

    Errors are: a pattern that selects no operation, an iterator that no
    selected operation has, a `prefetch` or `offload` without effect, and a mesh
    with devices that the cluster does not have.

    **Output:** every forward operation has the settings of the tree as
    annotations: axes per iterator (`strategy.op`), pipeline stage and recompute
    group. Parameters have the layouts in which they, their gradients and their
    states are stored. If the tree sets a layout for a result, the readers of
    the result read it through an `nn.keep`.

    ```mlir
    // Input:
    strategy.tree @s for @model { mesh [dp = 2]  split op [batch -> dp] }
    %y = nn.linear "fc"(%x, %w) : ...
    // Output:
    %y = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[batch -> dp]>} : ...
    ```
  }];
  let options = [
    Option<"strategy", "strategy", "std::string", "",
           "The tree to use, where there are several (@name)">,
    Option<"cluster", "cluster", "std::string", "",
           "Preset or JSON file that replaces the attribute proteus.cluster">,
    Option<"stack", "stack", "std::string", "",
           "Name, JSON file or JSON text that replaces proteus.stack">
  ];
  let dependentDialects = ["::proteus::dist::DistDialect",
                           "::proteus::strategy::StrategyDialect"];
}

#endif // PROTEUS_TRANSFORMS_MATCH_PASSES_TD
