//===- StrategyAttrs.td - attributes of strategies ---------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_STRATEGY_STRATEGYATTRS_TD
#define PROTEUS_DIALECT_STRATEGY_STRATEGYATTRS_TD

include "Proteus/Dialect/Strategy/StrategyDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def Strategy_ItemKind : I32Enum<"ItemKind", "computation or memory item of an operation", [
    I32EnumCase<"Op", 0, "op">,
    I32EnumCase<"Weight", 1, "weight">,
    I32EnumCase<"Gradient", 2, "gradient">,
    I32EnumCase<"State", 3, "state">,
    I32EnumCase<"Output", 4, "output">,
    I32EnumCase<"OutputGradient", 5, "output_gradient">,
    I32EnumCase<"Input", 6, "input">
  ]> {
  let cppNamespace = "::proteus::strategy";
}

def Strategy_Phase : I32Enum<"Phase", "part of a training step", [
    I32EnumCase<"Forward", 0, "forward">,
    I32EnumCase<"Backward", 1, "backward">,
    I32EnumCase<"WeightGradient", 2, "weight_gradient">,
    I32EnumCase<"Update", 3, "update">
  ]> {
  let cppNamespace = "::proteus::strategy";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Strategy_PhaseAttr
    : EnumAttr<Strategy_Dialect, Strategy_Phase, "phase"> {
  let summary = "The part of a training step to which an operation belongs";
  let description = [{
    Operations of the backward pass compute gradients and belong to `backward`.
    If the schedule splits the backward pass, those gradients that no other
    stage reads, such as the gradients of parameters, belong to
    `weight_gradient` instead.
  }];
  let assemblyFormat = "`<` $value `>`";
}

class Strategy_Attr<string name, string attrMnemonic>
    : AttrDef<Strategy_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Strategy_ItemAttr : Strategy_Attr<"Item", "item"> {
  let summary = "The computation, or one memory item, of an operation";
  let description = [{
    Names the computation or memory item of an operation to which a `split`
    applies:

    - `op`: the computation itself;
    - `weight`: its parameters;
    - `gradient`: the gradients of its parameters;
    - `state`: the optimizer state of its parameters;
    - `output`, `output_gradient`: its results and their gradients;
    - `input k`: its operand number k, counted from 0.

    **Constraints**: an `input` has an operand number, which is not negative; no
    other item has one.

    ```mlir
    #strategy.item<weight>
    #strategy.item<input 1>
    ```
  }];
  let parameters = (ins "ItemKind":$kind,
                        OptionalParameter<"std::optional<int64_t>">:$operand);
  let builders = [
    AttrBuilder<(ins "ItemKind":$kind), [{
      return $_get($_ctxt, kind, std::nullopt);
    }]>
  ];
}

def Strategy_AxisAttr : Strategy_Attr<"Axis", "axis"> {
  let summary = "A named axis of a device mesh";
  let description = [{
    An axis with its name and its size, which is the number of devices along it.

    **Constraints**: the name is an identifier: a letter or `_`, followed by
    letters, digits and `_`.

    ```mlir
    #strategy.axis<dp = 16>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$size);
}

def Strategy_CoordinateAttr : Strategy_Attr<"Coordinate", "coordinate"> {
  let summary = "A coordinate on an axis of a device mesh";
  let description = [{
    One axis and a position on it. The axis may be a sub-axis, such as
    `pp:(1)2`; see `#strategy.part`.

    **Constraints**: the name of the axis is an identifier (a letter or `_`,
    followed by letters, digits and `_`), optionally followed by a sub-axis.

    ```mlir
    #strategy.coordinate<pp = 7>
    #strategy.coordinate<d:(1)2 = 1>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$axis, "int64_t":$position);
}

def Strategy_PartAttr : Strategy_Attr<"Part", "part"> {
  let summary = "One iterator or dimension with the mesh axes that split it";
  let description = [{
    Splits one key over axes of the mesh. The key is the name of an iterator or
    the number of a dimension. If there are several axes, the first is the major
    one: with `[dp, tp]`, devices that are neighbours on `tp` hold neighbouring
    parts. With an empty list of axes, `[]`, the key is not split, even if an
    enclosing node splits it.

    A single axis may be written with or without brackets; both give the same
    attribute.

    A *sub-axis* is a factor of an axis: `d:(p)s` is a factor s of the size of
    axis d, and p is the product of all factors that are more major. For
    example, the axis `d = 8` is the product of `d:(1)2` (the half of the
    devices) and `d:(2)4` (the index within the half). `[d:(1)2, d:(2)4]` is
    equal to `d`.

    Parameters, their gradients and their states have two more keys, which
    stand for all dimensions together. With `flat`, the block that operations
    read is one list of elements in row-major order, and the axes divide this
    list into equal parts; the last parts may be padding. With `flat_rows`, each
    part consists of whole rows of dimension 0. Axes that split a dimension of
    the block already are left out. ZeRO and FSDP store parameters in these
    forms.

    With `zigzag`, the parts are not contiguous: for n parts, the key is cut
    into 2n chunks, and part i consists of the chunks i and 2n - 1 - i. With
    `ring`, the parts move: each part visits all devices, one after the other.

    **Constraints**: the key is a string that is an identifier, or an `i64`;
    names of axes are identifiers (a letter or `_`, followed by letters, digits
    and `_`), optionally followed by a sub-axis; the prefix of a sub-axis is at
    least 1 and its size at least 2; `zigzag` and `ring` apply to iterators
    only, and require at least one axis.

    ```mlir
    #strategy.part<batch -> dp>
    #strategy.part<0 -> [dp, tp]>
    #strategy.part<out -> d:(2)4>
    #strategy.part<seq -> zigzag cp>
    #strategy.part<key -> ring zigzag cp>
    #strategy.part<flat -> dp>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$key,
                        ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        "bool":$zigzag, "bool":$ring);
  let builders = [
    AttrBuilder<(ins "::mlir::Attribute":$key,
                     "::llvm::ArrayRef<::mlir::StringAttr>":$axes), [{
      return $_get($_ctxt, key, axes, false, false);
    }]>
  ];
  let extraClassDeclaration = [{
    /// Returns true if the key is the number of a dimension.
    bool isDimension() const {
      return ::llvm::isa<::mlir::IntegerAttr>(getKey());
    }
    /// Returns the number of the dimension. The key must be the number of a
    /// dimension.
    int64_t getDimension() const {
      return ::llvm::cast<::mlir::IntegerAttr>(getKey()).getInt();
    }
    /// Returns true if the key stands for all dimensions together: `flat` or
    /// `flat_rows`.
    bool isFlat() const {
      return !isDimension() &&
             (getIterator() == kFlatKey || getIterator() == kFlatRowsKey);
    }
    /// Returns the name of the iterator. The key must be the name of an
    /// iterator.
    ::llvm::StringRef getIterator() const {
      return ::llvm::cast<::mlir::StringAttr>(getKey()).getValue();
    }
  }];
}

def Strategy_PartitionAttr : Strategy_Attr<"Partition", "partition"> {
  let summary = "The split of the keys of one item over mesh axes";
  let description = [{
    A list of `#strategy.part`, in the order of the text. A key that does not
    occur in the list is open: other settings or propagation determine its
    split.

    **Constraints**: none for the attribute itself; `strategy.split` checks keys
    and axes.

    ```mlir
    #strategy.partition<[batch -> dp, out -> [a, b]]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"PartAttr">:$parts);
  let genVerifyDecl = 0;
  let extraClassDeclaration = [{
    /// Returns the part whose key is the iterator `iterator`, or null if there
    /// is none.
    PartAttr lookup(::llvm::StringRef iterator) const;
    /// Returns the part whose key is the dimension `dimension`, or null if
    /// there is none.
    PartAttr lookup(int64_t dimension) const;
  }];
}

def Strategy_FlatAttr : AttrDef<Strategy_Dialect, "Flat"> {
  let mnemonic = "flat";
  let summary = "A flat cut of a stored tensor, or of the tensors of an update";
  let description = [{
    Axes that divide the block which the dimensions of a tensor leave to a
    device, as one row-major list of elements; see `#dist.layout`. The first
    `leading` dimensions are not part of the list. A part is a multiple of
    `granule` elements, or of rows of the first dimension of the list.

    **Constraints**: there is at least one axis, `leading` is not negative and
    `granule` is positive.

    ```mlir
    #strategy.flat<["dp"], leading = 1, granule = 1>
    #strategy.flat<["dp"], leading = 1, rows>
    ```
  }];
  let parameters = (ins "::mlir::ArrayAttr":$axes, "int64_t":$leading,
      OptionalParameter<"std::optional<int64_t>",
                        "elements, or nothing for rows">:$granule);
  let assemblyFormat = [{
    `<` $axes `,` `leading` `=` $leading `,`
    (`granule` `=` $granule^) : (`rows`)? `>`
  }];
  let genVerifyDecl = 1;
}

def Strategy_AxisArrayAttr
    : TypedArrayAttrBase<Strategy_AxisAttr, "array of mesh axes">;

def Strategy_CoordinateArrayAttr
    : TypedArrayAttrBase<Strategy_CoordinateAttr, "array of coordinates">;

#endif // PROTEUS_DIALECT_STRATEGY_STRATEGYATTRS_TD
