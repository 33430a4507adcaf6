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
    Devices in a grid of named axes, row-major: along the last axis are
    neighbouring devices. `micro` is the number of micro-batches of a step, an
    axis in *time* under a reserved name; it is 1 where it is not printed.
    `devices` lists the device id of every position; it is not printed where
    device ids are the positions.

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
    /// Number of device axes, `micro` not included.
    unsigned getNumDeviceAxes() const { return getValue().sizes.size(); }
    /// Sizes of the device axes.
    ::llvm::ArrayRef<int64_t> getAxisSizes() const { return getValue().sizes; }
    /// Names of the device axes.
    ::llvm::ArrayRef<std::string> getAxisNames() const {
      return getValue().names;
    }
    /// Number of the axis in the layout algebra; `micro` is axis 0.
    std::optional<Axis> getAxisIndex(::llvm::StringRef name) const {
      return getValue().find(name);
    }
    /// Size of the axis of that name, `micro` included.
    std::optional<int64_t> getAxisSize(::llvm::StringRef name) const;
    int64_t getMicro() const { return getValue().micro; }
    int64_t getNumDevices() const { return getValue().getNumDevices(); }
    /// Device at one coordinate per device axis.
    int64_t getDevice(::llvm::ArrayRef<int64_t> coordinates) const {
      return getValue().getDevice(coordinates);
    }
    /// Coordinates, one per device axis, of the row-major position.
    ::llvm::SmallVector<int64_t> getCoordinates(int64_t position) const {
      return getValue().getCoordinates(position);
    }
  }];
}

def Dist_LayoutAttr : Dist_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Where on a mesh the elements of a tensor are";
  let description = [{
    The encoding of a builtin tensor type whose shape is the global shape. Per
    dimension it lists the axes that shard it, major first. `partial` lists the
    axes along which values are still to be reduced, and how. `at` fixes axes at
    one coordinate: the value exists on those devices only, for example on one
    pipeline stage. An axis mentioned nowhere replicates. `memory = host` says
    that every rank keeps its part in the memory of its host: only `dist.fetch`
    reads it.

    Parts are contiguous, the remainder going one by one to the first parts.
    Several axes on a dimension number its parts by their flattened index. A
    `zigzag` dimension of n parts is cut into 2n chunks instead, and part i is
    the chunks i and 2n - 1 - i: with causal attention all parts are the same
    work. `shift s` says that the parts have moved s places on along their axes,
    as the blocks of a ring do: index i holds part i - s, modulo n. If
    both sums and maxima are pending, the value is the sum of the maxima. The
    local shape of a rank follows from all this and is stored nowhere.

    **Constraints**
    - axes belong to the mesh, and each is used at most once;
    - `micro` is not fixed; fixed coordinates are within their axes;
    - one list of axes per dimension of the tensor, whose shape is static;
    - a dimension has at least as many elements as parts, and one in a zigzag a
      multiple of twice as many;
    - only a dimension with axes is in a zigzag or shifted, by less than the
      number of its parts.

    Example:
    ```mlir
    #mesh = #dist.mesh<[dp = 2, pp = 4, tp = 2], micro = 8>
    #layout = #dist.layout<#mesh, [{micro, dp}, {}, {tp} ], at = [pp = 3]>
    #gradient = #dist.layout<#mesh, [{tp}, {} ], partial = [sum {micro, dp} ]>
    #balanced = #dist.layout<#mesh, [{dp}, zigzag {tp}, {} ]>
    #visiting = #dist.layout<#mesh, [{dp}, {tp} shift 1, {} ]>
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
    /// The layout of `rank` dimensions that mentions no axis.
    static LayoutAttr getReplicated(MeshAttr mesh, unsigned rank) {
      return get(mesh, Layout(rank));
    }
    unsigned getRank() const { return getValue().dims.size(); }
    /// Axes that shard dimension `dim`, major first.
    ::llvm::ArrayRef<Axis> getDimAxes(unsigned dim) const {
      return getValue().dims[dim];
    }
    /// Axes over which a reduction of that kind is pending.
    ::llvm::ArrayRef<Axis> getPartialAxes(ReductionKind kind) const {
      return getValue().getPartial(kind);
    }
    bool isPartial() const { return getValue().isPartial(); }
    /// Whether `micro` shards a dimension.
    bool isShardedOverMicro() const {
      return getValue().getShardedDim(microAxis).has_value();
    }
    /// Whether a reduction over `micro` is pending.
    bool isPartialOverMicro() const {
      return getValue().getPartialKind(microAxis).has_value();
    }
    /// Whether ranks keep their part in host memory.
    bool isOnHost() const { return getValue().onHost; }
    /// The same layout in host or in device memory.
    LayoutAttr withHost(bool onHost) const;
    /// The same layout at other fixed coordinates.
    LayoutAttr
    withFixed(::llvm::ArrayRef<std::pair<Axis, int64_t>> fixed) const;
  }];
}

//===----------------------------------------------------------------------===//
// Work and buckets
//===----------------------------------------------------------------------===//

def Dist_OrderAttr : Dist_Attr<"Order", "order"> {
  let summary = "The order in which a program runs its sections";
  let description = [{
    A list of work items: a letter for the section kind (`F`orward, `B`ackward,
    `I`nput gradient, `W`eight gradient, `U`pdate), the micro-batch unless the
    section runs once per step, and `.c` for a chunk other than 0.

    Example: `#dist.order<[F0, F1, B0, F2.1, U]>`
  }];
  let parameters = (ins
    ArrayRefParameter<"::proteus::dist::Work", "work items">:$items);
  let hasCustomAssemblyFormat = 1;
}

def Dist_BucketsAttr : Dist_Attr<"Buckets", "buckets"> {
  let summary = "Which iterations of which operands are reduced together";
  let description = [{
    A list of buckets in the order of their launch; each holds half-open ranges
    of iterations of operands, written `operand[from:to]`.

    Example: `#dist.buckets<[[0[11:12], 1[11:12]], [0[0:11], 1[0:11]]]>`
  }];
  let parameters = (ins
    AttrParameter<"::proteus::dist::Buckets", "ranges per bucket",
                  "const ::proteus::dist::Buckets &">:$value);
  let hasCustomAssemblyFormat = 1;
}

/// The number of a dimension; verifiers compare it with the rank.
def Dist_DimAttr
    : TypedSignlessIntegerAttrBase<I64, "int64_t", "dimension number">;

/// The number of a stage, chunk or message.
def Dist_NumberAttr : ConfinedAttr<Dist_DimAttr, [IntNonNegative]> {
  let summary = "non-negative 64-bit integer";
}

def Dist_AxisNamesAttr : TypedArrayAttrBase<StrAttr, "axis names">;

#endif // PROTEUS_DIALECT_DIST_DISTATTRS_TD
