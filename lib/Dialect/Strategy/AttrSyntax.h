//===- AttrSyntax.h - text of attributes inside operations ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsers and printers that the attributes and the operations of the dialect
// share. The text of an attribute is the same in an operation
// (`split op [batch -> dp]`) and in the brackets of the attribute
// (`#strategy.partition<[batch -> dp]>`).
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DIALECT_STRATEGY_ATTRSYNTAX_H
#define PROTEUS_LIB_DIALECT_STRATEGY_ATTRSYNTAX_H

#include "Proteus/Dialect/Strategy/Strategy.h"

namespace proteus::strategy {

mlir::ParseResult parseItemText(mlir::AsmParser &parser, ItemAttr &item);
void printItemText(mlir::AsmPrinter &printer, ItemAttr item);

mlir::ParseResult parsePartitionText(mlir::AsmParser &parser,
                                     PartitionAttr &partition);
void printPartitionText(mlir::AsmPrinter &printer, PartitionAttr partition);

mlir::ParseResult parseAxisText(mlir::AsmParser &parser, AxisAttr &axis);
void printAxisText(mlir::AsmPrinter &printer, AxisAttr axis);

mlir::ParseResult parseCoordinateText(mlir::AsmParser &parser,
                                      CoordinateAttr &coordinate);
void printCoordinateText(mlir::AsmPrinter &printer, CoordinateAttr coordinate);

/// Keywords that may precede the axes of a part, as in `key -> ring zigzag cp`.
constexpr llvm::StringLiteral ringWord = "ring";
constexpr llvm::StringLiteral zigzagWord = "zigzag";

/// Parses a bare identifier that names an axis or an iterator. `what` is the
/// word for it in error messages: `axis` or `iterator`.
mlir::ParseResult parseName(mlir::AsmParser &parser, mlir::StringAttr &name,
                            llvm::StringRef what);

/// Parses an axis or a sub-axis: `d` or `d:(1)2`.
mlir::ParseResult parseAxisUse(mlir::AsmParser &parser, mlir::StringAttr &axis);

/// Returns true if `name` is an identifier: letters, digits and `_`, without a
/// digit at the start.
bool isIdentifier(llvm::StringRef name);

} // namespace proteus::strategy

#endif // PROTEUS_LIB_DIALECT_STRATEGY_ATTRSYNTAX_H
