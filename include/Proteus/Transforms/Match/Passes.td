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

    Finds for every forward operation the settings of the nodes that select it.
    For each iterator the innermost node wins. No later pass reads patterns or
    paths.

    - Repeats are cut where the tree treats their iterations differently and
      where a stage ends, so that all iterations of a repeat have the same
      settings.
    - An operation to which no node assigns a stage joins the stage of its
      producers, else that of its readers.
    - An axis of which the tree uses parts (`d:(1)2`) is first replaced by these
      parts, in the mesh and in the tree.
    - A stack (`proteus.stack`) adds its decisions to a tree that leaves them
      open.

    Errors are: a pattern that selects no operation, an iterator that no
    selected operation has, a `prefetch` or `offload` without effect, and a mesh
    with devices that the cluster does not have.

    **Output:** every forward operation has the settings of the tree as
    annotations: axes per iterator (`strategy.op`), pipeline stage and recompute
    group. Parameters have the storage of themselves, of their gradients and of
    their states. The readers of a result that has its own layout read it
    through an `nn.keep`.

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
