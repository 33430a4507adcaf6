//===- Propagation.h - axes along the data flow -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the partitions that the tree sets spread to all operations. The passes
// that ask: propagate-strategy writes the result into the function;
// settle-repeats looks, before, for layers that do not end as they begin.
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

/// Where the axes of an iterator come from that the tree does not set.
struct AxisSource {
  enum Kind { Operand, Reader } kind;
  /// Number of the operand, or of the operand by which the reader reads.
  unsigned number = 0;
  /// The reader.
  mlir::Operation *op = nullptr;
};

/// How the operations and values of a function are split, and why. Without the
/// time axis: micro-batches do not spread along the data flow.
struct PropagatedPartitions {
  /// An operation and the number of one of its iterators.
  using OpIterator = std::pair<mlir::Operation *, unsigned>;

  /// Of every operation with an iteration space.
  llvm::DenseMap<mlir::Operation *, Partitioning> parts;
  /// Iterators that the tree sets, split or not.
  llvm::DenseSet<OpIterator> setByTree;
  /// Where an iterator that the tree does not set has its axes from.
  llvm::DenseMap<OpIterator, AxisSource> sources;
  /// Axes per dimension of the values of which something is known.
  llvm::DenseMap<mlir::Value, DimAxes> known;
};

/// Spreads the partitions that the tree sets for a matched function along its
/// data flow. Fails, with a diagnostic, if the tree stores an argument in a way
/// that is not possible.
llvm::FailureOr<PropagatedPartitions> propagate(mlir::func::FuncOp function,
                                                const dist::Mesh &mesh);

/// Repeats at the top of a matched function whose body leaves a carried value
/// split otherwise than it finds it, in the order of the program: their first
/// iteration differs from the others. Fails where propagation does.
llvm::FailureOr<llvm::SmallVector<nn::RepeatOp>>
findUnsettledRepeats(mlir::func::FuncOp function, const dist::Mesh &mesh);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATION_H
