//===- Propagation.h - axes along the data flow -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Propagation of the partitions that a tree sets to all operations.
// propagate-strategy writes the result into the function. Before,
// settle-repeats uses it to find layers that change the layout of a carried
// value.
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
  /// Number of the operand of the operation, or of the operand of the reader.
  unsigned number = 0;
  /// The reader; null for an operand.
  mlir::Operation *op = nullptr;
};

/// Partitions of the operations and values of a function, and their origin.
/// They do not contain the axis `micro`, because micro-batches do not follow
/// the data flow.
struct PropagatedPartitions {
  /// Operation and the number of one of its iterators.
  using OpIterator = std::pair<mlir::Operation *, unsigned>;

  /// Partition of every operation with an iteration space.
  llvm::DenseMap<mlir::Operation *, Partitioning> parts;
  /// Iterators that the tree sets, including those that it sets to be whole.
  llvm::DenseSet<OpIterator> setByTree;
  /// Origins of the axes of the other split iterators.
  llvm::DenseMap<OpIterator, AxisSource> sources;
  /// Axes of each dimension of the values that propagation has reached.
  llvm::DenseMap<mlir::Value, DimAxes> known;
};

/// Propagates the partitions that the tree sets for a matched function along
/// its data flow. Emits an error if the tree sets an invalid storage for an
/// argument.
llvm::FailureOr<PropagatedPartitions> propagate(mlir::func::FuncOp function,
                                                const dist::Mesh &mesh);

/// Returns the top-level repeats of a matched function, in program order, whose
/// body changes the partition of a carried value, so that the first iteration
/// differs from the others. Fails if propagation fails.
llvm::FailureOr<llvm::SmallVector<nn::RepeatOp>>
findUnsettledRepeats(mlir::func::FuncOp function, const dist::Mesh &mesh);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATION_H
