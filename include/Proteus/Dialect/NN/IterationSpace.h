//===- IterationSpace.h - the space an op iterates over ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The one thing the core knows of an operation: its iterators, and which of
// them index which dimension of which operand and result. How a split
// propagates, which results become partial, local shapes, FLOPs and bytes all
// follow from it.
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

/// What happens to a result that an iterator does not index when the iterator
/// is split over devices.
enum class IteratorKind {
  Parallel,  ///< indexes every result: the parts are independent
  Sum,       ///< the parts are partial sums
  Max,       ///< the parts are partial maxima
  LogSumExp, ///< compound state: split only after the op is decomposed
  Moments,   ///< mean and deviation, likewise
  Opaque,    ///< may not be split
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
  /// Whether a split needs the operation to be decomposed.
  bool isCompound() const {
    return kind == IteratorKind::LogSumExp || kind == IteratorKind::Moments;
  }
};

/// Iterators that index one dimension, major first. A fused dimension has
/// several; a dimension read through a window has none and is never split.
using DimIterators = llvm::SmallVector<unsigned, 2>;

/// One entry per dimension of a tensor.
using TensorIterators = llvm::SmallVector<DimIterators, 4>;

/// Iterators and indexing of one operation.
struct IterationSpace {
  llvm::SmallVector<Iterator, 6> iterators;
  llvm::SmallVector<TensorIterators, 4> operands;
  llvm::SmallVector<TensorIterators, 2> results;

  /// Appends an iterator and returns its index.
  unsigned add(llvm::StringRef name, int64_t size,
               IteratorKind kind = IteratorKind::Parallel);

  /// Index of the iterator called `name`.
  std::optional<unsigned> find(llvm::StringRef name) const;

  /// Number of points: the product of all sizes.
  double numPoints() const;
};

/// Half-open ranges of the values of an iterator, ascending.
using IteratorRanges = llvm::SmallVector<std::pair<int64_t, int64_t>, 2>;

/// How the device executes an operation.
enum class KernelClass {
  Matrix, ///< on the matrix units: bounded by FLOPs or by bytes
  Memory, ///< streams its operands: bounded by bytes
  View,   ///< no kernel: the result is the operand seen differently
};

/// What is particular about the kernel of an operation, for who knows how fast
/// such kernels are. Nothing else depends on it.
enum class KernelFamily {
  Plain,      ///< a matrix product or a convolution, or a stream of operands
  Grouped,    ///< products of many groups in one call
  Attention,  ///< fused attention over `batch`, `head`, `group`, `seq`, `key`
  Norm,       ///< rows are reduced and rescaled
  Activation, ///< a gated activation
  Rope,       ///< rotary embedding
  Embedding,  ///< rows of a table
  Softmax,    ///< softmax and cross-entropy
  Update,     ///< of a parameter, in one call with all others
};

/// Which part of a step an operation on the matrix units belongs to.
enum class KernelPass { Forward, DataGradient, WeightGradient };

/// Checks every dimension of every operand and result of `op` against the
/// iterators that index it.
llvm::LogicalResult verifyIterationSpace(mlir::Operation *op,
                                         const IterationSpace &space);

/// Elements a tensor may have: beyond it byte counts and picoseconds overflow.
constexpr int64_t maxElements = int64_t(1) << 56;

/// Checks that `type` has no more than `maxElements`.
llvm::LogicalResult verifyElementCount(mlir::Location loc,
                                       mlir::RankedTensorType type);

/// Conventional iterator names of a data tensor: batch first; the second of
/// three dimensions is the sequence; four dimensions are an image.
std::string dataIteratorName(unsigned dim, unsigned rank);

} // namespace proteus::nn

#include "Proteus/Dialect/NN/NNInterfaces.h.inc"

#endif // PROTEUS_DIALECT_NN_ITERATIONSPACE_H
