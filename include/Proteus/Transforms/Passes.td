//===- Passes.td - the passes of Proteus -------------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_PASSES_TD
#define PROTEUS_TRANSFORMS_PASSES_TD

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

def BuildTrainingStep : Pass<"build-training-step", "::mlir::func::FuncOp"> {
  let summary = "Add gradients and parameter updates to a forward graph";
  let description = [{
    Precondition: a function with the attribute `nn.training` that returns one
    scalar loss, every argument with a role. Postcondition: the function returns
    (loss, new parameters, new states); results say which argument they replace
    (`nn.updates`). Optimizer states become arguments. Operations are marked as
    forward, backward or update. A repeat gets a backward repeat that runs in
    reverse and reads forward values as slices of stacks. Operations in a
    recompute group are repeated in an `nn.recompute` in front of their gradients.
    With `clip` or `loss_scale`, numbers about all gradients are put together, per
    stage and from stage to stage, into one factor that all updates apply.
    A function without `nn.training` is left as it is: a forward-only program.

    ```mlir
    %y = nn.linear "fc"(%x, %w) : ...
    // adds
    %dw = nn.linear_wgrad "fc"(%dy, %x) : ...
    %new = nn.sgd "fc.weight"(%w, %dw) : ...
    ```
  }];
  let dependentDialects = ["::proteus::nn::NNDialect"];
}

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

def SplitStages : Pass<"split-stages", "::mlir::ModuleOp"> {
  let summary = "Turn the step into one program per pipeline stage";
  let description = [{
    Precondition: insert-collectives has run. Each stage becomes a
    `dist.program` whose sections are the forward and backward work of its chunks
    and the update; transfers become a send in one program and a receive in the
    other. Where the schedule splits gradients, the backward of a chunk becomes
    two sections: what the stage in front waits for, and the rest; a repeat that
    computes both is cut in two. The function and its strategy trees are gone
    afterwards.

    ```mlir
    func.func @model(...) { forward...; backward...; update... }
    // becomes
    dist.program @model_stage0 ... {
      %f = dist.section forward { ... dist.send %a to stage 1 tag 0 : ... }
      ...
    }
    ```
  }];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

def FuseGradients : Pass<"fuse-gradients", "::proteus::dist::ProgramOp"> {
  let summary = "Reduce gradients in buckets as they become ready";
  let description = [{
    Replaces the gradient reductions of the update section by one
    `dist.fused_reduce` per kind, axes and element type. Gradients fill buckets in
    the order in which the backward section computes them, repeats written out; a
    bucket closes when it has reached its size. The first bucket may be smaller,
    so that communication starts early. With `per_layer` a bucket also closes
    where a layer ends. What is reduced a second time over other devices, as ZeRO
    does over its groups, is reduced in the same buckets. Sizes come from the `bucket` of the tree;
    options override it; without either they are those of PyTorch's
    DistributedDataParallel.

    ```mlir
    %a = dist.all_reduce sum %g0 over {dp} for gradient : ...
    %b = dist.all_reduce sum %g1 over {dp} for gradient : ...
    // becomes
    %r:2 = dist.fused_reduce all_reduce sum %g1, %g0 over {dp} ... buckets [[0[0:1], 1[0:1]]]
    ```
  }];
  let options = [
    Option<"bucketSize", "bucket-size", "int64_t", "0",
           "Bytes at which a bucket closes; 0: as the tree says, else 26214400">,
    Option<"firstBucketSize", "first-bucket-size", "int64_t", "0",
           "Bytes at which the first bucket closes; 0: as the tree says, else "
           "1048576">
  ];
}

def FuseExchanges : Pass<"fuse-exchanges", "::proteus::dist::ProgramOp"> {
  let summary = "Make one all-to-all of values that leave or reach single places";
  let description = [{
    Values at single places (`at` in the tree) are dealt out with `dist.scatter`
    and collected with `dist.gather`, one by one. Those of a block that run over
    the same axes and need not wait for each other become one `dist.exchange`.

    ```mlir
    %2 = dist.scatter %0 dim 0 over {dp} : ...    // from dp = 0
    %3 = dist.scatter %1 dim 0 over {dp} : ...    // from dp = 1
    // becomes
    %2:2 = dist.exchange %0, %1 over {dp} : ...
    ```
  }];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

def ChunkProducts : Pass<"chunk-products", "::proteus::dist::ProgramOp"> {
  let summary = "Cut products so that they run beside their communication";
  let description = [{
    Where the tree says `overlap tensor = "chunked"`, products whose operand is
    gathered over devices, or whose result is summed up over devices, are cut
    along the rows, with their collective: a chunk is gathered while the one in
    front of it is computed, or summed while the next one is. Every device cuts
    its own part, so that parts stay where they are. What reads the gathered
    operand otherwise, as the gradient of the weight does, reads all chunks. The
    gradient of an input is not cut in front of its sum if the product for the
    weight's gradient can run beside the sum. Rows that chunks do not divide are
    left alone; a remark tells how often.

    Gathering and scattering go by user buffers (`proteus.exchange`), products by
    one call for all chunks (`proteus.pieces`): [switches](switches.md).

    ```mlir
    %1 = dist.all_gather %0 dim 1 over {tp} : ...
    %2 = nn.linear "fc1"(%1, %w) : ...
    // becomes
    %3 = dist.chunk %0 dim 1 index 0 of 2 groups 8 : ...
    %4 = dist.all_gather %3 dim 1 over {tp} : ...
    %5 = dist.chunk %0 dim 1 index 1 of 2 groups 8 : ...
    %6 = dist.all_gather %5 dim 1 over {tp} : ...
    %7 = nn.linear "fc1"(%4, %w) : ...
    %8 = nn.linear "fc1"(%6, %w) : ...
    %2 = dist.join %7, %8 dim 1 groups 8 : ...
    ```
  }];
  let options = [
    Option<"chunks", "chunks", "int64_t", "0",
           "Into how many; 0: as the tree says, or as many as devices gather">
  ];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

def SchedulePipeline : Pass<"schedule-pipeline", "::mlir::ModuleOp"> {
  let summary = "Order the micro-batches of every stage";
  let description = [{
    Writes a `dist.schedule`: per program the order in which its sections run,
    as the comparator of the tree's order sorts them, or as the tree lists them.
    With `gpipe` and `1f1b` a stage runs forwards until as many micro-batches as
    its limit are in flight, then one backward per forward. The limit is the
    number of micro-batches for `gpipe`, the number of stages from this one to the
    last for `1f1b`, and never more than `max_ongoing`. `interleaved` counts
    (chunk, micro-batch) pairs instead, in groups of as many micro-batches as there
    are stages, and fills the pipeline with all chunks first. `zero-bubble` is
    `1f1b` on the gradients that others wait for; stage s runs the rest s
    micro-batches later. An order that the tree lists must be complete, in causal
    order, and within `max_ongoing`; items that a program has no work for are left
    out, and a backward that can't be split runs in place of the gradients that
    others wait for, as it does with `zero-bubble`. A schedule that is already
    there stands.

    ```mlir
    dist.schedule @schedule programs [@model_stage0, @model_stage1] order [
      [F0, F1, B0, B1, U],
      [F0, B0, F1, B1, U]
    ]
    ```
  }];
}

def Simulate : Pass<"simulate", "::mlir::ModuleOp"> {
  let summary = "Predict throughput and memory, and annotate the module";
  let description = [{
    Precondition: the module is lowered (`lower-strategy`) and names a cluster.
    Repeats are written out, ranks that do the same thing are simulated once, and
    the discrete-event engine executes the schedule. The module gets the
    attributes `proteus.iteration_time_ms`, `proteus.samples_per_second`,
    `proteus.peak_memory_mb` (10⁶ bytes, worst device) and `proteus.fits`: whether
    what the allocator reserves, the framework and the communication library fit
    on every device.

    If remarks of the category `proteus-simulate` are enabled, every operation of
    the programs gets one that tells what it costs. `docs/views.md` explains the
    report, the trace and the remarks.

    With `fidelity=paper` kernels and collectives cost what the published rules of
    the original say, communication has its two queues, and only gradients and
    kernels slow each other; docs/reference.md lists the rules. Clusters that these
    rules do not know are an error.

    ```mlir
    module attributes {proteus.cluster = "dgx-a100"} { dist.program ... dist.schedule ... }
    // becomes
    module attributes {proteus.cluster = "dgx-a100", proteus.fits = true, proteus.iteration_time_ms = 23.1 : f64, ...} { ... }
    ```
  }];
  let options = [
    Option<"cluster", "cluster", "std::string", "",
           "Preset or JSON file that replaces the attribute proteus.cluster">,
    Option<"stack", "stack", "std::string", "",
           "Name, JSON file or JSON text that replaces proteus.stack">,
    Option<"site", "site", "std::string", "",
           "Name, JSON file or JSON text that replaces proteus.site">,
    Option<"report", "report", "std::string", "", "Write a JSON report here">,
    Option<"trace", "trace", "std::string", "",
           "Write a Chrome/Perfetto trace here">,
    Option<"fold", "fold", "::proteus::Fold", "::proteus::Fold::All",
           "What is simulated once; the result is the same",
           [{::llvm::cl::values(
             clEnumValN(::proteus::Fold::None, "none", "nothing"),
             clEnumValN(::proteus::Fold::Ranks, "ranks",
                        "ranks that do the same thing at the same time"),
             clEnumValN(::proteus::Fold::All, "all",
                        "and the steady state of a pipeline"))}]>,
    Option<"fidelity", "fidelity", "::proteus::Fidelity", "::proteus::Fidelity::Flow",
           "Whose rules and costs",
           [{::llvm::cl::values(
             clEnumValN(::proteus::Fidelity::Flow, "flow", "ours"),
             clEnumValN(::proteus::Fidelity::Paper, "paper",
                        "those of the original Proteus (docs/reference.md)"))}]>,
    Option<"share", "share", "::proteus::Switch", "::proteus::Switch::On",
           "Whether flows share links; off: each has them for itself",
           [{::llvm::cl::values(
             clEnumValN(::proteus::Switch::On, "on", "they do"),
             clEnumValN(::proteus::Switch::Off, "off", "they do not"))}]>,
    Option<"overlap", "overlap", "::proteus::Switch", "::proteus::Switch::On",
           "Whether kernels and communication beside each other slow down",
           [{::llvm::cl::values(
             clEnumValN(::proteus::Switch::On, "on", "they do"),
             clEnumValN(::proteus::Switch::Off, "off", "they do not"))}]>,
    Option<"overlapFactor", "overlap-factor", "double", "-1",
           "Kernels and communication beside each other take 1 + this many times "
           "as long; default: what the device says">,
    Option<"kernels", "kernels", "::proteus::KernelModel",
           "::proteus::KernelModel::Fitted", "Where the times of kernels come from",
           [{::llvm::cl::values(
             clEnumValN(::proteus::KernelModel::Fitted, "fitted",
                        "models fitted to measurements"),
             clEnumValN(::proteus::KernelModel::Roofline, "roofline",
                        "peak rates of the datasheet: lower bounds"))}]>,
    ListOption<"profiles", "profile", "std::string",
               "Files with measured kernels (docs/profiles.md)">,
    Option<"collectiveError", "collective-error", "double", "0.15",
           "Mean relative error of exposed communication, for the interval">,
    Option<"stackError", "stack-error", "double", "-1",
           "Mean relative error of what is not modelled, for the interval; "
           "default: what the stack says">,
    Option<"cudaGraphs", "cuda-graphs", "bool", "false",
           "The host launches a step as one graph: no time per kernel">,
    Option<"tf32", "tf32", "bool", "false",
           "Matrix units take f32 in TF32, where devices have it">,
    Option<"channelMiB", "channel-mib", "double", "14",
           "Device memory that the communication library takes per channel of a connection">,
    Option<"channels", "channels", "int64_t", "24",
           "Channels of a communicator's rings">,
    Option<"exchangeChannels", "exchange-channels", "int64_t", "32",
           "Channels of an all-to-all to each peer in the node">,
    Option<"messageChannels", "message-channels", "int64_t", "2",
           "Channels to each peer of other messages">,
    Option<"bucketCopies", "bucket-copies", "bool", "false",
           "Gradients are copied into buckets that live beside them">,
    Option<"criticalPath", "critical-path", "bool", "false",
           "Find out what the step waited for; nothing of it is skipped then">,
    Option<"summary", "summary", "bool", "false",
           "Print a summary to standard output">
  ];
}

def VerifyPhase : Pass<"verify-phase", "::mlir::ModuleOp"> {
  let summary = "Check what a phase of the lowering promises to the next";
  let description = [{
    Lists every offender at its location and changes nothing. `lower-strategy`
    runs it after each of its passes.

    - `matched`: every argument has a role; in a pipeline every operation has a
      stage.
    - `step`: every parameter is updated, every operation has a phase.
    - `propagated`: every operation has a partition, every argument a layout.
    - `collectives`: the layout of every operand is the one that the partition of
      its operation asks for, the layout of every result the one it gives.
    - `programs`: messages have two ends of one type.
    - `schedule`: executed without time, the schedule runs to its end.

    ```mlir
    %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // after=propagated: error: 'nn.relu' op has no partition
    ```
  }];
  let options = [
    Option<"after", "after", "::proteus::LoweringPhase",
           "::proteus::LoweringPhase::Matched", "The phase that has ended",
           [{::llvm::cl::values(
             clEnumValN(::proteus::LoweringPhase::Matched, "matched", "match-strategy"),
             clEnumValN(::proteus::LoweringPhase::Step, "step", "build-training-step"),
             clEnumValN(::proteus::LoweringPhase::Propagated, "propagated", "propagate-strategy"),
             clEnumValN(::proteus::LoweringPhase::Collectives, "collectives", "insert-collectives"),
             clEnumValN(::proteus::LoweringPhase::Programs, "programs", "split-stages"),
             clEnumValN(::proteus::LoweringPhase::Schedule, "schedule", "schedule-pipeline"))}]>
  ];
}

def CheckLowering : Pass<"check-lowering", "::mlir::ModuleOp"> {
  let summary = "Execute a model before and after its lowering and compare";
  let description = [{
    Precondition: a small model with its strategy tree and a cluster, neither
    matched nor lowered. A copy of the model with gradients and updates is
    executed on whole tensors; another one goes through `lower-strategy` and is
    executed on one block per rank, with collectives and messages that move real
    data in the order of the schedule. Both get the same random inputs and
    parameters; states of the optimizer are zero, master copies those of their
    parameter. Everything is computed in double precision.

    Compared are the loss, every updated parameter and every updated state, by
    path. A difference is an error that names the path, the index and both
    values; otherwise a remark tells how much was compared. The module is left
    as it is.

    ```
    remark: lowering of @mlp is right: 1234 values of 5 tensors agree, largest relative difference 2.1e-16
    ```
  }];
  let options = [
    Option<"strategy", "strategy", "std::string", "",
           "The tree to use, where there are several (@name)">,
    Option<"cluster", "cluster", "std::string", "",
           "Preset or JSON file that replaces the attribute proteus.cluster">,
    Option<"seed", "seed", "uint64_t", "0",
           "Start of the random inputs and parameters">,
    Option<"tolerance", "tolerance", "double", "1e-9",
           "Largest difference, relative to the largest value of the tensor">
  ];
  let dependentDialects = ["::proteus::dist::DistDialect",
                           "::proteus::nn::NNDialect"];
}

def UnrollRepeats : Pass<"unroll-repeats", "::mlir::func::FuncOp"> {
  let summary = "Write out every iteration of repeated layers";
  let description = [{
    Replaces each `nn.repeat` by its iterations, stacked arguments by one argument
    per iteration, with the indices in the paths. The flat form simulates
    exactly like the repeated one as long as all layers can be split alike. It
    differs where the body of a repeat that can't be cut leaves a carried value in
    another layout than it found it (see `settle-repeats`), where a body captures
    a parameter that is stored in parts (the repeated form gathers it for each
    layer) or a value that goes to the host, where several repeats on a stage
    capture one value (each sums its gradient by itself), where the update
    changes the layout of parameters in other ways than by gathering them (the
    repeated form does so for all layers at once) and in repeats inside repeats
    (whose layers share a bucket).

    ```mlir
    nn.repeat "layers" count 2 carry(%h = %x : ...) slice(%w = %ws : ...) { %y = nn.linear "fc"(%h, %w) ... }
    // becomes
    %0 = nn.linear "layers[0].fc"(%x, %w0) ...
    %1 = nn.linear "layers[1].fc"(%0, %w1) ...
    ```
  }];
}

#endif // PROTEUS_TRANSFORMS_PASSES_TD
