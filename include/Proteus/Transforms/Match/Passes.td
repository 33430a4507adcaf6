//===- Passes.td - the strategy tree on operations ---------*- tablegen -*-===//
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
  let summary = "Write what the strategy tree says onto every operation";
  let description = [{
    The one pass that reads patterns and paths. Precondition: a model, a
    `strategy.tree` for it, and a cluster. For every forward operation it finds
    the settings of the nodes that select it (nearest wins, per iterator), and
    writes them onto the operation: axes per iterator (`strategy.op`), pipeline
    stage, recompute group; on parameters their storage, and that of their
    gradients and states. A result with a layout of its own is read through an
    `nn.keep` from here on. Repeats are cut where
    the tree treats their iterations differently or a stage ends, so that
    afterwards each repeat is treated as one. Operations that no node places join
    the stage of their producers, else of their readers. An axis of which the
    tree uses parts (`d:(1)2`) is first replaced by its parts, in the mesh and in
    the tree.

    A pattern that selects nothing, an iterator that no selected operation has,
    a `prefetch` or `offload` without anything to gather or to offload, and a mesh
    that names devices the cluster does not have are errors.

    ```mlir
    strategy.tree @s for @model { mesh [dp = 2]  split op [batch -> dp] }
    %y = nn.linear "fc"(%x, %w) : ...
    // becomes
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
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

#endif // PROTEUS_TRANSFORMS_MATCH_PASSES_TD
