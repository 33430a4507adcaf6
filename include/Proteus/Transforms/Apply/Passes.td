//===- Passes.td - a strategy tree from degrees ------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_APPLY_PASSES_TD
#define PROTEUS_TRANSFORMS_APPLY_PASSES_TD

include "mlir/Pass/PassBase.td"

// Its other options are the fields of a plan (Plan/PlanFields.def).
def ApplyStrategy : Pass<"apply-strategy", "::mlir::ModuleOp"> {
  let constructor = "::proteus::createApplyStrategy()";
  let summary = "Write a strategy tree for a model from a few degrees";
  let description = [{
    Writes a `strategy.tree` that combines data, tensor, sequence, context, expert
    and pipeline parallelism, beside the model and for a person to read and edit. What is split follows
    from the graph, not from names:

    - `dp` splits the batch, `micro-batches` cut it in time.
    - `pp` cuts the repeated layers with the most work into stages: an
      `nn.repeat`, or layers written out as `layers[0]`, `layers[1]`, ...; with
      `virtual-stages` every stage gets several runs of them.
    - `tp` splits as Megatron-LM does: the linears that feed an attention, or a
      product per head (`nn.matmul` of `[batch, head, ..]`), and each linear that
      another one reads through element-wise operations, by columns (`out`), so
      that heads and the rows of the next linear follow by propagation; embeddings by `vocab`; the linear that feeds the cross-entropy
      by `out`, unless it is split by rows already. The
      first matrix of an expert is split by columns too. Convolutions are
      data-parallel only.
    - `sp=true` splits what lies between a linear by rows and the next one by
      columns (norms, dropout, residual additions and other element-wise
      operations) along the sequence, over `tp` as well.
    - `cp` splits sequences everywhere. `cp-kind` says how attention gets at the
      keys of others: `all-gather` gathers them, with `ring` they go round the
      devices, with `ulysses` attention is split by heads instead. Causal
      sequences are dealt out in a zigzag where 2 `cp` divides them, and `sp` does
      not cut the parts further; else a remark says that work is unbalanced.
    - `ep` splits the batch as `dp` does, and places experts: on its devices each
      `nn.expert_linear` is split by experts, not by the batch. Tokens find their
      slots in whole sequences; the slots are split over `cp`. With
      `whole-experts=true` `tp` does not cut experts, but places them as `ep` does.
    - `recompute=full` recomputes those repeated layers one by one,
      `recompute=selective` only `nn.attention`, or where attention is written
      out, the module in which its products and softmax are.
    - `zero=1` splits the states of the optimizer over the devices that have
      copies of them too (`dp`, `cp`, and `ep` but for experts), `zero=2` the
      gradients as well, `zero=3` parameters, gradients and states, where a
      dimension is large enough.
    - `zero-group` splits over groups of so many neighbours on `dp` instead of all
      of them; every group has a whole copy.
    - `prefetch` says how many layers ahead parameters are gathered,
      `reshard-after-forward=false` keeps them until the backward pass.
      `overlap-parameters`, with `zero=1` or `zero=2`, stores parameters as the
      states are and gathers them once per step, during the first forward pass,
      and not behind the update.
    - `tensor-overlap`, `chunks` and `overlap-messages` say what communication runs
      beside which kernels (`strategy.overlap`); `scatter-messages` lets values
      cross between stages in slices.
    - `offload-weight`, `offload-state` and `offload-activation` keep those in
      host memory.
    - `place-tables=true` puts every embedding table (`nn.embedding_bag`) on one
      of the data-parallel devices, so that each holds about as much.
    - `bucket-size`, `first-bucket-size` and `bucket-per-layer` say how gradients
      are gathered for their reduction, `gather-bucket-size` how updated parameters
      are; `all-reduce-gradients`, with `zero=1`, sums whole gradients, of which
      every device then takes its part.
    - `stage-partition` says what stages have. With `layers` equally many, the
      first ones one more where they do not divide; with `ends` what is before
      the layers and what is behind them counts as a layer each, so that the
      first and the last run have one less; `divisible` is `ends` where that
      divides and `layers` does not. `work` counts the work of linears, layers
      and head alike, in the order of the model: a stage ends with the layer or
      operation at which its share of the work is exceeded; the head is on the
      stage of the loss, so that no logits cross.
    - `keep-gathered=true` keeps inputs of linears that the forward pass has
      gathered (`sp`) for the backward pass instead of gathering them again,
      but not in layers that are recomputed.

    The axes of the mesh are `pp`, `dp`, `cp`, `ep`, `tp`, outermost first, as
    Megatron-LM and DeepSpeed place ranks. Axes of size one are left out. Degrees that the model can't use are errors: heads that
    `tp` does not divide, more stages than layers, fewer experts than `ep`, a batch
    or a sequence that does not divide into equal parts, micro-batches that interleaved stages
    can't share.

    ```mlir
    // --apply-strategy="dp=2 tp=4 pp=2 micro-batches=8 recompute=full" writes
    strategy.tree @s for @gpt {
      mesh [pp = 2, dp = 2, tp = 4]
      schedule micro_batches = 8 order = "1f1b"
      split op [batch -> dp]
      node "embedding" { split op [vocab -> tp] }
      node "layers[*]" {
        stages pp
        recompute
        node "attention.qkv" { split op [out -> tp] }
        node "mlp.fc1" { split op [out -> tp] }
      }
      node "head" { split op [out -> tp] }
    }
    ```
  }];
  let options = [
    Option<"model", "model", "std::string", "",
           "The function to write a tree for, where there are several (@name)">,
    Option<"name", "name", "std::string", "\"s\"", "The name of the tree">
  ];
  let dependentDialects = ["::proteus::strategy::StrategyDialect"];
}

#endif // PROTEUS_TRANSFORMS_APPLY_PASSES_TD
