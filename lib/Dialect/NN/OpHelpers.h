//===- OpHelpers.h - what the files of operations share ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DIALECT_NN_OPHELPERS_H
#define PROTEUS_LIB_DIALECT_NN_OPHELPERS_H

#include "Proteus/Dialect/NN/NN.h"

namespace proteus::nn {

mlir::RankedTensorType tensorType(mlir::Value value);

/// Size of a dimension. Verifiers build the space of ill-formed operations
/// too, so a missing dimension counts as one and is reported by rank.
int64_t sizeOf(mlir::Value value, int64_t dim);

int64_t rankOf(mlir::Value value);

/// Dimensions each indexed by one iterator.
TensorIterators indexedBy(llvm::ArrayRef<unsigned> iterators);

/// Adds an iterator for each of the first `count` dimensions of `value`.
llvm::SmallVector<unsigned> addLeading(IterationSpace &space, mlir::Value value,
                                       int64_t count, IteratorKind kind);

llvm::SmallVector<unsigned> appended(llvm::SmallVector<unsigned> list,
                                     unsigned last);

/// A space with one parallel iterator per dimension of `like`, by which every
/// operand and result is indexed; operands of lower rank lack the leading ones.
IterationSpace elementwise(mlir::Operation *op, mlir::Value like);

/// Rows: the leading dimensions, and the last one as `vocab`.
struct RowSpace {
  IterationSpace space;
  llvm::SmallVector<unsigned> leading;
  unsigned vocab;

  RowSpace(mlir::Value data, IteratorKind leadingKind, IteratorKind vocabKind);
  TensorIterators logits() const { return indexedBy(appended(leading, vocab)); }
  TensorIterators rows() const { return indexedBy(leading); }
};

/// Sums `gradient` down to the trailing dimensions that `operand` has.
mlir::Value sumLeading(GradientScope &scope, mlir::Location loc,
                       mlir::StringAttr path, mlir::Value gradient,
                       mlir::Value operand);

/// Checks that `rhs` lacks no dimension but leading ones of `lhs`.
llvm::LogicalResult verifyRepeatedOperand(mlir::Operation *op, mlir::Value lhs,
                                          mlir::Value rhs);

} // namespace proteus::nn

#endif // PROTEUS_LIB_DIALECT_NN_OPHELPERS_H
