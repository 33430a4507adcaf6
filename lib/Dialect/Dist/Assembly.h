//===- Assembly.h - text shared by attributes and ops -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsers and printers of syntax that attributes and operations of the dialect
// share.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DIALECT_DIST_ASSEMBLY_H
#define PROTEUS_LIB_DIALECT_DIST_ASSEMBLY_H

#include "Proteus/Dialect/Dist/Dist.h"

namespace proteus::dist {

/// Parse and print a list of work items, such as `[F0, B0, U]`.
mlir::ParseResult parseWorkList(mlir::AsmParser &parser,
                                llvm::SmallVectorImpl<Work> &items);
void printWorkList(mlir::AsmPrinter &printer, llvm::ArrayRef<Work> items);

/// Parse and print a list of buckets, such as
/// `[[0[11:12], 1[11:12]], [0[0:11]]]`.
mlir::ParseResult parseBucketList(mlir::AsmParser &parser, Buckets &buckets);
void printBucketList(mlir::AsmPrinter &printer, const Buckets &buckets);

} // namespace proteus::dist

#endif // PROTEUS_LIB_DIALECT_DIST_ASSEMBLY_H
