//===- Propagation.h - axes along the data flow -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Propagates the partitions that a tree sets to all operations of a function.
// propagate-strategy writes the result into the function. settle-repeats runs
// before it, and uses the propagation to find layers that change the layout of
// a carried value.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATION_H
#define PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATION_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Common/Partitioning.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace proteus {

/// Origin of the axes of an iterator that the tree does not set: an operand of
/// the operation, or the first reader of its result.
struct AxisSource {
  enum Kind { Operand, Reader } kind;
  /// For an operand, its number. For a reader, the number of the operand by
  /// which it reads the result.
  unsigned number = 0;
  /// The reader; null for an operand.
  mlir::Operation *op = nullptr;
};

/// Partitions of the operations and values of a function, and their origin.
/// They do not contain the axis `micro`, which propagate-strategy adds to the
/// batch iterators afterwards.
struct PropagatedPartitions {
  /// An operation and the number of one of its iterators.
  using OpIterator = std::pair<mlir::Operation *, unsigned>;

  /// Partition of every operation with an iteration space.
  llvm::DenseMap<mlir::Operation *, Partitioning> parts;
  /// Iterators that the tree sets, including those that the tree keeps whole.
  llvm::DenseSet<OpIterator> setByTree;
  /// Origin of the axes of each other iterator that is split.
  llvm::DenseMap<OpIterator, AxisSource> sources;
  /// Axes of each dimension of every value that propagation has reached.
  llvm::DenseMap<mlir::Value, DimAxes> known;
};

/// Propagates the partitions that the tree sets for a matched function along
/// its data flow. Emits an error if the tree sets an invalid storage layout for
/// an argument.
llvm::FailureOr<PropagatedPartitions> propagate(mlir::func::FuncOp function,
                                                const dist::Mesh &mesh);

/// Returns, in program order, the top-level repeats of a matched function that
/// have several iterations and change the partition of a carried value. The
/// first iteration of such a repeat reads the value in another layout than the
/// other iterations. Fails if propagation fails.
llvm::FailureOr<llvm::SmallVector<nn::RepeatOp>>
findUnsettledRepeats(mlir::func::FuncOp function, const dist::Mesh &mesh);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATION_H
