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

// The pass also has an option per field of a plan (Plan/PlanFields.def).
def ApplyStrategy : Pass<"apply-strategy", "::mlir::ModuleOp"> {
  let constructor = "::proteus::createApplyStrategy()";
  let summary = "Write a strategy tree for a model from a few degrees";
  let description = [{
    **Input:** a module with the forward graph of a model, and degrees as
    options. The splits follow from the graph, not from names of operations.

    The options are the fields of a plan, which [switches](switches.md) lists
    with their flags and values. They have the following effects:

    - `dp` splits the batch over devices. `micro-batches` cuts it into parts
      that run one after another.
    - `pp` cuts the repeated layers into stages. Repeated layers are an
      `nn.repeat`, or layers written out as `layers[0]`, `layers[1]`, .... A
      model may have several groups of them, such as those of an encoder and a
      decoder; all groups with matrix products are cut, in the order of the
      model. With `virtual-stages` every stage gets several runs of layers.
    - `tp` splits as Megatron-LM does. Three kinds of linears are split by
      columns (`out`): those that feed an attention or a product per head
      (`nn.matmul` of `[batch, head, ..]`), those that another linear reads
      through element-wise operations, and the linear that feeds the
      cross-entropy, unless that linear is already split by rows. Heads and the
      rows of the next linear then follow by propagation. The first matrix of an
      expert is split by columns too. Embeddings are split by `vocab`.
      Convolutions are not split.
    - `sp=true` splits the operations between a linear by rows and the next
      linear by columns (norms, dropout, residual additions and other
      element-wise operations) along the sequence, over the devices of `tp`.
    - `cp` splits sequences everywhere. `cp-kind` selects how attention gets the
      keys of other devices: `all-gather` gathers them, `ring` passes them from
      device to device, and `ulysses` splits attention by heads instead. With
      the first two, a causal sequence is distributed in a zigzag, so that all
      devices have the same work. This needs a sequence that 2 `cp` divides, or
      2 `cp` times `tp` with `sp`, and it is not possible with `sp` and
      `keep-gathered` together. Otherwise each device gets one contiguous part,
      and a remark states that the work is unbalanced.
    - `ep` splits the batch as `dp` does, except in `nn.expert_linear`, where it
      splits the experts. The slots of an expert are assigned to tokens in whole
      sequences, and are then split over `cp`. With `etp=1`, `tp` does not cut
      experts but distributes them as `ep` does.
    - `recompute=full` recomputes the repeated layers of all these groups one by
      one.
      `recompute=selective` recomputes only `nn.attention`, or if attention is
      written out, the module that contains its products and its softmax.
    - `zero=1` splits the states of the optimizer over the devices that hold
      copies of them: those of `dp` and `cp`, and of `ep` except for experts.
      `zero=2` splits the gradients as well, `zero=3` parameters, gradients and
      states. A tensor without a dimension that is large enough stays whole.
    - `zero-group` restricts these splits to groups of that many neighbouring
      devices on `dp`. Every group then holds a whole copy.
    - `prefetch` is the number of layers by which a gather of parameters may
      precede the layer that reads them. `reshard-after-forward=false` keeps
      gathered parameters until the backward pass. `overlap-parameters`, with
      `zero=1` or `zero=2`, stores parameters in the same layout as the states.
      The parameters are then gathered once per step, during the first forward
      pass instead of after the update.
    - `tensor-overlap`, `chunks` and `overlap-messages` select the kernels that
      overlap with communication (`strategy.overlap`). `scatter-messages`
      allows values to cross between stages in slices.
    - `offload-weight`, `offload-state` and `offload-activation` keep
      parameters, states and saved activations in host memory.
    - `place-tables=true` puts every embedding table (`nn.embedding_bag`) on
      one of the data-parallel devices. The tables are distributed so that all
      devices look up about equally many elements. Among devices with equally
      many lookups, a table goes to the one that stores the fewest elements.
    - `gradient-reduction`, `bucket-rule`, `bucket-size` and
      `first-bucket-size` select when gradients are reduced and in which
      buckets. `gather-bucket-size` and `gather-per-parameter` select the
      buckets in which updated parameters are gathered. `all-reduce-gradients`,
      with `zero=1`, sums whole gradients on every device, which then uses only
      its shard.
    - `stage-partition` selects the layers and operations of each stage:
      - `layers`: equally many layers per run. If the layers do not divide
        evenly, each of the first runs has one more. Layers of several groups
        differ, so each run gets about the same FLOPs, with the operations
        outside of layers.
      - `ends`: the operations before the layers count as one layer, and so do
        the operations after them. The first and the last run of layers
        therefore have one layer less.
      - `divisible`: as `ends` if the number of runs (stages times
        `virtual-stages`) divides the number of layers plus two but not the
        number of layers, else as `layers`.
      - `work`: balances the work of linears, whether in layers or in the head,
        in the order of the model. Of n stages, stage s (from 0) ends with the
        layer or operation at which the work from the start of the model exceeds
        (s + 1) / n of all work. The head is on the stage of the loss, so that
        no logits are sent between stages, unless the preceding stage would then
        be empty.
    - `keep-gathered=true` keeps the inputs of linears that the forward pass
      has gathered (`sp`) for the backward pass instead of gathering them
      again, except in layers that are recomputed.

    The axes of the mesh are `pp`, `dp`, `cp`, `ep`, `tp`, outermost first, as
    in Megatron-LM and DeepSpeed. Axes of size one are left out.

    Degrees that the model cannot use are errors: heads that `tp` does not
    divide, more stages than layers, fewer experts than `ep`, a batch or a
    sequence that does not divide into equal parts, and micro-batches that do
    not fit interleaved stages.

    **Output:** the module with a new `strategy.tree` after the model, which a
    person can read and edit. The model is unchanged.

    ```mlir
    // Input: @gpt, with --apply-strategy="dp=2 tp=4 pp=2 micro-batches=8 recompute=full"
    // Output:
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
