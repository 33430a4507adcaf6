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

/// Base class of a setting that is allowed in the tree and in every node.
class Strategy_SettingOp<string mnemonic, list<Trait> traits = []>
    : Strategy_Op<mnemonic,
                  traits # [ParentOneOf<["TreeOp", "NodeOp"]>]>;

//===----------------------------------------------------------------------===//
// The strategy tree and its nodes
//===----------------------------------------------------------------------===//

def Strategy_TreeOp : Strategy_Op<"tree", [
    IsolatedFromAbove, NoRegionArguments, OpAsmOpInterface, Symbol,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>
  ] # GraphRegionNoTerminator.traits> {
  let summary = "A parallelization strategy for one model";
  let description = [{
    Names a model, which is a `func.func` of the same module. The body contains
    the settings for the whole model, and the nodes with settings for some of
    its modules. The tree itself selects every operation of the model.

    **Constraints**
    - `for` names a `func.func` of the enclosing symbol table.
    - The body contains operations of this dialect only: exactly one `mesh`, at
      most one each of `schedule`, `bucket`, `scatter_gather`, `overlap`,
      `recompute`, `prefetch`, `offload` and `at`, at most one `split` per item,
      and at most one `order` per stage.
    - There are `order` operations if and only if the schedule is `"explicit"`.
    - Axes that `split`, `at` and `stages` name anywhere in the tree are axes of
      its mesh, and coordinates of `at` are within their axis.
    - A sub-axis `d:(p)s` divides its axis: p * s divides the size of d.
    - All sub-axes of an axis come from one factorization of the axis: `d:(p)s`
      cuts the axis at p and at p * s, and of any two cuts, one divides the
      other.

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

    /// Returns the mesh of the tree. Every valid tree has one.
    MeshOp getMesh();
    /// Returns the schedule, or null if none is set.
    ScheduleOp getSchedule();
    /// Returns the gradient buckets, or null if none are set.
    BucketOp getBucket();
    /// Returns the setting by which values may be sent to other stages in
    /// slices, or null if the tree has none.
    ScatterGatherOp getScatterGather();
    /// Returns the setting for the overlap of communication with kernels, or
    /// null if the tree has none.
    OverlapOp getOverlap();
  }];
}

def Strategy_NodeOp : Strategy_SettingOp<"node", [
    NoRegionArguments, OpAsmOpInterface
  ] # GraphRegionNoTerminator.traits> {
  let summary = "Settings for the operations that a path pattern selects";
  let description = [{
    Selects operations by a path pattern, and contains settings for them. The
    pattern is a sequence of components separated by dots, relative to the
    enclosing node. A component is a name or `*`, optionally with an index
    `[3]`, a range `[0:12]` (without its end) or `[*]`. A component without an
    index matches a module with or without an index. The component `**` matches
    any number of components, including none.

    A node selects an operation if its pattern, joined by dots to the patterns
    of the enclosing nodes, matches the path of the operation or a prefix of
    this path. For example, `layers[*]` selects every operation in `layers[3]`.
    The verifier does not check whether a pattern selects any operation.

    **Constraints**
    - The node is in a tree or in another node.
    - The pattern is well-formed.
    - The body contains operations of this dialect only: at most one each of
      `recompute`, `prefetch`, `offload`, `at` and `stages`, not both `at` and
      `stages`, and at most one `split` per item.

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

    /// Returns the pattern relative to the model: the patterns of the enclosing
    /// nodes and of this node, joined by dots.
    PathPattern getFullPattern();
    TreeOp getTree();
  }];
}

//===----------------------------------------------------------------------===//
// Settings of the tree
//===----------------------------------------------------------------------===//

def Strategy_MeshOp : Strategy_Op<"mesh"> {
  let summary = "The devices, arranged along named axes";
  let description = [{
    Defines the axes of the mesh in row-major order: neighbours on the last axis
    are neighbours in the list of devices. `devices` lists the device ids in
    that order. Without it, the ids are 0, 1, 2 and so on.

    **Constraints**
    - The mesh is directly in a tree.
    - There is at least one axis; names are distinct, and none is `micro`, which
      is the axis of micro-batches; sizes are at least 1.
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
    /// Returns the number of devices, which is the product of the axis sizes.
    int64_t getNumDevices();
    /// Returns the size of an axis, or nullopt if the mesh has no such axis.
    std::optional<int64_t> getAxisSize(::llvm::StringRef axis);
    /// Returns the index of an axis in the list of axes, or nullopt if the mesh
    /// has no such axis. The major axis has index 0.
    std::optional<unsigned> getAxisIndex(::llvm::StringRef axis);
    /// Returns the ids of all devices in row-major order. Without `devices`,
    /// the ids are 0, 1, 2 and so on.
    ::llvm::SmallVector<int64_t> getDeviceIds();
  }];
}

def Strategy_ScheduleOp : Strategy_Op<"schedule"> {
  let summary = "Micro-batches and the order in which stages run them";
  let description = [{
    - `micro_batches`: number of micro-batches into which the global batch is
      divided.
    - `order`: the order in which each stage runs its work. The default is
      `"1f1b"`, which becomes `"interleaved"` if there are several chunks.
    - `max_ongoing`: largest number of micro-batches that a stage may have in
      flight, that is, between their forward pass and their last gradient. Each
      chunk of a micro-batch counts. Without `max_ongoing`, the order determines
      this number.
    - `virtual_stages`: number of chunks of the model on each stage. The default
      is 1. With v chunks on p stages, `stages` cuts the model into p * v runs
      of layers, and run c * p + s is chunk c of stage s.

    The orders are:

    - `"gpipe"`: the forward passes of all micro-batches, then all backward
      passes.
    - `"1f1b"`: forward and backward passes alternate (one forward, one
      backward) as soon as the first gradient arrives.
    - `"interleaved"`: as `"1f1b"`, with several chunks per stage. A stage runs
      as many micro-batches as there are stages through one chunk, then through
      the next chunk.
    - `"zero-bubble"`: the gradients for which the preceding stage waits run
      first; the gradients of parameters run later, while the stage would
      otherwise wait.
    - `"explicit"`: the `order` operation of each stage lists its work.

    **Constraints**
    - The schedule is directly in a tree.
    - The numbers are at least 1, and the order is one of the words above.
    - The tree has `order` operations if and only if the order is `"explicit"`
      (the tree checks this).

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
    /// Value of the attribute `order` if `strategy.order` operations in the
    /// tree list the work of every stage, item by item.
    static constexpr ::llvm::StringLiteral explicitOrder = "explicit";
    /// Returns true if `strategy.order` operations in the tree list the work of
    /// every stage.
    bool isExplicit() { return getOrder() == explicitOrder; }
    /// Returns the order, or `1f1b` if none is set. If a stage has several
    /// chunks, returns `interleaved` instead of `1f1b`. Must not be called if
    /// the order is `explicit`.
    plan::ScheduleOrder getOrderKind();
  }];
}

def Strategy_OrderOp : Strategy_Op<"order"> {
  let summary = "The order of the work of one stage, item by item";
  let description = [{
    Lists the work of one stage, for a `schedule` with `order = "explicit"`. An
    item is a letter and the number of a micro-batch, such as `F3`. If the
    number c of the chunk is not 0, `.c` follows, as in `F3.1`. The letter is
    `F` for the forward pass, `B` for the backward pass, `I` for the gradients
    for which the preceding stage waits, and `W` for all other gradients. The
    backward pass of a chunk is split if the order of its stage has `I` and `W`
    items of this chunk.

    The backward pass of some chunks can't be split: that of the chunk that
    reads the inputs of the model, because no stage waits for its gradients,
    that of a chunk without parameters, and that of a chunk in which a repeat
    contains another repeat, because such a repeat is never cut. The whole
    backward pass then runs at the position of `I`, and `W` is ignored. If a
    chunk has no backward pass at all, its `B`, `I` and `W` items are ignored.
    The update follows the last item and is not listed.

    The passes schedule-pipeline and verify-phase check that the items are
    complete and in a possible order. The verifier of the tree can't check this,
    because the programs do not exist yet.

    **Constraints**
    - The operation is directly in a tree, and there is one per stage.
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
  let summary = "Buckets in which gradients are reduced";
  let description = [{
    Sets the buckets in which gradients are reduced over replicas. Gradients are
    put into buckets in the order in which they become ready. When a bucket is
    full, it is reduced.

    - `size`: capacity of a bucket in bytes. Without it, all gradients after the
      first bucket form one bucket.
    - `first`: capacity of the first bucket in bytes. Without it, the first
      bucket has the same capacity as the others.
    - `per_layer`: a bucket also ends when the gradients of a layer
      (`layers[3]`) are complete. Gradients of modules between two layers count
      as one layer.
    - `by_operation`: all gradients of an operation become ready at the same
      time, after the last of them is computed. They are put into buckets in the
      reverse of their order in the model, for example a bias before its weight.
    - `all_reduce`: every replica receives the whole reduced gradient, even if
      it updates only a part of the parameter.
    - `gather`: capacity in bytes of the buckets in which updated parameters are
      gathered. Without it and `gather_per_parameter`, the gathers use the same
      buckets as the gradients.
    - `gather_per_parameter`: every updated parameter is gathered by itself.

    `reduction` is the time at which buckets are reduced:

    - `"overlapped"`, the default: each bucket is reduced as soon as it is full,
      during the backward pass. Without sizes and `per_layer`, buckets have the
      sizes of PyTorch's DistributedDataParallel;
    - `"after-backward"`: all buckets of a chunk of the model are reduced after
      its last gradient is ready. Without sizes and `per_layer`, there is one
      bucket;
    - `"per-parameter"`: every gradient is reduced by itself as soon as it is
      ready. There are no buckets.

    **Constraints**
    - The operation is directly in a tree.
    - At least one of `size`, `first`, `per_layer` and `reduction` is given, and
      sizes are at least 1.
    - `reduction` is one of the words above, and `"per-parameter"` excludes
      `size`, `first` and `per_layer`.
    - `gather_per_parameter` excludes `gather`.

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
    /// Returns when gradients are reduced. Without `reduction`, the value is
    /// `overlapped`.
    plan::GradientReduction getReductionKind();
  }];
}

def Strategy_ScatterGatherOp : Strategy_Op<"scatter_gather"> {
  let summary = "Permits transfers between stages in slices";
  let description = [{
    Permits that a value is sent to the next stage in slices. If all ranks along
    an axis of a stage hold the value, each of them can send one slice, and the
    ranks of the next stage collect the slices by an all-gather. If the stages
    are on different nodes and the axis is within a node, the slow links between
    nodes then carry a fraction of the bytes.

    A value is sent in slices if this takes less time on the cluster than
    sending it as a whole. Without this setting, all values are sent as a whole.

    **Constraints**
    - The operation is directly in a tree, once.

    ```mlir
    scatter_gather
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Strategy_OverlapOp : Strategy_Op<"overlap"> {
  let summary = "Overlap of communication with kernels";
  let description = [{
    `tensor` sets which kernels may run during the collectives that tensor and
    sequence parallelism need:

    - `"async"`, the default: a collective starts when its operand is ready, and
      only kernels that read its result wait for it. For example, while the
      gradient of an input is summed over devices, the product for the gradient
      of the weight runs.
    - `"none"`: a collective starts when all preceding kernels have ended, and
      all following kernels wait for its end.
    - `"chunked"`: as `"async"`, but a product whose operand is gathered, or
      whose result is summed over devices, is cut along its rows into `chunks`
      chunks. While one chunk is computed, the next one is gathered or the
      preceding one is summed. Without `chunks`, an all-gather or reduce-scatter
      over n devices has n chunks, and an all-reduce has 4.

    With `messages = false`, all kernels that follow a message to another stage
    wait until the message is received. Otherwise a kernel waits only for
    messages that it reads.

    Where gradients are sharded, a layer reduces them when its backward pass
    ends. `reductions` limits the number of layers whose gradients are being
    reduced, or wait for that: the kernels of a later layer wait. Frameworks
    have this limit, because each of these layers needs a buffer. Without it,
    the limit is 2.

    **Constraints**
    - The operation is directly in a tree, once, and sets at least one of
      `tensor`, `messages` and `reductions`.
    - `reductions` is at least 1.
    - `chunks` is at least 2 and requires `tensor = "chunked"`.

    ```mlir
    overlap tensor = "chunked" chunks = 8 messages = false
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$tensor,
                       OptionalAttr<I64Attr>:$chunks,
                       OptionalAttr<BoolAttr>:$messages,
                       OptionalAttr<I64Attr>:$reductions);
  let assemblyFormat = [{
    (`tensor` `=` $tensor^)? (`chunks` `=` $chunks^)?
    (`messages` `=` $messages^)? (`reductions` `=` $reductions^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns how collectives of tensor and sequence parallelism overlap with
    /// kernels. Without `tensor`, the value is `async`.
    plan::TensorOverlap getTensorKind();
  }];
}

//===----------------------------------------------------------------------===//
// Settings of the tree and of nodes
//===----------------------------------------------------------------------===//

def Strategy_SplitOp : Strategy_SettingOp<"split"> {
  let summary = "The partition of a computation or of one memory item";
  let description = [{
    Splits a computation or a memory item over axes of the mesh. Each arrow maps
    a key, which is an iterator of the operation or a dimension of a memory
    item, to one or several axes. The key is cut into one part per combination
    of coordinates on these axes, and a device holds the part of its
    coordinates.

    Over axes that do not occur, the item is replicated. Keys that do not occur
    keep the split of an enclosing node or of the tree. `key -> []` means that
    the key is not split.

    A partition of `op` determines the computation of each device, and a
    partition of a memory item the shard that each device stores. The lowering
    inserts the communication between the two. The memory items are:

    - `weight`, `state`: the storage of parameters and of their optimizer state;
    - `gradient`: the storage of the gradients of parameters. Gradients are
      summed over the axes of this partition in the backward pass of every
      micro-batch, and over all other axes once, after the last micro-batch;
    - `output`: the layout of the first result between its producer and all its
      readers;
    - `output_gradient`: the layout of the gradient of the first result, after
      its summands are added;
    - `input k`: the layout in which operand k is kept for the backward pass.
      The operation itself reads the operand in the layout that it needs.

    **Constraints**
    - The split is in a tree or a node, once per item.
    - There is at least one arrow. A key occurs once. An axis occurs once, or
      twice if one of the two keys has `ring`. Sub-axes of the same axis do not
      overlap.
    - `ring` and `zigzag` apply to `op` only.
    - Keys of `op` are iterator names, not dimensions, and dimensions are not
      negative.
    - Axes are axes of the tree's mesh (the tree checks this).

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
  let summary = "Assigns the selected operations to coordinates of the mesh";
  let description = [{
    The selected operations run only on the devices with these coordinates. On
    axes that are not named, the operations may be split or replicated. For
    example, `at [pp = 7]` assigns a module to stage 7 of a pipeline.

    The axis may also be one over which other operations are split. For example,
    `at [dp = 3]` assigns a lookup in a table to one of the data-parallel
    devices. The parameters and states of the operation then exist only on this
    device. Its operands are collected on the device, and its results are
    scattered from it. Splits over that axis do not apply to the operation.

    **Constraints**
    - The operation is in a tree or a node, once, and excludes `stages`.
    - There is at least one coordinate. An axis occurs once, and sub-axes of the
      same axis do not overlap.
    - Axes are axes of the tree's mesh, and coordinates are within them (the
      tree checks this).

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
    Assigns the modules that the pattern of the node matches to stages. The
    modules are cut, in the order of the model, into contiguous runs. The number
    of runs is the size of the axis times the `virtual_stages` of the schedule.
    `of` lists the number of modules of each run. Without `of` the runs are
    equal; if there is a remainder r, each of the first r runs has one module
    more. Run i is assigned to coordinate i modulo n of an axis of size n. For
    example, with n = 4, runs 0 to 3 are the first chunks of the stages, and
    runs 4 to 7 are the second chunks.

    **Constraints**
    - The operation is directly in a node, once, and excludes `at`.
    - The axis is an axis of the tree's mesh (the tree checks this).
    - The numbers of `of` are not negative. A number of 0 leaves the stage to
      operations that `at` assigns to it. match-strategy checks the length of
      `of` and the sum of its numbers.

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
    Each module that the pattern of the node matches saves only its inputs for
    the backward pass, and runs its forward pass again before its backward pass.
    If the module repeats layers (`layers[3]`), each layer saves its inputs and
    is recomputed by itself. If the operation is directly in the tree, the
    module is the whole model.

    **Constraints**
    - The operation is in a tree or a node, once.

    ```mlir
    node "layers[*]" {
      recompute
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Strategy_PrefetchOp : Strategy_SettingOp<"prefetch"> {
  let summary = "Time at which parameters are gathered and freed";
  let description = [{
    Sets when parameters are gathered and freed. Applies to parameters that must
    be gathered or fetched before each use: those that are stored in more shards
    than the operation reads (ZeRO-3, FSDP), or in host memory.

    - `depth`: number of repeated layers by which the gather of a parameter may
      precede the layer that uses it. With 0, the parameters of a layer are
      gathered when the layer starts. With n, they may be gathered when the n-th
      preceding layer starts, and take memory from then on. The default is 1.
    - `reshard_after_forward`: with `true`, the default, parameters that are
      gathered for the forward pass are freed after it and gathered again for
      the backward pass. With `false`, they are kept, which needs less
      communication but more memory.
    - `once`: a parameter is gathered once per step, in the forward pass of the
      first micro-batch, and is kept for the whole step. With this setting, a
      distributed optimizer gathers updated parameters during the next forward
      pass instead of after the update.

    **Constraints**
    - The operation is in a tree or a node, once.
    - It sets at least one of the three attributes. The depth is not negative.
      `once` and `reshard_after_forward` exclude each other.

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
  let summary = "Keeps memory items of the selected operations in host memory";
  let description = [{
    Keeps items in host memory, so that they take device memory only while they
    are used:

    - `weight`: parameters are fetched before each use in the forward and in the
      backward pass, and written back after the update;
    - `state`: the optimizer state is fetched for the update, which runs on the
      device, and written back;
    - `activation`: results that the backward pass reads are copied to the host
      after the forward pass and fetched again.

    The setting replaces those of enclosing nodes and of the tree. With `none`,
    all items stay in device memory.

    **Constraints**
    - The operation is in a tree or a node, once.
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
