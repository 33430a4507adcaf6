//===- IterationSpace.h - iteration spaces of operations --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The iteration space of an operation: its iterators, and the iterators that
// index each dimension of each operand and result. Passes and cost models
// derive from it how a split propagates, which results become partial, local
// shapes, FLOPs and bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_ITERATIONSPACE_H
#define PROTEUS_DIALECT_NN_ITERATIONSPACE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include "Proteus/Dialect/NN/Gradient.h"

#include <optional>
#include <string>

namespace proteus::nn {

/// Effect of splitting an iterator over devices on the results that the
/// iterator does not index.
enum class IteratorKind {
  Parallel,  ///< none: it indexes every result, so the shards are independent
  Sum,       ///< the results are partial sums
  Max,       ///< the results are partial maxima
  LogSumExp, ///< compound reduction: only a decomposed op can be split
  Moments,   ///< mean and deviation: only a decomposed op can be split
  Opaque,    ///< the iterator cannot be split
};

/// One iterator of an iteration space.
struct Iterator {
  std::string name;
  int64_t size = 1;
  IteratorKind kind = IteratorKind::Parallel;

  bool isSplittable() const {
    return kind == IteratorKind::Parallel || kind == IteratorKind::Sum ||
           kind == IteratorKind::Max;
  }
  /// Returns true if the operation must be decomposed before a split.
  bool isCompound() const {
    return kind == IteratorKind::LogSumExp || kind == IteratorKind::Moments;
  }
};

/// Iterators that index one dimension, major first. A fused dimension has
/// several. A dimension that is read through a window has none and is never
/// split.
using DimIterators = llvm::SmallVector<unsigned, 2>;

/// Iterators of every dimension of a tensor.
using TensorIterators = llvm::SmallVector<DimIterators, 4>;

/// Iterators of one operation, and the iterators that index each dimension of
/// its operands and results.
struct IterationSpace {
  llvm::SmallVector<Iterator, 6> iterators;
  llvm::SmallVector<TensorIterators, 4> operands;
  llvm::SmallVector<TensorIterators, 2> results;

  /// Appends an iterator and returns its index.
  unsigned add(llvm::StringRef name, int64_t size,
               IteratorKind kind = IteratorKind::Parallel);

  /// Returns the index of the iterator called `name`, or nullopt.
  std::optional<unsigned> find(llvm::StringRef name) const;

  /// Returns the number of points, which is the product of all sizes.
  double numPoints() const;
};

/// Half-open ranges of the values of an iterator, in ascending order.
using IteratorRanges = llvm::SmallVector<std::pair<int64_t, int64_t>, 2>;

/// Execution of an operation on a device, by the resource that bounds it.
enum class KernelClass {
  Matrix, ///< runs on the matrix units: bounded by FLOPs or by bytes
  Memory, ///< streams its operands: bounded by bytes
  View,   ///< launches no kernel: the result shares the operand's memory
};

/// Kinds of kernels that differ in efficiency, for the cost models. An
/// operation that overrides nothing is `Plain`.
enum class KernelFamily {
  Plain,      ///< any other kernel, such as a matrix product
  Grouped,    ///< matrix products of many groups in one call
  Attention,  ///< fused attention over `batch`, `head`, `group`, `seq`, `key`
  Norm,       ///< normalisation: rows are reduced and rescaled
  Activation, ///< a gated activation
  Rope,       ///< rotary embedding
  Embedding,  ///< lookup of table rows, and its gradient
  Softmax,    ///< softmax and cross-entropy
  Update,     ///< update of a parameter, in one call with all other updates
};

/// Part of a step to which an operation on the matrix units belongs.
enum class KernelPass { Forward, DataGradient, WeightGradient };

/// Emits an error if the size of a dimension of an operand or result of `op`
/// differs from the product of the sizes of the iterators that index it.
llvm::LogicalResult verifyIterationSpace(mlir::Operation *op,
                                         const IterationSpace &space);

/// Maximum number of elements of a tensor. Byte counts and times in picoseconds
/// of larger tensors overflow.
constexpr int64_t maxElements = int64_t(1) << 56;

/// Emits an error at `loc` if `type` has more than `maxElements` elements.
llvm::LogicalResult verifyElementCount(mlir::Location loc,
                                       mlir::RankedTensorType type);

/// Returns the conventional name of the iterator of dimension `dim` of a data
/// tensor of rank `rank`. The first of several dimensions is `batch`, the
/// second `seq`, the last `hidden`, any other `d<dim>`. A tensor of rank 4 is
/// an image with `batch`, `channel`, `height` and `width`.
std::string dataIteratorName(unsigned dim, unsigned rank);

} // namespace proteus::nn

#include "Proteus/Dialect/NN/NNInterfaces.h.inc"

#endif // PROTEUS_DIALECT_NN_ITERATIONSPACE_H
