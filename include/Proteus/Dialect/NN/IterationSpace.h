//===- IterationSpace.h - iteration spaces of operations --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The iteration space of an operation consists of its iterators, and for each
// dimension of each operand and result the iterators that index it. For
// example, a matrix product `[batch, in] x [out, in] -> [batch, out]` has the
// iterators `batch`, `out` and `in`. From the space, passes and cost models
// derive how a split propagates, which results become partial, the local
// shapes, the FLOPs and the bytes.
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

/// Kind of an iterator. If an iterator is split over devices, the results that
/// it indexes are sharded. The kind determines how the other results become
/// partial (as sums or as maxima), or forbids the split.
enum class IteratorKind {
  Parallel,  ///< the iterator indexes every result
  Sum,       ///< each device has a partial sum of the other results
  Max,       ///< each device has a partial maximum of them
  LogSumExp, ///< no split before the operation is decomposed (log-sum-exp)
  Moments,   ///< no split before it is decomposed (mean and variance)
  Opaque,    ///< the iterator cannot be split
};

struct Iterator {
  std::string name;
  int64_t size = 1;
  IteratorKind kind = IteratorKind::Parallel;

  bool isSplittable() const {
    return kind == IteratorKind::Parallel || kind == IteratorKind::Sum ||
           kind == IteratorKind::Max;
  }
  /// Returns true if the operation must be decomposed before this iterator can
  /// be split.
  bool isCompound() const {
    return kind == IteratorKind::LogSumExp || kind == IteratorKind::Moments;
  }
};

/// Iterators that index one dimension, major first. A fused dimension such as
/// `heads * dim` has several iterators. A dimension that is read through a
/// window, such as the height of an image in a convolution, has none and is
/// never split.
using DimIterators = llvm::SmallVector<unsigned, 2>;

/// Iterators of every dimension of a tensor.
using TensorIterators = llvm::SmallVector<DimIterators, 4>;

/// Iterators of one operation, and the iterators that index each dimension of
/// its operands and results. The numbers in `operands` and `results` are
/// indices into `iterators`.
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

/// Ranges [begin, end) of values of an iterator, in ascending order. A device
/// can hold several ranges of an iterator, for example with a zigzag split.
using IteratorRanges = llvm::SmallVector<std::pair<int64_t, int64_t>, 2>;

/// Class of the kernel of an operation, by the resource that bounds its time.
enum class KernelClass {
  Matrix, ///< runs on the matrix units: bounded by FLOPs or by bytes
  Memory, ///< streams its operands: bounded by bytes
  View,   ///< launches no kernel: the result shares the operand's memory
};

/// Families of kernels. The cost models give each family an efficiency of its
/// own. An operation that does not override `getKernelFamily` is `Plain`.
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

/// Kind of a matrix product in the step: a product of the forward pass, the
/// gradient of the input (data) of such a product, or the gradient of its
/// weight. Gradients of attention are `DataGradient`. An operation that does
/// not override `getKernelPass` is `Forward`, for example an nn.matmul of the
/// backward pass.
enum class KernelPass { Forward, DataGradient, WeightGradient };

/// Fails with an error if an operand or result of `op` does not fit `space`.
/// Each of them must be a tensor of static shape, with the rank that `space`
/// gives and at most `maxElements` elements; a scalar counts as a tensor of
/// rank 0. The size of a dimension must be the product of the sizes of the
/// iterators that index it. If no iterator indexes the dimension, any positive
/// size is valid.
llvm::LogicalResult verifyIterationSpace(mlir::Operation *op,
                                         const IterationSpace &space);

/// Maximum number of elements of a tensor. For larger tensors, the number of
/// bytes or the time in picoseconds could overflow 64 bits.
constexpr int64_t maxElements = int64_t(1) << 56;

/// Fails with an error at `loc` if `type` has more than `maxElements` elements.
llvm::LogicalResult verifyElementCount(mlir::Location loc,
                                       mlir::RankedTensorType type);

/// Returns the conventional name of the iterator of dimension `dim` of a tensor
/// of rank `rank`. A tensor of rank 4 is an image: `batch`, `channel`,
/// `height`, `width`. In tensors of other ranks, the last dimension is
/// `hidden`. Of the dimensions before it, the first is `batch`, the second
/// `seq`, and any further one `d<dim>`.
std::string dataIteratorName(unsigned dim, unsigned rank);

} // namespace proteus::nn

#include "Proteus/Dialect/NN/NNInterfaces.h.inc"

#endif // PROTEUS_DIALECT_NN_ITERATIONSPACE_H
