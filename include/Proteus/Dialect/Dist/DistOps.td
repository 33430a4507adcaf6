//===- DistOps.td - operations of the dist dialect ---------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_DISTOPS_TD
#define PROTEUS_DIALECT_DIST_DISTOPS_TD

include "Proteus/Dialect/Dist/DistAttrs.td"
include "Proteus/Dialect/Dist/DistDialect.td"
include "Proteus/Dialect/Dist/DistInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Dist_Op<string mnemonic, list<Trait> traits = []>
    : Op<Dist_Dialect, mnemonic, traits>;

def Dist_Tensor : Type<CPred<"::proteus::dist::getLayout($_self)">,
    "ranked tensor with a #dist.layout", "::mlir::RankedTensorType">;

def Dist_WireResource : Resource<"::proteus::dist::WireResource">;

//===----------------------------------------------------------------------===//
// Changes of layout within a program
//===----------------------------------------------------------------------===//

class Dist_LayoutOp<string mnemonic, list<Trait> traits = []>
    : Dist_Op<mnemonic, !listconcat([Pure], traits)> {
  let results = (outs Dist_Tensor:$result);
  let hasVerifier = 1;
  code layoutDeclaration = [{
    /// Returns the mesh of operand and result.
    MeshAttr getMesh() { return getLayout(getInput().getType()).getMesh(); }
  }];
  let extraClassDeclaration = layoutDeclaration;
}

class Dist_CollectiveOp<string mnemonic, string kind, string buffer,
                        list<Trait> traits = []>
    : Dist_LayoutOp<mnemonic,
                    !listconcat([Dist_CollectiveOpInterface], traits)> {
  let extraClassDeclaration = layoutDeclaration # [{
    CollectiveKind getCollectiveKind() { return CollectiveKind::}] # kind # [{; }
    int64_t getGroupSize();
    int64_t getBufferBytes();
  }];
  let extraClassDefinition = [{
    int64_t $cppClass::getGroupSize() {
      MeshAttr mesh = getMesh();
      return mesh.getValue().getSize(*::proteus::dist::getAxes(mesh, getAxes()));
    }
    int64_t $cppClass::getBufferBytes() {
      return localBytes(}] # buffer # [{().getType());
    }
  }];
}

def Dist_AllReduceOp : Dist_CollectiveOp<"all_reduce", "AllReduce", "getInput"> {
  let summary = "Performs an all-reduce over axes";
  let description = [{
    Reduces a partial value over the listed axes. The result is replicated over
    these axes.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the operand is partial over them with that reduction, and for a sum no
      maximum is pending;
    - the result has the operand's type without these partial axes.

    Example:
    ```mlir
    %1 = dist.all_reduce sum %0 over {tp} for activation
        : tensor<8x8xf32, #partial> -> tensor<8x8xf32, #whole>
    ```
  }];
  let arguments = (ins Dist_ReductionKindAttr:$reduction, Dist_Tensor:$input,
                       Dist_AxisNamesAttr:$axes,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let assemblyFormat = [{
    custom<EnumKeyword>($reduction) $input `over` custom<AxisNames>($axes)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Dist_AllGatherOp : Dist_CollectiveOp<"all_gather", "AllGather", "getResult"> {
  let summary = "Performs an all-gather along a dimension";
  let description = [{
    Collects the parts of a dimension along the listed axes, which must be its
    minor axes: all axes of the dimension, or the last ones if the parts nest.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - they are the minor axes of dimension `dim`;
    - uneven parts over all axes of the dimension nest in the parts over the
      remaining ones;
    - the result has the operand's type without these axes.

    Example:
    ```mlir
    %1 = dist.all_gather %0 dim 0 over {dp} for parameter
        : tensor<8x8xf32, #shard> -> tensor<8x8xf32, #whole>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_DimAttr:$dim,
                       Dist_AxisNamesAttr:$axes,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let hasFolder = 1;
  let assemblyFormat = [{
    $input `dim` $dim `over` custom<AxisNames>($axes)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Dist_ReduceScatterOp
    : Dist_CollectiveOp<"reduce_scatter", "ReduceScatter", "getInput"> {
  let summary = "Performs a reduce-scatter along a dimension";
  let description = [{
    Reduces a partial value over the listed axes and shards a dimension of the
    result over them. The axes are added at the minor end of the dimension, in
    the order given by the result type.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the operand is partial over them with that reduction, and for a sum no
      maximum is pending;
    - the dimension has at least as many elements as parts, and uneven parts
      nest in those of the operand;
    - the result has the operand's type with the axes moved accordingly.

    Example:
    ```mlir
    %1 = dist.reduce_scatter sum %0 dim 0 over {dp} for gradient
        : tensor<8x8xf32, #partial> -> tensor<8x8xf32, #shard>
    ```
  }];
  let arguments = (ins Dist_ReductionKindAttr:$reduction, Dist_Tensor:$input,
                       Dist_DimAttr:$dim, Dist_AxisNamesAttr:$axes,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let assemblyFormat = [{
    custom<EnumKeyword>($reduction) $input `dim` $dim
    `over` custom<AxisNames>($axes)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Dist_AllToAllOp : Dist_CollectiveOp<"all_to_all", "AllToAll", "getInput"> {
  let summary = "Performs an all-to-all from one dimension to another";
  let description = [{
    Collects one dimension and shards another over the same axes. The axes are
    added at the minor end of the second dimension, in the order given by the
    result type.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the two dimensions differ, and the axes are the minor ones of the first;
    - the second dimension has at least as many elements as parts, and uneven
      parts nest on both dimensions;
    - the result has the operand's type with the axes moved accordingly.

    Example:
    ```mlir
    %1 = dist.all_to_all %0 from 0 to 1 over {tp}
        : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #columns>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_DimAttr:$from_dim, Dist_DimAttr:$to_dim,
                       Dist_AxisNamesAttr:$axes,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let hasFolder = 1;
  let assemblyFormat = [{
    $input `from` $from_dim `to` $to_dim `over` custom<AxisNames>($axes)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Dist_PermuteOp : Dist_CollectiveOp<"permute", "Permute", "getInput"> {
  let summary = "Permutes the blocks of a tensor among ranks";
  let description = [{
    The tensor stays divided into the same blocks, but other ranks hold them:
    the axes of a dimension change their order, or other axes of the same sizes
    replace them. Every rank sends its block to one rank and receives one. A
    rank that already holds its block keeps it.

    The part that a rank holds in each dimension identifies the rank, together
    with its number in mesh order among the listed axes that replicate. A rank
    receives its block from the rank with the same identity in the operand's
    layout.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - every dimension has the same number of parts before and after;
    - pending reductions and fixed coordinates stay;
    - the axes are those that change their dimension or their position within
      it, or begin or cease to shard a dimension.

    Example:
    ```mlir
    %1 = dist.permute %0 over {a, b}
        : tensor<8x8xf32, #a_major> -> tensor<8x8xf32, #b_major>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_AxisNamesAttr:$axes,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let hasFolder = 1;
  let assemblyFormat = [{
    $input `over` custom<AxisNames>($axes)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Dist_BroadcastOp
    : Dist_CollectiveOp<"broadcast", "Broadcast", "getInput"> {
  let summary = "Performs a broadcast from one coordinate to all";
  let description = [{
    The operand exists at one coordinate of each listed axis. The result exists
    on all ranks along these axes.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the operand is fixed at a coordinate of each of them;
    - the result has the operand's type without these coordinates.

    Example:
    ```mlir
    %1 = dist.broadcast %0 over {tp}
        : tensor<8x8xf32, #on_one> -> tensor<8x8xf32, #on_all>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_AxisNamesAttr:$axes,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let assemblyFormat = [{
    $input `over` custom<AxisNames>($axes)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Dist_ScatterOp : Dist_CollectiveOp<"scatter", "Scatter", "getInput"> {
  let summary = "Performs a scatter along a dimension";
  let description = [{
    The operand exists at one coordinate of each listed axis. In the result
    these axes shard a dimension. They are added at its minor end, in the order
    given by the result type.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the operand is fixed at a coordinate of each of them;
    - the dimension has at least as many elements as parts, and uneven parts
      nest in those of the operand;
    - the result has the operand's type with the axes moved accordingly.

    Example:
    ```mlir
    %1 = dist.scatter %0 dim 0 over {tp}
        : tensor<8x8xf32, #on_one> -> tensor<8x8xf32, #rows>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_DimAttr:$dim,
                       Dist_AxisNamesAttr:$axes,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let assemblyFormat = [{
    $input `dim` $dim `over` custom<AxisNames>($axes)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Dist_GatherOp : Dist_CollectiveOp<"gather", "Gather", "getResult"> {
  let summary = "Performs a gather of a dimension to one coordinate";
  let description = [{
    The reverse of a scatter. In the operand the listed axes shard a dimension,
    at its minor end. The result exists only at the coordinates of these axes
    that its type gives.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - they are the minor axes of dimension `dim`;
    - uneven parts over all axes of the dimension nest in the parts over the
      remaining ones;
    - the result is fixed at a coordinate of each of them, and otherwise has the
      operand's type without them.

    Example:
    ```mlir
    %1 = dist.gather %0 dim 0 over {dp}
        : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #on_one>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_DimAttr:$dim,
                       Dist_AxisNamesAttr:$axes,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let assemblyFormat = [{
    $input `dim` $dim `over` custom<AxisNames>($axes)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Dist_RestrictOp : Dist_LayoutOp<"restrict"> {
  let summary = "Restricts a replicated value to one coordinate";
  let description = [{
    The operand exists on all ranks along the listed axes. The result exists
    only at the coordinates of these axes that its type gives. There is no
    communication.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the operand is replicated over them;
    - the result is fixed at a coordinate of each of them, and otherwise has the
      operand's type.

    Example:
    ```mlir
    %1 = dist.restrict %0 over {dp}
        : tensor<8x8xf32, #on_all> -> tensor<8x8xf32, #on_one>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_AxisNamesAttr:$axes);
  let assemblyFormat = [{
    $input `over` custom<AxisNames>($axes) attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Dist_ExchangeOp : Dist_Op<"exchange", [Pure, Dist_CollectiveOpInterface]> {
  let summary = "Performs several scatters and gathers as one all-to-all";
  let description = [{
    Every operand is distributed from its coordinate, as by `dist.scatter`, or
    collected at the coordinate of its result, as by `dist.gather`. Together
    they are one all-to-all over the listed axes. For example, embedding vectors
    looked up in tables on different devices reach the devices of their samples
    in this way.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - there is at least one operand and the same number of results, all on one
      mesh;
    - each pair of operand and result is that of a `dist.scatter` or a
      `dist.gather` over these axes.

    Example:
    ```mlir
    %0:2 = dist.exchange %a, %b over {dp} for activation
        : (tensor<8x4xf32, #on_0>, tensor<8x4xf32, #on_1>)
        -> (tensor<8x4xf32, #rows>, tensor<8x4xf32, #rows>)
    ```
  }];
  let arguments = (ins Variadic<Dist_Tensor>:$inputs, Dist_AxisNamesAttr:$axes,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let results = (outs Variadic<Dist_Tensor>:$outputs);
  let assemblyFormat = [{
    $inputs `over` custom<AxisNames>($axes)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CollectiveKind getCollectiveKind() { return CollectiveKind::AllToAll; }
    int64_t getGroupSize();
    /// Returns the bytes of the values fixed at one coordinate, for the
    /// coordinate with the most.
    int64_t getBufferBytes();
    MeshAttr getMesh();
    /// Returns true if operand `index` is scattered, false if it is gathered.
    bool isScattered(unsigned index);
    /// Returns the dimension that is sharded in operand or result `index`.
    unsigned getDim(unsigned index);
  }];
}

def Dist_SliceOp : Dist_LayoutOp<"slice"> {
  let summary = "Slices a replicated dimension";
  let description = [{
    Every rank keeps its part of a dimension along the listed axes. The axes are
    added at the minor end of the dimension, in the order given by the result
    type. There is no communication.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the operand is replicated over them;
    - the dimension has at least as many elements as parts, and uneven parts
      nest in those of the operand;
    - the result has the operand's type with the axes added.

    Example:
    ```mlir
    %1 = dist.slice %0 dim 1 over {tp}
        : tensor<8x8xf32, #whole> -> tensor<8x8xf32, #columns>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_DimAttr:$dim,
                       Dist_AxisNamesAttr:$axes);
  let hasFolder = 1;
  let assemblyFormat = [{
    $input `dim` $dim `over` custom<AxisNames>($axes) attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Dist_ChunkOp : Dist_LayoutOp<"chunk"> {
  let summary = "Takes one chunk of the rows of every part";
  let description = [{
    Dimension `dim` is divided into `groups` runs of equal length, and each run
    into `count` chunks. The result consists of chunk number `index` of every
    run. The number of groups is a multiple of the number of contiguous runs in
    which the devices hold the dimension: one run per part, or two per part of a
    zigzag. Every device then takes a chunk of its own shard, and the chunk is
    sharded like the whole dimension. The operation does no work: the chunk is a
    view of the operand.

    **Constraints**
    - groups times count divides the dimension, and the index is below the
      count;
    - the number of contiguous runs on the devices divides the groups, and the
      parts are not shifted;
    - the result has the operand's type with the dimension divided by the count.

    Example:
    ```mlir
    %1 = dist.chunk %0 dim 1 index 0 of 4 groups 8
        : tensor<2x64x8xf32, #rows> -> tensor<2x16x8xf32, #rows>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_DimAttr:$dim,
                       Dist_NumberAttr:$index, Dist_NumberAttr:$count,
                       Dist_NumberAttr:$groups);
  let assemblyFormat = [{
    $input `dim` $dim `index` $index `of` $count `groups` $groups attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Dist_JoinOp : Dist_Op<"join", [Pure]> {
  let summary = "Joins chunks of the rows of every part";
  let description = [{
    The inverse of `dist.chunk`: operand i is chunk i, and the number of
    operands is the number of chunks. The operation does no work: the producer
    of a chunk writes it to its position in the whole.

    **Constraints**
    - all operands have the same type;
    - in the type of the result, the dimension is larger by a factor of the
      number of operands;
    - otherwise as for `dist.chunk`.

    Example:
    ```mlir
    %2 = dist.join %0, %1 dim 1 groups 8
        : (tensor<2x16x8xf32, #rows>, tensor<2x16x8xf32, #rows>) -> tensor<2x32x8xf32, #rows>
    ```
  }];
  let arguments = (ins Variadic<Dist_Tensor>:$inputs, Dist_DimAttr:$dim,
                       Dist_NumberAttr:$groups);
  let results = (outs Dist_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $inputs `dim` $dim `groups` $groups attr-dict
    `:` functional-type($inputs, $result)
  }];
}

def Dist_ShiftOp : Dist_Op<"shift", [Pure, Dist_CollectiveOpInterface]> {
  let summary = "Passes parts to the next rank of a ring";
  let description = [{
    Every rank sends its parts of all operands to the rank with the next index
    along the axes; the last rank sends to the first. After as many shifts as
    there are parts, each part is back on its own rank. All operands travel in
    one message.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - there is at least one operand and the same number of results;
    - the axes are those that shard dimension `dim` of every operand;
    - a result has the operand's type with that dimension shifted by one more,
      modulo the number of its parts.

    Example:
    ```mlir
    %k1, %v1 = dist.shift %k, %v dim 1 over {cp} for activation
        : (tensor<8x64x32xf32, #own>, tensor<8x64x32xf32, #own>)
        -> (tensor<8x64x32xf32, #next>, tensor<8x64x32xf32, #next>)
    ```
  }];
  let arguments = (ins Variadic<Dist_Tensor>:$inputs, Dist_DimAttr:$dim,
                       Dist_AxisNamesAttr:$axes,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let results = (outs Variadic<Dist_Tensor>:$outputs);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $inputs `dim` $dim `over` custom<AxisNames>($axes)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` functional-type($inputs, $outputs)
  }];
  let extraClassDeclaration = [{
    CollectiveKind getCollectiveKind() { return CollectiveKind::Shift; }
    /// Returns the mesh of all operands.
    MeshAttr getMesh();
    int64_t getGroupSize();
    int64_t getBufferBytes();
  }];
}

def Dist_AccumulateOp : Dist_LayoutOp<"accumulate"> {
  let summary = "Accumulates a sum over the micro-batches";
  let description = [{
    The result is complete after the last micro-batch. In a section that runs
    per micro-batch, the operation is an addition into a buffer that lives for
    the whole step.

    **Constraints**
    - a sum over `micro` is pending for the operand;
    - the result has the operand's type without that axis.

    Example:
    ```mlir
    %1 = dist.accumulate %0 : tensor<8x8xf32, #each> -> tensor<8x8xf32, #all>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input);
  let assemblyFormat = [{
    $input attr-dict `:` type($input) `->` type($result)
  }];
}

class Dist_CopyOp<string mnemonic>
    : Dist_LayoutOp<mnemonic, [Dist_DataMovementOpInterface]> {
  let arguments = (ins Dist_Tensor:$input,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let assemblyFormat = [{
    $input (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Dist_OffloadOp : Dist_CopyOp<"offload"> {
  let summary = "Copies shards from device memory to host memory";
  let description = [{
    Every rank copies its shard to the memory of its host. There is no
    communication between ranks.

    **Constraints**
    - the operand is in device memory;
    - the result has the operand's type with `memory = host`.

    Example:
    ```mlir
    %1 = dist.offload %0 for activation
        : tensor<8x8xf32, #layout> -> tensor<8x8xf32, #host>
    ```
  }];
}

def Dist_FetchOp : Dist_CopyOp<"fetch"> {
  let summary = "Copies shards from host memory to device memory";
  let description = [{
    The inverse of `dist.offload`: every rank copies its shard from host memory
    to device memory.

    **Constraints**
    - the operand has `memory = host`;
    - the result has the operand's type in device memory.

    Example:
    ```mlir
    %1 = dist.fetch %0 for parameter
        : tensor<8x8xf32, #host> -> tensor<8x8xf32, #layout>
    ```
  }];
}

def Dist_TransferOp : Dist_LayoutOp<"transfer"> {
  let summary = "Moves a value to the devices of another stage";
  let description = [{
    Every rank sends its shard to the rank that has the fixed coordinates of the
    result and otherwise the same coordinates. The operation stands for a send
    and a receive while the stages share one function.

    **Constraints**
    - operand and result types differ at most in the coordinates of `at`, which
      both types fix for the same axes.

    Example:
    ```mlir
    %1 = dist.transfer %0 : tensor<8x8xf32, #stage0> -> tensor<8x8xf32, #stage1>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input);
  let hasFolder = 1;
  let assemblyFormat = [{
    $input attr-dict `:` type($input) `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

class Dist_MessageOp<string mnemonic, string kind, list<Trait> traits>
    : Dist_Op<mnemonic, !listconcat([Dist_CollectiveOpInterface], traits)> {
  let extraClassDeclaration = [{
    CollectiveKind getCollectiveKind() { return CollectiveKind::}] # kind # [{; }
    ::mlir::ArrayAttr getAxes() {
      return ::mlir::ArrayAttr::get(getContext(), {});
    }
    int64_t getGroupSize() { return 2; }
    int64_t getBufferBytes();
  }];
  let extraClassDefinition = [{
    int64_t $cppClass::getBufferBytes() {
      return localBytes(getValue().getType());
    }
  }];
}

def Dist_SendOp : Dist_MessageOp<"send", "Send",
    [MemoryEffects<[MemWrite<Dist_WireResource>]>]> {
  let summary = "Sends a value to another stage";
  let description = [{
    Every rank sends its shard to its counterpart in the program of stage
    `stage`. That program receives it with a `dist.recv` of the same tag.

    **Constraints**
    - stage and tag are not negative.

    Example: `dist.send %v to stage 1 tag 7 : tensor<8x8xf32, #layout>`
  }];
  let arguments = (ins Dist_Tensor:$value, Dist_NumberAttr:$stage, Dist_NumberAttr:$tag,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let assemblyFormat = [{
    $value `to` `stage` $stage `tag` $tag
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict `:` type($value)
  }];
}

def Dist_RecvOp : Dist_MessageOp<"recv", "Recv",
    [MemoryEffects<[MemRead<Dist_WireResource>, MemWrite<Dist_WireResource>]>]> {
  let summary = "Receives a value from another stage";
  let description = [{
    The counterpart of a `dist.send` with the same tag in the program of stage
    `stage`. The type has the coordinates `at` of the receiver.

    **Constraints**
    - stage and tag are not negative.

    Example: `%v = dist.recv from stage 0 tag 7 : tensor<8x8xf32, #layout>`
  }];
  let arguments = (ins Dist_NumberAttr:$stage, Dist_NumberAttr:$tag,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let results = (outs Dist_Tensor:$value);
  let assemblyFormat = [{
    `from` `stage` $stage `tag` $tag
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict `:` type($value)
  }];
}

//===----------------------------------------------------------------------===//
// Reductions across stages
//===----------------------------------------------------------------------===//

def Dist_StageReduceOp : Dist_Op<"stage_reduce", [
    Dist_CollectiveOpInterface, AllTypesMatch<["input", "result"]>,
    MemoryEffects<[MemRead<Dist_WireResource>, MemWrite<Dist_WireResource>]>]> {
  let summary = "Performs an all-reduce over the ranks of several stages";
  let description = [{
    Performs an all-reduce across programs: the ranks of the listed stages that
    have the same other coordinates sum their values. Each of these stages has
    an operation with the same tag and the same stages in its update section. In
    this way a parameter that several stages hold, such as a tied embedding,
    gets one gradient.

    **Constraints**
    - there are at least two stages, ascending and not negative; the tag is not
      negative.

    Example:
    ```mlir
    %1 = dist.stage_reduce %0 over stages [0, 3] tag 0 for gradient
        : tensor<8x8xf32, #layout>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, DenseI64ArrayAttr:$stages,
                       Dist_NumberAttr:$tag,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = [{
    $input `over` `stages` $stages `tag` $tag
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CollectiveKind getCollectiveKind() { return CollectiveKind::AllReduce; }
    ::mlir::ArrayAttr getAxes() {
      return ::mlir::ArrayAttr::get(getContext(), {});
    }
    int64_t getGroupSize() { return getStages().size(); }
    int64_t getBufferBytes();
  }];
  let extraClassDefinition = [{
    int64_t $cppClass::getBufferBytes() {
      return localBytes(getInput().getType());
    }
  }];
}

//===----------------------------------------------------------------------===//
// Fused collectives
//===----------------------------------------------------------------------===//

def Dist_FusedReduceOp : Dist_Op<"fused_reduce",
    [Pure, Dist_CollectiveOpInterface]> {
  let summary = "Reduces many gradients in few collectives";
  let description = [{
    Reduces every operand over the same axes, by all-reduce or reduce-scatter,
    in the given buckets. Each bucket is one collective over a flat buffer and
    starts when all its members are ready. With `after_backward` no bucket
    starts before the members of all buckets of the same section are ready. With
    `as type` the values are sent and added in that element type.

    A *stacked* operand holds the gradients of a repeated layer. Its leading
    dimension is the iteration, and a bucket may hold a range of its iterations.
    An operand that is not stacked counts as one iteration.

    **Constraints**
    - the wire type is a float type;
    - the kind is `all_reduce` or `reduce_scatter`;
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - there is at least one operand and the same number of results, all on one
      mesh, and each result has the type that the reduction of its operand
      gives;
    - `stacked` has one flag per operand;
    - the leading dimension of a stacked operand exists and is sharded neither
      before nor after the reduction;
    - no bucket is empty, ranges are not empty and within their operand, and
      every iteration of every operand is in exactly one bucket.

    Example:
    ```mlir
    %0:2 = dist.fused_reduce all_reduce sum %w, %b over {dp}
        stacked [true, false] buckets [[0[6:12], 1[0:1]], [0[0:6]]]
        : (tensor<12x8x8xf32, #pw>, tensor<8xf32, #pb>)
        -> (tensor<12x8x8xf32, #w>, tensor<8xf32, #b>)
    ```
  }];
  let arguments = (ins Dist_CollectiveKindAttr:$kind,
                       Dist_ReductionKindAttr:$reduction,
                       Variadic<Dist_Tensor>:$inputs,
                       Dist_AxisNamesAttr:$axes,
                       DenseBoolArrayAttr:$stacked,
                       Dist_BucketsAttr:$buckets,
                       UnitAttr:$after_backward,
                       OptionalAttr<TypeAttr>:$wire_type,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let results = (outs Variadic<Dist_Tensor>:$outputs);
  let assemblyFormat = [{
    custom<EnumKeyword>($kind) custom<EnumKeyword>($reduction) $inputs
    `over` custom<AxisNames>($axes) `stacked` $stacked
    `buckets` custom<Buckets>($buckets) (`after_backward` $after_backward^)?
    (`as` $wire_type^)?
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CollectiveKind getCollectiveKind() { return getKind(); }
    int64_t getGroupSize();
    /// Returns the bytes of all buckets together.
    int64_t getBufferBytes();
    unsigned getNumBuckets() { return getBuckets().getValue().list.size(); }
    /// Returns the bytes of the buffer of one bucket.
    int64_t getBucketBytes(unsigned bucket);
    /// Returns the number of iterations of the repeated layer whose tensors the
    /// stacked operand holds, or 1 if the operand is not stacked.
    int64_t getNumIterations(unsigned operand);
    /// Returns the mesh of all operands.
    MeshAttr getMesh();
  }];
}

def Dist_FusedGatherOp : Dist_Op<"fused_gather",
    [Pure, Dist_CollectiveOpInterface]> {
  let summary = "Gathers many parameters in few collectives";
  let description = [{
    Gathers every operand over the same axes in the given buckets. Each bucket
    is one all-gather over a flat buffer and starts when all its members are
    ready. Stacked operands and buckets are as in `dist.fused_reduce`.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - there is at least one operand and the same number of results, all on one
      mesh, and each result has the type that an all-gather of its operand
      gives, along the dimension that the axes shard;
    - `stacked` has one flag per operand;
    - the leading dimension of a stacked operand exists and is not sharded;
    - no bucket is empty, ranges are not empty and within their operand, and
      every iteration of every operand is in exactly one bucket.

    Example:
    ```mlir
    %0:2 = dist.fused_gather %w, %b over {dp}
        stacked [true, false] buckets [[0[0:6]], [0[6:12], 1[0:1]]]
        : (tensor<12x8x8xf32, #sw>, tensor<8xf32, #sb>)
        -> (tensor<12x8x8xf32, #w>, tensor<8xf32, #b>)
    ```
  }];
  let arguments = (ins Variadic<Dist_Tensor>:$inputs,
                       Dist_AxisNamesAttr:$axes,
                       DenseBoolArrayAttr:$stacked,
                       Dist_BucketsAttr:$buckets,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let results = (outs Variadic<Dist_Tensor>:$outputs);
  let assemblyFormat = [{
    $inputs `over` custom<AxisNames>($axes) `stacked` $stacked
    `buckets` custom<Buckets>($buckets)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CollectiveKind getCollectiveKind() { return CollectiveKind::AllGather; }
    int64_t getGroupSize();
    /// Returns the bytes of all buckets together.
    int64_t getBufferBytes();
    unsigned getNumBuckets() { return getBuckets().getValue().list.size(); }
    /// Returns the bytes of the gathered buffer of one bucket.
    int64_t getBucketBytes(unsigned bucket);
    /// Returns the number of iterations of the repeated layer whose tensors the
    /// stacked operand holds, or 1 if the operand is not stacked.
    int64_t getNumIterations(unsigned operand);
    /// Returns the mesh of all operands.
    MeshAttr getMesh();
  }];
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

def Dist_SectionOp : Dist_Op<"section", [
    HasParent<"::proteus::dist::ProgramOp">, NoRegionArguments,
    SingleBlockImplicitTerminator<"::proteus::dist::YieldOp">]> {
  let summary = "Part of a program that is scheduled as a unit";
  let description = [{
    Runs once per micro-batch or, with `once`, once per step. Another section
    that runs per micro-batch uses the results of the same micro-batch. `chunk`
    is the number of the section's virtual stage within the program. It is 0 if
    it is not printed. The result types are the operand types of the terminator.

    **Constraints**
    - `update`, and no other kind, is `once`;
    - the chunk is not negative;
    - results have the types of the operands of `dist.yield`;
    - a section that runs once uses no value that depends on the micro-batch: no
      layout in it mentions `micro`, except that of the operand of a
      `dist.accumulate`.

    Example:
    ```mlir
    %f:2 = dist.section forward chunk 1 {
      ...
      dist.yield %a, %b : tensor<8x8xf32, #layout>, tensor<8xf32, #bias>
    }
    ```
  }];
  let arguments = (ins Dist_SectionKindAttr:$kind, OptionalAttr<Dist_NumberAttr>:$chunk,
                       UnitAttr:$once);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins
    "::mlir::TypeRange":$types, "::proteus::dist::SectionKind":$kind,
    CArg<"int64_t", "0">:$chunk)>];
  let extraClassDeclaration = [{
    /// Returns the chunk, or 0 if none is given.
    int64_t getChunkNumber() { return getChunk().value_or(0); }
    /// Returns the operands of the terminator.
    ::mlir::OperandRange getYielded() {
      return getBody().front().getTerminator()->getOperands();
    }
  }];
}

def Dist_ProgramOp : Dist_Op<"program", [
    FunctionOpInterface, IsolatedFromAbove,
    SingleBlockImplicitTerminator<"::proteus::dist::ReturnOp">]> {
  let summary = "The work of the devices of one stage in a step";
  let description = [{
    A list of sections that all devices at the coordinates of `at` run alike.
    Arguments and results are those of the training step as far as they live on
    these devices; what an argument is for is in its attributes. `step` holds
    settings of the tree that later passes apply.

    **Constraints**
    - the axes of `at` are on the mesh, their coordinates within them;
    - the body holds sections and ends in `dist.return`;
    - every layout in it is on the same mesh and fixes at least the axes of `at`
      at the same coordinates;
    - operations without regions read values in host memory only if they are
      `dist.fetch` or terminators;
    - the sections' kinds come in the order forward, gradients, update; no two
      sections have the same kind and chunk; a chunk has either `backward` or
      the split gradients.

    Example:
    ```mlir
    dist.program @stage0 mesh #mesh at [pp = 0]
        (%x: tensor<8x8xf32, #x>, %w: tensor<8x8xf32, #w>)
        -> tensor<8x8xf32, #w> {
      %f = dist.section forward {
        %0 = "test.forward"(%x, %w) : (...) -> ...
        dist.yield %0 : tensor<8x8xf32, #x>
      }
      %u = dist.section update once {
        ...
      }
      dist.return %u : tensor<8x8xf32, #w>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       Dist_MeshAttr:$mesh,
                       OptionalAttr<DictionaryAttr>:$at,
                       OptionalAttr<Dist_StepAttr>:$step,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<StrAttr>:$sym_visibility);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins
    "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
    "::proteus::dist::MeshAttr":$mesh,
    CArg<"::llvm::ArrayRef<std::pair<::proteus::dist::Axis, int64_t>>",
         "{}">:$at)>];
  let extraClassDeclaration = [{
    /// Returns the types of the arguments, for FunctionOpInterface.
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    /// Returns the types of the results, for FunctionOpInterface.
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    /// Returns the body, for FunctionOpInterface. No operation calls a program.
    ::mlir::Region *getCallableRegion() { return &getBody(); }

    /// Returns the settings of the step, the defaults if there are none.
    StepAttr getStepOrDefault();
    /// Sets the settings of the step; defaults are not stored.
    void setStepSettings(StepAttr step);
    /// Returns the coordinates of `at`.
    ::llvm::SmallVector<std::pair<Axis, int64_t>> getFixed();
    /// Returns the sections in textual order.
    ::llvm::iterator_range<::mlir::Block::op_iterator<SectionOp>>
    getSections();
    /// Returns the section of that kind and chunk, or null if there is none.
    SectionOp getSection(SectionKind kind, int64_t chunk = 0);
  }];
}

def Dist_YieldOp : Dist_Op<"yield", [
    Pure, Terminator, HasParent<"::proteus::dist::SectionOp">]> {
  let summary = "Ends a section";
  let description = [{
    Example: `dist.yield %a, %b : tensor<8x8xf32, #layout>, tensor<8xf32, #bias>`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{
    build($_builder, $_state, ::mlir::ValueRange());
  }]>];
}

def Dist_ReturnOp : Dist_Op<"return", [
    Pure, Terminator, HasParent<"::proteus::dist::ProgramOp">]> {
  let summary = "Ends a program";
  let description = [{
    **Constraints**
    - the operand types are the result types of the program.

    Example: `dist.return %u : tensor<8x8xf32, #layout>`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{
    build($_builder, $_state, ::mlir::ValueRange());
  }]>];
  let hasVerifier = 1;
}

def Dist_ScheduleOp : Dist_Op<"schedule", [
    Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The order in which programs run their sections";
  let description = [{
    One list of work items per program. An item is the letter of the section
    kind (`F`, `B`, `I`, `W`, `U`), the micro-batch, and `.c` for a chunk c
    other than 0. The position of a program in the list is the number of its
    stage.

    **Constraints**
    - there is one order per program, and the programs exist, are distinct, and
      share their mesh;
    - an item names a section of its program, and a micro-batch of the mesh
      unless the section runs once;
    - every section runs exactly once per micro-batch, or once;
    - a gradient follows the forward of its chunk and micro-batch, a weight
      gradient follows its input gradient, a section follows the sections whose
      values it uses, and the update is last.

    Example:
    ```mlir
    dist.schedule @one_f_one_b programs [@stage0, @stage1] order [
      [F0, F1, B0, B1, U],
      [F0, B0, F1, B1, U]
    ]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypedArrayAttrBase<FlatSymbolRefAttr,
                                          "programs">:$programs,
                       TypedArrayAttrBase<Dist_OrderAttr, "orders">:$order,
                       OptionalAttr<StrAttr>:$sym_visibility);
  let assemblyFormat = [{
    $sym_name `programs` $programs `order` custom<Orders>($order)
    attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumPrograms() { return getPrograms().size(); }
    /// Returns the work items of one program.
    ::llvm::ArrayRef<Work> getWork(unsigned program) {
      return ::llvm::cast<OrderAttr>(getOrder()[program]).getItems();
    }
    /// Returns the largest number of (chunk, micro-batch) pairs of one program
    /// that are in flight at once: the forward has run and the last gradient
    /// has not. Activations are held for these pairs. Chunks without gradients
    /// do not count.
    int64_t maxOngoing(unsigned program);
    /// Returns the first forward of a program with which more than `limit` such
    /// pairs are in flight, or nullopt if there is none.
    std::optional<Work> firstBeyond(unsigned program, int64_t limit);
  }];
}

#endif // PROTEUS_DIALECT_DIST_DISTOPS_TD
