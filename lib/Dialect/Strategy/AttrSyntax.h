//===- AttrSyntax.h - text of attributes inside operations ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attribute has the same text inside an operation (`split op [batch -> dp]`)
// as inside its own brackets (`#strategy.partition<[batch -> dp]>`). These
// functions parse and print that text. The attributes and operations of the
// dialect use them.
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

/// Keywords that may precede the axes of a part.
constexpr llvm::StringLiteral ringWord = "ring";
constexpr llvm::StringLiteral zigzagWord = "zigzag";

/// Parses the name of an axis or iterator, a bare identifier. `what` names it
/// in errors.
mlir::ParseResult parseName(mlir::AsmParser &parser, mlir::StringAttr &name,
                            llvm::StringRef what);

/// Parses an axis or a sub-axis, `d` or `d:(1)2`.
mlir::ParseResult parseAxisUse(mlir::AsmParser &parser, mlir::StringAttr &axis);

/// Returns true if a name can be written as a bare identifier.
bool isIdentifier(llvm::StringRef name);

} // namespace proteus::strategy

#endif // PROTEUS_LIB_DIALECT_STRATEGY_ATTRSYNTAX_H
