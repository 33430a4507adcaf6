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
    /// Returns the mesh, which operand and result share.
    MeshAttr getMesh() { return getLayout(getInput().getType()).getMesh(); }
  }];
  /// For operations that cut or collect a dimension or the block as a whole.
  code cutDeclaration = [{
    /// Returns `dim`, or the rank of the tensor if the operation changes the
    /// flat cut.
    unsigned getCut() { return getDim() ? *getDim() : getType().getRank(); }
  }];
  let extraClassDeclaration = layoutDeclaration;
}

class Dist_CollectiveOp<string mnemonic, string kind, string buffer,
                        list<Trait> traits = []>
    : Dist_LayoutOp<mnemonic,
                    !listconcat([Dist_CollectiveOpInterface], traits)> {
  code collectiveDeclaration = layoutDeclaration # [{
    CollectiveKind getCollectiveKind() { return CollectiveKind::}] # kind # [{; }
    int64_t getGroupSize();
    int64_t getBufferBytes();
  }];
  let extraClassDeclaration = collectiveDeclaration;
  let extraClassDefinition = [{
    int64_t $cppClass::getGroupSize() {
      MeshAttr mesh = getMesh();
      return mesh.getValue().getSize(*::proteus::dist::getAxes(mesh, getAxes()));
    }
    int64_t $cppClass::getBufferBytes() {
      return }] # buffer # [{;
    }
  }];
}

def Dist_AllReduceOp : Dist_CollectiveOp<"all_reduce", "AllReduce", "localBytes(getInput().getType())"> {
  let summary = "Performs an all-reduce over axes";
  let description = [{
    Reduces a partial value over the listed axes. The result is replicated over
    these axes.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the operand is partial over these axes with the same kind of reduction,
      and a sum requires that no maximum is pending;
    - the result has the operand's type without these axes in `partial`.

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

def Dist_AllGatherOp : Dist_CollectiveOp<"all_gather", "AllGather", "bufferBytes(getType(), getInput().getType())"> {
  let summary = "Performs an all-gather along a dimension";
  let description = [{
    Collects the parts of dimension `dim` along the listed axes, or, with
    `flat`, the parts of the flat cut. These are all axes that shard the
    dimension, or only the minor (last) ones. In the second case, the parts must
    nest: every part over the remaining axes consists of whole parts over all
    axes. For example, four parts of 3, 2, 2 and 2 rows nest in two parts of 5
    and 4 rows. Parts of a flat cut are sent with their padding, which the
    result does not have.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the axes are the minor axes of dimension `dim`, or of the flat cut;
    - if parts are uneven, the parts over all axes of the dimension nest in the
      parts over the remaining axes;
    - the result has the operand's type without the listed axes.

    Example:
    ```mlir
    %1 = dist.all_gather %0 dim 0 over {dp} for parameter
        : tensor<8x8xf32, #shard> -> tensor<8x8xf32, #whole>
    %3 = dist.all_gather %2 flat over {dp} for parameter
        : tensor<7x5xf32, #flat> -> tensor<7x5xf32, #whole>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, OptionalAttr<Dist_DimAttr>:$dim,
                       Dist_AxisNamesAttr:$axes,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let hasFolder = 1;
  let assemblyFormat = [{
    $input (`dim` $dim^) : (`flat`)? `over` custom<AxisNames>($axes)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` type($input) `->` type($result)
  }];
  let extraClassDeclaration = collectiveDeclaration # cutDeclaration;
}

def Dist_ReduceScatterOp
    : Dist_CollectiveOp<"reduce_scatter", "ReduceScatter", "bufferBytes(getInput().getType(), getType())"> {
  let summary = "Performs a reduce-scatter along a dimension";
  let description = [{
    Reduces a partial value over the listed axes, and shards dimension `dim` of
    the result over the same axes, or, with `flat`, cuts the block of each rank
    over them. The axes are added at the minor end of the dimension or of the
    cut, in the order in which the result type lists them.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the operand is partial over these axes with the same kind of reduction,
      and a sum requires that no maximum is pending;
    - the dimension has at least as many elements as the result has parts, and
      uneven parts of the result nest in the parts of the operand;
    - the result has the operand's type with the axes moved from `partial` to
      the dimension, or to the flat cut.

    Example:
    ```mlir
    %1 = dist.reduce_scatter sum %0 dim 0 over {dp} for gradient
        : tensor<8x8xf32, #partial> -> tensor<8x8xf32, #shard>
    ```
  }];
  let arguments = (ins Dist_ReductionKindAttr:$reduction, Dist_Tensor:$input,
                       OptionalAttr<Dist_DimAttr>:$dim, Dist_AxisNamesAttr:$axes,
                       OptionalAttr<Dist_PurposeAttr>:$purpose);
  let assemblyFormat = [{
    custom<EnumKeyword>($reduction) $input (`dim` $dim^) : (`flat`)?
    `over` custom<AxisNames>($axes)
    (`for` custom<EnumKeyword>($purpose)^)? attr-dict
    `:` type($input) `->` type($result)
  }];
  let extraClassDeclaration = collectiveDeclaration # cutDeclaration;
}

def Dist_AllToAllOp : Dist_CollectiveOp<"all_to_all", "AllToAll", "localBytes(getInput().getType())"> {
  let summary = "Performs an all-to-all from one dimension to another";
  let description = [{
    Collects dimension `from_dim` and shards dimension `to_dim` over the same
    axes. The axes are added at the minor end of `to_dim`, in the order in which
    the result type lists them.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the two dimensions differ, and the axes are the minor axes of `from_dim`;
    - `to_dim` has at least as many elements as the result has parts of it, and
      in both dimensions, uneven parts nest in the parts over the other axes;
    - the result has the operand's type with the axes moved to `to_dim`.

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

def Dist_PermuteOp : Dist_CollectiveOp<"permute", "Permute", "localBytes(getInput().getType())"> {
  let summary = "Permutes the blocks of a tensor among ranks";
  let description = [{
    Moves the blocks of a tensor between ranks without cutting them: the axes of
    a dimension change their order, or axes with the same number of parts
    replace them. For example, `{a, b}` becomes `{b, a}`. Every rank sends its
    block to one rank, which may be itself, and receives one block.

    The layout of the result determines which block a rank receives. If several
    ranks along the listed axes hold this block in the operand, the same number
    of ranks hold it in the result. The senders and the receivers of the block
    are then numbered in mesh order, and receiver i gets it from sender i.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - every dimension has the same number of parts, the same zigzag and the same
      shift in operand and result;
    - operand and result have the same pending reductions and fixed coordinates;
    - an axis is listed if and only if it shards different dimensions in the two
      types, shards a dimension with different strides, or shards a dimension in
      only one type. The stride is the difference of the part numbers of two
      neighbours on the axis.

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
    : Dist_CollectiveOp<"broadcast", "Broadcast", "localBytes(getInput().getType())"> {
  let summary = "Performs a broadcast from one coordinate to all";
  let description = [{
    Copies a value that exists at one coordinate of each listed axis to all
    ranks along these axes.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the operand is fixed at a coordinate of each of these axes;
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

def Dist_ScatterOp : Dist_CollectiveOp<"scatter", "Scatter", "localBytes(getInput().getType())"> {
  let summary = "Performs a scatter along a dimension";
  let description = [{
    Distributes a value that exists at one coordinate of each listed axis. In
    the result, these axes shard dimension `dim`. They are added at the minor
    end of the dimension, in the order in which the result type lists them.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the operand is fixed at a coordinate of each of these axes;
    - the dimension has at least as many elements as the result has parts, and
      uneven parts of the result nest in the parts of the operand;
    - the result has the operand's type with the axes moved from `at` to the
      dimension.

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

def Dist_GatherOp : Dist_CollectiveOp<"gather", "Gather", "localBytes(getType())"> {
  let summary = "Performs a gather of a dimension to one coordinate";
  let description = [{
    Collects dimension `dim` at one coordinate of each listed axis; this is the
    reverse of `dist.scatter`. In the operand, the listed axes are minor axes of
    the dimension. The type of the result fixes the coordinates.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the axes are the minor axes of dimension `dim`;
    - if parts are uneven, the parts over all axes of the dimension nest in the
      parts over the remaining axes;
    - the result is fixed at a coordinate of each listed axis, and otherwise has
      the operand's type without these axes.

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
    Drops a replicated value on all ranks except those at one coordinate of each
    listed axis. The type of the result fixes these coordinates. There is no
    communication.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the operand is replicated over these axes;
    - the result is fixed at a coordinate of each listed axis, and otherwise has
      the operand's type.

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
    Performs several scatters and gathers as one all-to-all over the listed
    axes. Each operand is either distributed from one coordinate, as by
    `dist.scatter`, or collected at one coordinate, as by `dist.gather`. For
    example, each device looks up embedding vectors of all samples in its own
    tables, and an exchange sends each vector to the device of its sample.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - there is at least one operand and the same number of results, all on one
      mesh;
    - each pair of operand and result has the types of a `dist.scatter` or
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
    /// Returns the largest number of bytes at one root. A root is one
    /// combination of coordinates on the axes of the exchange, at which whole
    /// values are fixed. The bytes at a root are those of all values that are
    /// fixed there.
    int64_t getBufferBytes();
    MeshAttr getMesh();
    /// Returns true if operand `index` is scattered, and false if it is
    /// gathered.
    bool isScattered(unsigned index);
    /// Returns the dimension that the axes of the exchange shard: of result
    /// `index` if operand `index` is scattered, of operand `index` if it is
    /// gathered.
    unsigned getDim(unsigned index);
  }];
}

def Dist_SliceOp : Dist_LayoutOp<"slice"> {
  let summary = "Slices a replicated dimension";
  let description = [{
    Cuts a dimension along the listed axes, or, with `flat`, the block of each
    rank as one list of elements: every rank keeps its part and drops the rest. The axes are added at the minor end of the dimension, in the order
    in which the result type lists them. There is no communication.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - the operand is replicated over these axes;
    - the dimension has at least as many elements as the result has parts, and
      uneven parts of the result nest in the parts of the operand;
    - the result has the operand's type with the axes added.

    Example:
    ```mlir
    %1 = dist.slice %0 dim 1 over {tp}
        : tensor<8x8xf32, #whole> -> tensor<8x8xf32, #columns>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, OptionalAttr<Dist_DimAttr>:$dim,
                       Dist_AxisNamesAttr:$axes);
  let hasFolder = 1;
  let assemblyFormat = [{
    $input (`dim` $dim^) : (`flat`)? `over` custom<AxisNames>($axes) attr-dict
    `:` type($input) `->` type($result)
  }];
  let extraClassDeclaration = layoutDeclaration # cutDeclaration;
}

def Dist_ChunkOp : Dist_LayoutOp<"chunk"> {
  let summary = "Takes one chunk of the rows of every part";
  let description = [{
    Takes one chunk of a tensor, so that a product can be computed chunk by
    chunk while other chunks are communicated. The operation does no work: the
    chunk is a view of the operand.

    Dimension `dim` is divided into `groups` groups of equal length, and each
    group into `count` equal slices. Chunk `index` consists of slice `index` of
    every group. For example, 64 rows in 8 groups and 4 slices have groups of 8
    rows and slices of 2 rows, and chunk 0 consists of the rows 0, 1, 8, 9, 16,
    17 and so on.

    The devices hold the dimension in contiguous runs: one run per part, or two
    runs per part of a zigzag. Each run consists of whole groups, so every
    device takes the same share of each chunk from its own shard, and the chunk
    is sharded like the whole dimension.

    **Constraints**
    - `groups` times `count` divides the dimension, and `index` is less than
      `count`;
    - the number of contiguous runs of all devices divides `groups`, and the
      parts are not shifted;
    - the result has the operand's type with the dimension divided by `count`.

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
    Joins chunks to the whole dimension; this is the inverse of `dist.chunk`.
    Operand i is chunk i, and the number of operands is the number of chunks.
    The operation does no work, because the producer of a chunk writes it
    directly to its position in the whole.

    **Constraints**
    - all operands have the same type;
    - the size of dimension `dim` of the result is the size of this dimension of
      an operand, times the number of operands;
    - the types of the result and of an operand are those of operand and result
      of a `dist.chunk`.

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
    Moves the parts of a dimension around a ring. Every rank sends its parts of
    all operands in one message to the rank with the next index along the axes,
    and the last rank sends to the first. After as many shifts as there are
    parts, each part is back on its own rank.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - there is at least one operand and the same number of results;
    - in every operand, exactly the listed axes shard dimension `dim`;
    - a result has the operand's type with the shift of dimension `dim`
      increased by one, modulo the number of parts.

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
    /// Returns the mesh of the first operand.
    MeshAttr getMesh();
    int64_t getGroupSize();
    int64_t getBufferBytes();
  }];
}

def Dist_AccumulateOp : Dist_LayoutOp<"accumulate"> {
  let summary = "Accumulates a sum over the micro-batches";
  let description = [{
    Sums a value over the micro-batches. In a section that runs per micro-batch,
    the operation is an addition into a buffer that lives for the whole step.
    The result is complete after the last micro-batch.

    **Constraints**
    - a sum over `micro` is pending for the operand;
    - the result has the operand's type without `micro` in `partial`.

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
    Copies the shard of every rank to the memory of its host. There is no
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
    Copies the shard of every rank from host memory to device memory. This is
    the inverse of `dist.offload`.

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
    Moves a value to the devices of another stage. Every rank sends its shard to
    the rank that is at the fixed coordinates of the result and has the same
    coordinates on all other axes. The operation exists while all stages are in
    one function. When each stage becomes a program, a `dist.send` and a
    `dist.recv` replace the operation.

    **Constraints**
    - the types of operand and result fix the same axes in `at`, and differ at
      most in the coordinates of these axes.

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
// Messages between stages
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
    Sends the shard of every rank to a rank in the program of stage `stage`: the
    rank with the same coordinates, except for those that a program fixes. That
    program receives the value by a `dist.recv` with the same tag.

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
    Receives a value from the program of stage `stage`, which sends it by a
    `dist.send` with the same tag. The type of the value is fixed at the
    coordinates of the receiving program.

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
// Reductions over the ranks of several stages
//===----------------------------------------------------------------------===//

def Dist_StageReduceOp : Dist_Op<"stage_reduce", [
    Dist_CollectiveOpInterface, AllTypesMatch<["input", "result"]>,
    MemoryEffects<[MemRead<Dist_WireResource>, MemWrite<Dist_WireResource>]>]> {
  let summary = "Performs an all-reduce over the ranks of several stages";
  let description = [{
    Performs an all-reduce across programs. A group consists of one rank of each
    listed stage. The ranks of a group sum their values, and differ only in the
    coordinates that their programs fix. Each listed stage has an operation with
    the same tag and the same stages in its update section. In this way a
    parameter that several stages hold, such as a tied embedding, gets one
    gradient.

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
    in buckets. Each bucket is one collective over a flat buffer. The collective
    starts when all members of the bucket are ready. With `after_backward`, the
    buckets of gradients that one section computes start only when the members
    of all these buckets are ready. With `as type`, values are converted to this
    element type (the wire type) before they are sent and added.

    A *stacked* operand holds the gradients of a repeated layer. Its leading
    dimension has one entry per iteration of the layer, and a bucket may contain
    a range of the iterations. An operand that is not stacked counts as one
    iteration.

    **Constraints**
    - the wire type is a float type;
    - the kind is `all_reduce` or `reduce_scatter`;
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - there is at least one operand and the same number of results, all on one
      mesh, and each result has the type of its operand after the reduction;
    - `stacked` has one flag per operand;
    - the leading dimension of a stacked operand exists, and is not sharded
      before or after the reduction;
    - buckets and ranges are not empty, ranges are within the iterations of
      their operand, and every iteration of every operand is in exactly one
      bucket.

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
    /// Returns the bytes of the buffers of all buckets together.
    int64_t getBufferBytes();
    unsigned getNumBuckets() { return getBuckets().getValue().list.size(); }
    /// Returns the bytes of one bucket before the reduction, in the wire type
    /// if there is one.
    int64_t getBucketBytes(unsigned bucket);
    /// Returns the number of iterations whose tensors operand `operand` stacks,
    /// or 1 if it is not stacked.
    int64_t getNumIterations(unsigned operand);
    /// Returns the mesh, which all operands share.
    MeshAttr getMesh();
  }];
}

def Dist_FusedGatherOp : Dist_Op<"fused_gather",
    [Pure, Dist_CollectiveOpInterface]> {
  let summary = "Gathers many parameters in few collectives";
  let description = [{
    Gathers every operand over the same axes, in buckets. Each bucket is one
    all-gather over a flat buffer. The all-gather starts when all members of the
    bucket are ready. `dist.fused_reduce` describes stacked operands and
    buckets.

    **Constraints**
    - axes are known, distinct, in normal form (mesh order), and not `micro`;
    - there is at least one operand and the same number of results, all on one
      mesh, and each result has the type of an all-gather of its operand along
      the dimension that the axes shard;
    - `stacked` has one flag per operand;
    - the leading dimension of a stacked operand exists and is not sharded;
    - buckets and ranges are not empty, ranges are within the iterations of
      their operand, and every iteration of every operand is in exactly one
      bucket.

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
    /// Returns the bytes of the buffers of all buckets together.
    int64_t getBufferBytes();
    unsigned getNumBuckets() { return getBuckets().getValue().list.size(); }
    /// Returns the bytes of one bucket after the gather.
    int64_t getBucketBytes(unsigned bucket);
    /// Returns the number of iterations whose tensors operand `operand` stacks,
    /// or 1 if it is not stacked.
    int64_t getNumIterations(unsigned operand);
    /// Returns the mesh, which all operands share.
    MeshAttr getMesh();
  }];
}

//===----------------------------------------------------------------------===//
// Programs, sections and schedules
//===----------------------------------------------------------------------===//

def Dist_SectionOp : Dist_Op<"section", [
    HasParent<"::proteus::dist::ProgramOp">, NoRegionArguments,
    SingleBlockImplicitTerminator<"::proteus::dist::YieldOp">]> {
  let summary = "Part of a program that is scheduled as a unit";
  let description = [{
    A section runs once per micro-batch or, with `once`, once per step. Other
    sections can use its results. A section that runs per micro-batch reads the
    results that belong to its own micro-batch. `chunk` is the chunk of the
    model to which the section belongs; without `chunk`, this is chunk 0. The
    result types are the operand types of the terminator.

    **Constraints**
    - a section has `once` if and only if its kind is `update`;
    - the chunk is not negative;
    - results have the types of the operands of `dist.yield`;
    - a section with `once` uses no value that depends on the micro-batch: in
      its operations, no operand has a layout with `micro`, except the operand
      of a `dist.accumulate`.

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
    /// Returns the number of the chunk, which is 0 if it is not given.
    int64_t getChunkNumber() { return getChunk().value_or(0); }
    /// Returns the operands of the terminator, which are the results of the
    /// section.
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
    Lists the sections that each device at the coordinates of `at` runs.
    Arguments and results of the program are the arguments and results of the
    training step that are on these devices. The attributes of an argument give
    its role and its path. `step` holds settings of the strategy tree until the
    passes on programs apply them.

    **Constraints**
    - the axes of `at` are device axes of the mesh, and the coordinates are
      within these axes;
    - the body holds sections and ends in `dist.return`;
    - the layouts of all values are on the mesh of the program, and fix at least
      the axes of `at` at the same coordinates;
    - among operations without regions, only `dist.fetch` and terminators read
      values in host memory;
    - sections are listed in the order forward, gradients, update;
    - no two sections have the same kind and chunk;
    - a chunk with a `backward` section has no `input_gradient` section and no
      `weight_gradient` section.

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
    /// Returns the types of the arguments. FunctionOpInterface requires this
    /// function.
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    /// Returns the types of the results. FunctionOpInterface requires this
    /// function.
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    /// Returns the body. FunctionOpInterface requires this function, although
    /// no operation calls a program.
    ::mlir::Region *getCallableRegion() { return &getBody(); }

    /// Returns the settings of the step, which are the defaults if `step` is
    /// absent.
    StepAttr getStepOrDefault();
    /// Sets the attribute `step`. Removes it if all settings are defaults.
    void setStepSettings(StepAttr step);
    /// Returns the pairs (axis, coordinate) of `at`, in ascending order of the
    /// axes.
    ::llvm::SmallVector<std::pair<Axis, int64_t>> getFixed();
    /// Returns the sections in the order in which the program lists them.
    ::llvm::iterator_range<::mlir::Block::op_iterator<SectionOp>>
    getSections();
    /// Returns the section of kind `kind` and chunk `chunk`, or null if there
    /// is none.
    SectionOp getSection(SectionKind kind, int64_t chunk = 0);
  }];
}

def Dist_YieldOp : Dist_Op<"yield", [
    Pure, Terminator, HasParent<"::proteus::dist::SectionOp">]> {
  let summary = "Ends a section";
  let description = [{
    Ends a section and returns its results.

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
    Ends a program and returns its results.

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
    Lists, for each program, the work items in the order in which they run. An
    item is a letter for the section kind, then the micro-batch, unless the
    section runs once, and `.c` for a chunk c other than 0. The letters are `F`
    (forward), `B` (backward), `I` (input gradient), `W` (weight gradient) and
    `U` (update). The position of a program in `programs` is the number of its
    stage.

    **Constraints**
    - there is one order per program; the programs exist, are distinct, and
      share their mesh;
    - an item names a section of its program, and, unless the section runs once,
      a micro-batch of the mesh;
    - every section runs exactly once per micro-batch, or exactly once if it has
      `once`;
    - a gradient section runs after the forward section of its chunk and
      micro-batch, and a weight gradient also after the input gradient;
    - a section runs after the sections from which it uses values;
    - update sections run after all other sections.

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
    /// Returns the programs of the stages in the order of the schedule, which
    /// may differ from their order in the module.
    ::llvm::SmallVector<ProgramOp> lookupPrograms();
    /// Returns the work items of the program with number `program`.
    ::llvm::ArrayRef<Work> getWork(unsigned program) {
      return ::llvm::cast<OrderAttr>(getOrder()[program]).getItems();
    }
    /// Returns the largest number of (chunk, micro-batch) pairs of a program
    /// that are in flight at the same time. A pair is in flight from its
    /// forward section to its last gradient, and its activations are in memory
    /// during this time. Chunks without gradients do not count.
    int64_t maxOngoing(unsigned program);
    /// Returns the first forward item of a program during which more than
    /// `limit` pairs are in flight, or nullopt if there is none.
    std::optional<Work> firstBeyond(unsigned program, int64_t limit);
  }];
}

#endif // PROTEUS_DIALECT_DIST_DISTOPS_TD
