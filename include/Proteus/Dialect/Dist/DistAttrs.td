//===- DistAttrs.td - attributes of the dist dialect -------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_DISTATTRS_TD
#define PROTEUS_DIALECT_DIST_DISTATTRS_TD

include "Proteus/Dialect/Dist/DistDialect.td"
include "Proteus/Dialect/Dist/DistEnums.td"
include "Proteus/Dialect/Dist/DistStepAttrs.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/TensorEncoding.td"

class Dist_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Dist_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Dist_EnumAttr<EnumInfo info, string mnemonic>
    : EnumAttr<Dist_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Dist_ReductionKindAttr : Dist_EnumAttr<Dist_ReductionKind, "reduction">;
def Dist_CollectiveKindAttr : Dist_EnumAttr<Dist_CollectiveKind, "collective">;
def Dist_PurposeAttr : Dist_EnumAttr<Dist_Purpose, "purpose">;
def Dist_SectionKindAttr : Dist_EnumAttr<Dist_SectionKind, "section_kind">;

//===----------------------------------------------------------------------===//
// Mesh and layout
//===----------------------------------------------------------------------===//

def Dist_MeshAttr : Dist_Attr<"Mesh", "mesh"> {
  let summary = "Named device axes and the number of micro-batches";
  let description = [{
    Arranges the devices in a grid of named axes, in row-major order: neighbours
    on the last axis are neighbouring devices. `micro` is a reserved axis in
    *time*, and its size is the number of micro-batches of a step. A size of 1
    is not printed. `devices` lists the device id of every position of the grid.
    The list is not printed if the id of every device is its position.

    **Constraints**
    - axis names are identifiers, distinct, and none is `micro`;
    - sizes and `micro` are positive;
    - `devices` has one distinct non-negative id per position.

    Example:
    ```mlir
    #mesh = #dist.mesh<[dp = 16, pp = 8, tp = 8], micro = 96>
    #pair = #dist.mesh<[tp = 2], devices = [0, 4]>
    ```
  }];
  let parameters = (ins
    AttrParameter<"::proteus::dist::Mesh", "the mesh without IR",
                  "const ::proteus::dist::Mesh &">:$value);
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "::proteus::dist::Mesh":$mesh), [{
    mesh.normalise();
    return $_get($_ctxt, std::move(mesh));
  }]>];
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Returns the number of device axes, without `micro`.
    unsigned getNumDeviceAxes() const { return getValue().sizes.size(); }
    /// Returns the sizes of the device axes.
    ::llvm::ArrayRef<int64_t> getAxisSizes() const { return getValue().sizes; }
    /// Returns the names of the device axes.
    ::llvm::ArrayRef<std::string> getAxisNames() const {
      return getValue().names;
    }
    /// Returns the number of the axis `name`: 0 for `micro`, i + 1 for the
    /// device axis with index i. Returns nullopt if there is no such axis.
    std::optional<Axis> getAxisIndex(::llvm::StringRef name) const {
      return getValue().find(name);
    }
    /// Returns the size of the axis `name`, which may be `micro`, or nullopt if
    /// there is no such axis.
    std::optional<int64_t> getAxisSize(::llvm::StringRef name) const;
    int64_t getMicro() const { return getValue().micro; }
    int64_t getNumDevices() const { return getValue().getNumDevices(); }
    /// Returns the id of the device at `coordinates`, which has one entry per
    /// device axis.
    int64_t getDevice(::llvm::ArrayRef<int64_t> coordinates) const {
      return getValue().getDevice(coordinates);
    }
    /// Returns the coordinates, one per device axis, of the device at the
    /// row-major `position`.
    ::llvm::SmallVector<int64_t> getCoordinates(int64_t position) const {
      return getValue().getCoordinates(position);
    }
  }];
}

def Dist_LayoutAttr : Dist_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Distribution of the elements of a tensor over a mesh";
  let description = [{
    The encoding of a builtin tensor type. The shape in the type is the global
    shape. The layout determines the shape of the shard on every rank.

    - For each dimension it lists the axes that shard the dimension, major
      first.
    - `flat` lists axes that cut the block which the dimensions leave to a rank,
      as one row-major list of elements. The parts are equal: a multiple of
      `granule` elements (1 if it is not printed), the last ones padded with
      zeros or padding only. The first `leading` dimensions (0 if not printed)
      are not part of the list. A shard has size 1 in the other dimensions,
      except the last one.
    - `partial` lists the axes over which a sum or a maximum is pending: each
      rank along such an axis has one summand of the value, or one operand of
      the maximum. If both are pending, the value is the sum of the maxima.
    - `at` fixes axes at one coordinate: the value exists only on devices with
      this coordinate, for example on one pipeline stage.
    - An axis that is not mentioned replicates the tensor.
    - With `memory = host`, every rank keeps its shard in the memory of its
      host, where only `dist.fetch` reads it.

    Several axes that shard a dimension divide it together: the flattened index
    of their coordinates is the number of the part. For example, if `{dp, tp}`
    have the sizes 2 and 4, the rank with dp = 1 and tp = 2 holds part 6. Parts
    are contiguous. If the number of parts does not divide the dimension, the
    first parts have one element more.

    A `zigzag` dimension of n parts is cut into 2n chunks instead, and part i
    consists of the chunks i and 2n - 1 - i. With causal attention, all parts
    then need the same work. With `shift s`, the parts have moved by s indices
    along their axes, as in a ring: index i holds part i - s, modulo n.

    **Constraints**
    - axes belong to the mesh, and each is used at most once;
    - `micro` is not fixed, and fixed coordinates are within their axes;
    - `micro` does not belong to a flat cut, whose granule is positive, and
      which leaves at least one dimension to cut;
    - there is one list of axes per dimension of the tensor, whose shape is
      static;
    - a dimension has at least as many elements as parts, and the size of a
      zigzag dimension is a multiple of twice the number of parts;
    - only a dimension with axes is a zigzag or shifted, and the shift is less
      than the number of parts.

    Example:
    ```mlir
    #mesh = #dist.mesh<[dp = 2, pp = 4, tp = 2], micro = 8>
    #layout = #dist.layout<#mesh, [{micro, dp}, {}, {tp} ], at = [pp = 3]>
    #gradient = #dist.layout<#mesh, [{tp}, {} ], partial = [sum {micro, dp} ]>
    #balanced = #dist.layout<#mesh, [{dp}, zigzag {tp}, {} ]>
    #visiting = #dist.layout<#mesh, [{dp}, {tp} shift 1, {} ]>
    #state = #dist.layout<#mesh, [{}, {tp} ], flat = {dp} granule 128>
    ```
  }];
  let parameters = (ins
    AttrParameter<"::proteus::dist::MeshAttr", "the mesh">:$mesh,
    AttrParameter<"::proteus::dist::Layout", "the layout without IR",
                  "const ::proteus::dist::Layout &">:$value);
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilderWithInferredContext<
      (ins "::proteus::dist::MeshAttr":$mesh,
           "::proteus::dist::Layout":$layout), [{
    layout.normalise();
    return $_get(mesh.getContext(), mesh, std::move(layout));
  }]>];
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Returns the layout that replicates a tensor of `rank` dimensions over
    /// all axes.
    static LayoutAttr getReplicated(MeshAttr mesh, unsigned rank) {
      return get(mesh, Layout(rank));
    }
    unsigned getRank() const { return getValue().dims.size(); }
    /// Returns the axes that shard dimension `dim`, major first.
    ::llvm::ArrayRef<Axis> getDimAxes(unsigned dim) const {
      return getValue().dims[dim];
    }
    /// Returns the axes over which a reduction of kind `kind` is pending.
    ::llvm::ArrayRef<Axis> getPartialAxes(ReductionKind kind) const {
      return getValue().getPartial(kind);
    }
    bool isPartial() const { return getValue().isPartial(); }
    /// Returns true if `micro` shards a dimension.
    bool isShardedOverMicro() const {
      return getValue().getShardedDim(microAxis).has_value();
    }
    /// Returns true if a reduction over `micro` is pending.
    bool isPartialOverMicro() const {
      return getValue().getPartialKind(microAxis).has_value();
    }
    /// Returns true if ranks keep their shard in host memory.
    bool isOnHost() const { return getValue().onHost; }
    /// Returns this layout in host memory if `onHost`, else in device memory.
    LayoutAttr withHost(bool onHost) const;
    /// Returns this layout with its fixed axes and coordinates replaced by
    /// `fixed`.
    LayoutAttr
    withFixed(::llvm::ArrayRef<std::pair<Axis, int64_t>> fixed) const;
  }];
}

//===----------------------------------------------------------------------===//
// Work items and buckets
//===----------------------------------------------------------------------===//

def Dist_OrderAttr : Dist_Attr<"Order", "order"> {
  let summary = "The order in which a program runs its sections";
  let description = [{
    A list of work items. An item is a letter for the section kind, then the
    micro-batch, unless the section runs once per step, and `.c` for a chunk c
    other than 0. The letters are `F` (forward), `B` (backward), `I` (input
    gradient), `W` (weight gradient) and `U` (update).

    Example: `#dist.order<[F0, F1, B0, F2.1, U]>`
  }];
  let parameters = (ins
    ArrayRefParameter<"::proteus::dist::Work", "work items">:$items);
  let hasCustomAssemblyFormat = 1;
}

def Dist_BucketsAttr : Dist_Attr<"Buckets", "buckets"> {
  let summary = "The operand iterations that are communicated together";
  let description = [{
    A list of buckets in the order in which their collectives start. A bucket is
    a list of ranges: `2[0:6]` are the iterations 0 to 5 of operand 2, which
    stacks the tensors of a repeated layer. An operand that is not stacked has
    the range `[0:1]`.

    Example: `#dist.buckets<[[0[11:12], 1[11:12]], [0[0:11], 1[0:11]]]>`
  }];
  let parameters = (ins
    AttrParameter<"::proteus::dist::Buckets", "ranges per bucket",
                  "const ::proteus::dist::Buckets &">:$value);
  let hasCustomAssemblyFormat = 1;
}

/// Index of a dimension. The verifiers of operations check that it is not
/// negative and less than the rank of the tensor.
def Dist_DimAttr
    : TypedSignlessIntegerAttrBase<I64, "int64_t", "dimension number">;

/// Number of a stage or chunk, tag of a message, or a count.
def Dist_NumberAttr : ConfinedAttr<Dist_DimAttr, [IntNonNegative]> {
  let summary = "non-negative 64-bit integer";
}

def Dist_AxisNamesAttr : TypedArrayAttrBase<StrAttr, "axis names">;

#endif // PROTEUS_DIALECT_DIST_DISTATTRS_TD
