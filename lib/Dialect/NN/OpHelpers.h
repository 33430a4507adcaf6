//===- OpHelpers.h - helpers for nn operations ------------------*- C++ -*-===//
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

/// Returns the type of `value`, which must be a ranked tensor.
mlir::RankedTensorType tensorType(mlir::Value value);

/// Returns the size of dimension `dim`, or 1 if the tensor has no such
/// dimension. A missing dimension is not an error, because the iteration space
/// is also built for ill-formed operations. verifyIterationSpace then reports
/// the wrong rank.
int64_t sizeOf(mlir::Value value, int64_t dim);

/// Returns the rank of `value`, which must be a ranked tensor.
int64_t rankOf(mlir::Value value);

/// Returns the iterators of a tensor in which dimension i is indexed by
/// `iterators[i]` alone.
TensorIterators indexedBy(llvm::ArrayRef<unsigned> iterators);

/// Adds an iterator of kind `kind` for each of the first `count` dimensions of
/// `value` and returns the indices of the new iterators.
llvm::SmallVector<unsigned> addLeading(IterationSpace &space, mlir::Value value,
                                       int64_t count, IteratorKind kind);

/// Returns `list` followed by `last`.
llvm::SmallVector<unsigned> appended(llvm::SmallVector<unsigned> list,
                                     unsigned last);

/// Returns the space of an element-wise operation, which has one parallel
/// iterator per dimension of `like`. The iterators index the dimensions of
/// every operand and result. An operand with fewer dimensions than `like` has
/// the last dimensions of `like`.
IterationSpace elementwise(mlir::Operation *op, mlir::Value like);

/// Iteration space of operations on rows, such as a softmax: an iterator for
/// each leading dimension, and the iterator `vocab` for the last dimension.
/// `logits()` returns the iterators of a tensor with all dimensions, and
/// `rows()` those of a tensor with one value per row.
struct RowSpace {
  IterationSpace space;
  llvm::SmallVector<unsigned> leading;
  unsigned vocab;

  RowSpace(mlir::Value data, IteratorKind leadingKind, IteratorKind vocabKind);
  TensorIterators logits() const { return indexedBy(appended(leading, vocab)); }
  TensorIterators rows() const { return indexedBy(leading); }
};

/// Builds the sum of `gradient` over the leading dimensions that `operand` does
/// not have. For example, the gradient of a bias is summed over `batch`.
mlir::Value sumLeading(GradientScope &scope, mlir::Location loc,
                       mlir::StringAttr path, mlir::Value gradient,
                       mlir::Value operand);

/// Fails with an error if `rhs` has more dimensions than `lhs`. If `rhs` has
/// fewer dimensions, it is repeated along the leading dimensions of `lhs`.
llvm::LogicalResult verifyRepeatedOperand(mlir::Operation *op, mlir::Value lhs,
                                          mlir::Value rhs);

} // namespace proteus::nn

#endif // PROTEUS_LIB_DIALECT_NN_OPHELPERS_H
