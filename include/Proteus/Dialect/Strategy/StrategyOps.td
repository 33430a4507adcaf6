//===- StrategyOps.td - operations of the strategy dialect -*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_STRATEGY_STRATEGYOPS_TD
#define PROTEUS_DIALECT_STRATEGY_STRATEGYOPS_TD

include "Proteus/Dialect/Strategy/StrategyAttrs.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class Strategy_Op<string mnemonic, list<Trait> traits = []>
    : Op<Strategy_Dialect, mnemonic, traits>;

/// A setting that may stand in the tree and in any node.
class Strategy_SettingOp<string mnemonic, list<Trait> traits = []>
    : Strategy_Op<mnemonic,
                  traits # [ParentOneOf<["TreeOp", "NodeOp"]>]>;

//===----------------------------------------------------------------------===//
// The tree
//===----------------------------------------------------------------------===//

def Strategy_TreeOp : Strategy_Op<"tree", [
    IsolatedFromAbove, NoRegionArguments, OpAsmOpInterface, Symbol,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>
  ] # GraphRegionNoTerminator.traits> {
  let summary = "A parallelization strategy for one model";
  let description = [{
    Names the model, a `func.func` of the same module, and holds the settings
    that apply to all of it and the nodes that refine them. The tree itself
    selects every operation of the model.

    **Constraints**
    - `for` names a `func.func` of the enclosing symbol table.
    - The body holds operations of this dialect only, exactly one `mesh` among
      them, and each of `schedule`, `bucket`, `scatter_gather`, `overlap`,
      `recompute`, `prefetch`, `offload` and `at` at most once, one `split` per
      item, and one `order` per stage.
    - `order` is there if and only if the schedule is `"explicit"`.
    - Axes that `split`, `at` and `stages` name anywhere in the tree are axes of
      its mesh; coordinates of `at` lie on their axis.
    - A sub-axis `d:(p)s` divides its axis: p * s divides the size of d. All
      sub-axes of an axis fit one way to cut it: of any two prefixes, one
      divides the other.

    ```mlir
    strategy.tree @data_parallel for @resnet50 {
      mesh [dp = 8]
      split op [batch -> dp]
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$model);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `for` $model attr-dict-with-keyword $body
  }];
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
                                 "::llvm::StringRef":$model)>];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDefaultDialect() { return "strategy"; }

    /// The mesh of the tree; a verified tree has one.
    MeshOp getMesh();
    /// The schedule; null if none is set.
    ScheduleOp getSchedule();
    /// The gradient buckets; null if none are set.
    BucketOp getBucket();
    /// The leave to slice transfers; null if it is not given.
    ScatterGatherOp getScatterGather();
    /// What runs beside what; null if nothing is said.
    OverlapOp getOverlap();
  }];
}

def Strategy_NodeOp : Strategy_SettingOp<"node", [
    NoRegionArguments, OpAsmOpInterface
  ] # GraphRegionNoTerminator.traits> {
  let summary = "Settings for the operations that a path pattern selects";
  let description = [{
    The pattern is a sequence of components separated by dots, relative to the
    enclosing node. A component is a name or `*`, optionally with an index
    `[3]`, a range `[0:12]` (its end exclusive) or `[*]`; without an index it
    matches a module with or without one. The component `**` matches any number
    of components, none included.

    A node selects an operation when its pattern, joined by dots to the patterns
    around it, matches the path of the operation or a prefix of that path:
    `layers[*]` selects all that is below `layers[3]`. Whether a pattern selects
    anything depends on the model and is not checked here.

    **Constraints**
    - It stands in a tree or a node.
    - The pattern is well-formed.
    - The body holds operations of this dialect only: each of `recompute`,
      `prefetch`, `offload`, `at` and `stages` at most once, not both `at` and
      `stages`, and one `split` per item.

    ```mlir
    node "layers[0:12].attention" {
      split op [head -> tp]
      node "qkv" {
        split weight [0 -> dp]
      }
    }
    ```
  }];
  let arguments = (ins StrAttr:$pattern);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$pattern attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$pattern)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDefaultDialect() { return "strategy"; }

    /// The pattern from the root of the model: those of the enclosing nodes
    /// and this one, joined.
    PathPattern getFullPattern();
    /// The tree this node belongs to.
    TreeOp getTree();
  }];
}

//===----------------------------------------------------------------------===//
// Settings of the tree
//===----------------------------------------------------------------------===//

def Strategy_MeshOp : Strategy_Op<"mesh"> {
  let summary = "The devices, arranged along named axes";
  let description = [{
    The axes are row-major: neighbours on the last axis are neighbours in the
    list of devices. `devices` lists the device ids in that order; without it
    they are 0, 1, 2 and so on.

    **Constraints**
    - It stands directly in a tree.
    - There is at least one axis; names are distinct, none is `micro` (the name
      is kept for the micro-batches); sizes are at least 1.
    - There are at most 2^31 devices.
    - `devices` has one id per device; ids are distinct and not negative.

    ```mlir
    mesh [dp = 16, pp = 8, tp = 8]
    mesh [dp = 2, tp = 2] devices [0, 1, 4, 5]
    ```
  }];
  let arguments = (ins Strategy_AxisArrayAttr:$axes,
                       OptionalAttr<DenseI64ArrayAttr>:$devices);
  let assemblyFormat = [{
    custom<Axes>($axes) (`devices` $devices^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The product of the axis sizes.
    int64_t getNumDevices();
    /// The size of an axis; none if the mesh has no such axis.
    std::optional<int64_t> getAxisSize(::llvm::StringRef axis);
    /// The place of an axis among the axes, the major one being 0; none if the
    /// mesh has no such axis.
    std::optional<unsigned> getAxisIndex(::llvm::StringRef axis);
    /// The ids of all devices in row-major order, the default filled in.
    ::llvm::SmallVector<int64_t> getDeviceIds();
  }];
}

def Strategy_ScheduleOp : Strategy_Op<"schedule"> {
  let summary = "Micro-batches and the order in which stages run them";
  let description = [{
    - `micro_batches`: into how many parts the global batch is cut.
    - `order`: `"gpipe"` runs the forward passes of all micro-batches, then the
      backward passes; `"1f1b"` alternates as soon as it can; `"interleaved"` is
      the same with several chunks per stage, groups of as many micro-batches as
      there are stages taking turns; `"zero-bubble"` computes what the stage in
      front waits for first and fills the waiting times with the gradients of
      parameters; `"explicit"` runs what the `order` of each stage lists. Without
      it, `"1f1b"`, or `"interleaved"` when there are several chunks.
    - `max_ongoing`: how many micro-batches a stage may have in flight, that is,
      between forward pass and last gradient; chunks count separately. Without
      it, the order decides.
    - `virtual_stages`: how many chunks of the model each stage holds. With v
      chunks on p stages, `stages` cuts p * v runs, and run c * p + s is chunk c of
      stage s. Without it, one.

    **Constraints**
    - It stands directly in a tree.
    - The numbers are at least 1; the order is a known one.
    - There are `order` operations in the tree if and only if the order is
      `"explicit"` (checked by the tree).

    ```mlir
    schedule micro_batches = 96 order = "1f1b"
    schedule micro_batches = 96 order = "interleaved" virtual_stages = 2
    ```
  }];
  let arguments = (ins I64Attr:$micro_batches,
                       OptionalAttr<StrAttr>:$order,
                       OptionalAttr<I64Attr>:$max_ongoing,
                       OptionalAttr<I64Attr>:$virtual_stages);
  let assemblyFormat = [{
    `micro_batches` `=` $micro_batches (`order` `=` $order^)?
    (`max_ongoing` `=` $max_ongoing^)? (`virtual_stages` `=` $virtual_stages^)?
    attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The word for orders that the tree lists item by item.
    static constexpr ::llvm::StringLiteral explicitOrder = "explicit";
    /// Returns true if the tree lists the order of every stage.
    bool isExplicit() { return getOrder() == explicitOrder; }
    /// Returns the built-in order, the default filled in: `1f1b` of several
    /// chunks is `interleaved`. Only for orders that are not explicit.
    plan::ScheduleOrder getOrderKind();
  }];
}

def Strategy_OrderOp : Strategy_Op<"order"> {
  let summary = "The order in which one stage works, item by item";
  let description = [{
    For `schedule ... order = "explicit"`. An item is the letter of what runs,
    the micro-batch, and `.c` for a chunk c other than 0: `F` forward, `B`
    backward, `I` gradients that the stage in front waits for, `W` the other
    gradients. A stage whose order has `I` and `W` items of a chunk has its
    backward split. Where there is nothing to split it runs as a whole in place
    of `I`, and `W` is nothing: nobody waits for a gradient of the chunk that
    reads the inputs, a chunk may have no parameters, and a repeat inside a
    repeat is not cut. Items of a chunk that has no such work at all are nothing
    either. The update follows the last item and is not listed.

    Whether the items are complete and can run is checked when the programs are
    known, by schedule-pipeline and verify-phase.

    **Constraints**
    - It stands directly in a tree, once per stage.
    - The stage is not negative; items are well-formed.

    ```mlir
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, B0, B1]
    order stage 1 [F0, I0, F1, W0, I1, W1]
    ```
  }];
  let arguments = (ins I64Attr:$stage, StrArrayAttr:$items);
  let assemblyFormat = "`stage` $stage custom<WorkItems>($items) attr-dict";
  let hasVerifier = 1;
}

def Strategy_BucketOp : Strategy_Op<"bucket"> {
  let summary = "Sizes of the buckets in which gradients are reduced";
  let description = [{
    Gradients are gathered in the order in which they become ready and reduced
    over the replicas once a bucket is full. `size` is the capacity of a bucket
    in bytes, `first` that of the first bucket. Without `size`, all that follows
    the first bucket is one bucket; without `first`, the first is like the
    others. With `per_layer` a bucket also ends where the gradients of a layer
    (`layers[3]`) are complete; what is in no layer counts as one between layers.

    `reduction` is the time at which buckets are reduced:

    - `"overlapped"`, the default: each bucket as soon as it is full, during the
      backward pass;
    - `"after-backward"`: all of them once the last gradient of their chunk of the
      model is ready. Without sizes and `per_layer` they are one bucket;
    - `"per-parameter"`: every gradient by itself as soon as it is ready. There
      are no buckets, so there are no sizes.

    `gather` is the capacity of the buckets in which updated parameters are
    gathered; with `gather_per_parameter` every parameter is gathered by itself.
    Without both they are like those of the gradients. With
    `by_operation` the gradients of an operation are ready together, the last
    one first. With `all_reduce` gradients of which every replica updates a part
    are reduced whole.

    **Constraints**
    - It stands directly in a tree.
    - At least one of the sizes, `per_layer` or `reduction` is given; sizes are
      at least 1.
    - `reduction` is one of the words above; `"per-parameter"` stands without
      `size`, `first` and `per_layer`.
    - `gather_per_parameter` stands without `gather`.

    ```mlir
    bucket size = 26214400 first = 1048576
    bucket per_layer
    bucket reduction = "after-backward"
    bucket size = 25000001 gather = 100000000 by_operation all_reduce
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$size,
                       OptionalAttr<I64Attr>:$first,
                       UnitAttr:$per_layer,
                       OptionalAttr<StrAttr>:$reduction,
                       OptionalAttr<I64Attr>:$gather,
                       UnitAttr:$gather_per_parameter,
                       UnitAttr:$by_operation,
                       UnitAttr:$all_reduce);
  let assemblyFormat = [{
    (`size` `=` $size^)? (`first` `=` $first^)? (`per_layer` $per_layer^)?
    (`reduction` `=` $reduction^)?
    (`gather` `=` $gather^)? (`gather_per_parameter` $gather_per_parameter^)?
    (`by_operation` $by_operation^)? (`all_reduce` $all_reduce^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the time of the reduction, the default filled in.
    plan::GradientReduction getReductionKind();
  }];
}

def Strategy_ScatterGatherOp : Strategy_Op<"scatter_gather"> {
  let summary = "Lets values cross between stages in slices";
  let description = [{
    A value that all ranks along an axis of a stage hold may go to the next
    stage in slices: every rank sends one, and the ranks of the next stage
    collect them with an all-gather. Where the stages are in different nodes and
    the axis is within a node, the slow links carry a fraction of the bytes.
    For every value the cheaper of both ways is taken, by the costs of the
    cluster; a tie keeps the plain transfer. Without this setting all transfers
    are plain.

    **Constraints**
    - It stands directly in a tree, once.

    ```mlir
    scatter_gather
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Strategy_OverlapOp : Strategy_Op<"overlap"> {
  let summary = "What communication runs beside which kernels";
  let description = [{
    `tensor` is about collectives between kernels: those that tensor and sequence
    parallelism need.

    - `"async"`: one starts when its operand is there, and only kernels that read
      its result wait for it. So the sum of the gradient of an input runs beside
      the product for the weight's gradient. This is the default.
    - `"none"`: one starts when the kernels in front of it have ended, and all
      kernels behind it wait for its end.
    - `"chunked"`: as `"async"`, and a product whose operand is gathered, or whose
      result is summed up, is cut into `chunks` along the rows: while one is
      computed the next is gathered, or the last one summed. If nothing is said
      there are as many as devices that gather or scatter, and 4 of an
      all-reduce.

    `messages = false` makes all kernels behind a message to another stage wait
    until it is received. Without it they wait for nothing but what they read.

    **Constraints**
    - It stands directly in a tree, once, and sets at least one of the two.
    - `chunks` is at least 2 and stands beside `tensor = "chunked"` only.

    ```mlir
    overlap tensor = "chunked" chunks = 8 messages = false
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$tensor,
                       OptionalAttr<I64Attr>:$chunks,
                       OptionalAttr<BoolAttr>:$messages);
  let assemblyFormat = [{
    (`tensor` `=` $tensor^)? (`chunks` `=` $chunks^)?
    (`messages` `=` $messages^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the overlap of collectives with kernels, the default filled in.
    plan::TensorOverlap getTensorKind();
  }];
}

//===----------------------------------------------------------------------===//
// Settings of the tree and of nodes
//===----------------------------------------------------------------------===//

def Strategy_SplitOp : Strategy_SettingOp<"split"> {
  let summary = "The partition of a computation or of one memory item";
  let description = [{
    Each arrow maps an iterator of the operation, or a dimension of a memory
    item, onto one or several axes of the mesh: the key is cut into as many
    parts as the axes have positions, and a device holds the part of its
    position. Axes that do not occur replicate. Keys that do not occur keep what
    is set further out; `key -> []` says that the key is not split.

    A partition of `op` decides what each device computes; a partition of a
    memory item decides what it stores. The lowering inserts the communication
    between the two:

    - `weight`, `state`: how parameters and their optimizer state are stored;
    - `gradient`: how the gradients of parameters are stored. The sum over its
      axes is formed in the backward pass of every micro-batch; the sum over
      other axes once, after the last;
    - `output`: the layout of the first result between its producer and all its
      readers;
    - `output_gradient`: the layout of the gradient of the first result, once it
      is complete;
    - `input k`: the layout in which operand k is kept for the backward pass. The
      operation itself reads the operand as it needs it.

    **Constraints**
    - It stands in a tree or a node, once per item.
    - There is at least one arrow; a key occurs once, an axis occurs once, and
      once more for a key that goes round a `ring`; sub-axes of one axis do not
      overlap.
    - `ring` and `zigzag` are about `op`.
    - `op` takes iterator names, not dimensions; dimensions are not negative.
    - Axes are axes of the tree's mesh (checked by the tree).

    ```mlir
    split op [batch -> dp, out -> tp]
    split op [batch -> d:(1)2, out -> d:(2)4]
    split op [seq -> zigzag cp, key -> ring zigzag cp]
    split weight [0 -> [dp, tp]]
    split input 1 [batch -> []]
    ```
  }];
  let arguments = (ins Strategy_ItemAttr:$item,
                       Strategy_PartitionAttr:$partition);
  let assemblyFormat = [{
    custom<Item>($item) custom<Partition>($partition) attr-dict
  }];
  let hasVerifier = 1;
}

def Strategy_AtOp : Strategy_SettingOp<"at"> {
  let summary = "Places what is selected at a position of the mesh";
  let description = [{
    The selected operations run only on the devices with these coordinates. Axes
    that are not named stay free. This is how a module is given to one stage of
    a pipeline.

    On an axis that splits name elsewhere in the tree it is how single
    operations, such as lookups in tables, are given to one device among the
    data-parallel ones: their parameters and states are there alone, what they
    read is collected there, and what they compute is dealt out. Splits over
    that axis do not apply to them.

    **Constraints**
    - It stands in a tree or a node, once, and not beside `stages`.
    - There is at least one coordinate; an axis occurs once, and sub-axes of
      one axis do not overlap.
    - Axes are axes of the tree's mesh and coordinates lie on them (checked by
      the tree).

    ```mlir
    at [pp = 7]
    at [pp = 0, dp = 3]
    ```
  }];
  let arguments = (ins Strategy_CoordinateArrayAttr:$coordinates);
  let assemblyFormat = "custom<Coordinates>($coordinates) attr-dict";
  let hasVerifier = 1;
}

def Strategy_StagesOp : Strategy_Op<"stages"> {
  let summary = "Cuts the matched modules into stages along an axis";
  let description = [{
    The modules that the pattern of the node matches, in the order of the model,
    are cut into as many contiguous runs as the axis has positions, times the
    `virtual_stages` of the schedule. `of` gives the number of modules of each
    run; without it the runs are equal, and the remainder goes to the first ones.
    Run i is placed at position i of the axis, counted from its beginning again
    for every further chunk.

    **Constraints**
    - It stands directly in a node, once, and not beside `at`.
    - The axis is an axis of the tree's mesh (checked by the tree).
    - The numbers of `of` are not negative; a run without modules is for what
      `at` places there. That there is one per run and that they add up to the
      modules is checked when the tree is applied.

    ```mlir
    node "layers[*]" {
      stages pp
    }
    node "blocks[*]" {
      stages pp of [3, 4, 4, 1]
    }
    ```
  }];
  let arguments = (ins StrAttr:$axis, OptionalAttr<DenseI64ArrayAttr>:$counts);
  let assemblyFormat = "custom<AxisName>($axis) (`of` $counts^)? attr-dict";
  let hasVerifier = 1;
}

def Strategy_RecomputeOp : Strategy_SettingOp<"recompute"> {
  let summary = "Recomputes activations in the backward pass";
  let description = [{
    Each module that the pattern of the node matches keeps its inputs only, and
    runs its forward pass again before its backward pass. Layers that the module
    repeats (`layers[3]`) keep their inputs and are recomputed one by one. In the
    tree itself, the module is the whole model.

    **Constraints**
    - It stands in a tree or a node, once.

    ```mlir
    node "layers[*]" {
      recompute
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Strategy_PrefetchOp : Strategy_SettingOp<"prefetch"> {
  let summary = "When parameters are gathered and how long they are kept";
  let description = [{
    Says what happens to parameters that are stored elsewhere than they are
    used: sharded over more devices (ZeRO-3, FSDP) or in host memory.

    - `depth`: how many repeated layers ahead of its use a parameter may be
      gathered. With 0 a layer's parameters come when the layer starts; with n
      they may come when the n-th layer before it starts, and take memory from
      then on. Without it, 1.
    - `reshard_after_forward`: whether what was gathered for the forward pass is
      freed after it and gathered again for the backward pass. With `false` it
      is kept: less communication, more memory. Without it, `true`.
    - `once`: what was gathered is kept for the whole step: it is gathered with
      the first micro-batch, for the forward pass, and stays. This is how a
      distributed optimizer gathers updated parameters during the next forward
      pass, and not behind the update.

    **Constraints**
    - It stands in a tree or a node, once.
    - It sets at least one of the three; the depth is not negative; `once` and
      `reshard_after_forward` exclude each other.

    ```mlir
    node "layers[*]" {
      split weight [0 -> dp]
      prefetch depth = 2
    }
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$depth,
                       OptionalAttr<BoolAttr>:$reshard_after_forward,
                       UnitAttr:$once);
  let assemblyFormat = [{
    (`depth` `=` $depth^)?
    (`reshard_after_forward` `=` $reshard_after_forward^)? (`once` $once^)?
    attr-dict
  }];
  let hasVerifier = 1;
}

def Strategy_OffloadOp : Strategy_SettingOp<"offload"> {
  let summary = "Keeps memory items of what is selected in host memory";
  let description = [{
    Items that lie in host memory take no device memory except while they are
    used:

    - `weight`: parameters are fetched before each use in the forward and in the
      backward pass, and written back after the update;
    - `state`: the optimizer state is fetched for the update, which runs on the
      device, and written back;
    - `activation`: results that the backward pass reads are copied to the host
      after the forward pass and fetched again.

    What is set here replaces what is set further out; `none` keeps everything
    on the devices.

    **Constraints**
    - It stands in a tree or a node, once.
    - It names at least one item, or `none` and no item.

    ```mlir
    offload state
    node "layers[*]" {
      offload weight state activation
    }
    ```
  }];
  let arguments = (ins UnitAttr:$none, UnitAttr:$weight, UnitAttr:$state,
                       UnitAttr:$activation);
  let assemblyFormat = [{
    (`none` $none^)? (`weight` $weight^)? (`state` $state^)?
    (`activation` $activation^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // PROTEUS_DIALECT_STRATEGY_STRATEGYOPS_TD
