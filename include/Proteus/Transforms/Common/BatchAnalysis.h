//===- BatchAnalysis.h - batch dimensions of values -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Analysis that finds the batch dimension of each value and the batch iterator
// of each operation. Used by apply-strategy, match-strategy and
// propagate-strategy.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_BATCHANALYSIS_H
#define PROTEUS_TRANSFORMS_COMMON_BATCHANALYSIS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace proteus {

/// The batch in a function: for each operation the iterator that runs over the
/// batch, and for each value the dimension that holds the batch. Micro-batches
/// split these iterators and dimensions.
///
/// The batch is dimension 0 of every input of the step (scalars have none), and
/// the analysis follows it along the data flow. A value that depends on no
/// input, such as a tensor of zeros, may also have one element per sample. The
/// readers of such a value determine its batch dimension.
class BatchAnalysis {
public:
  explicit BatchAnalysis(mlir::FunctionOpInterface function);

  /// Returns the iterator of `op` that runs over the batch, or nullopt if none
  /// does.
  std::optional<unsigned> getIterator(mlir::Operation *op) const {
    auto found = iterators.find(op);
    return found == iterators.end() ? std::nullopt
                                    : std::optional<unsigned>(found->second);
  }

  /// Returns the dimension of `value` that holds the batch, or nullopt if none
  /// does.
  std::optional<unsigned> getDimension(mlir::Value value) const {
    auto found = dimensions.find(value);
    return found == dimensions.end() ? std::nullopt
                                     : std::optional<unsigned>(found->second);
  }

private:
  /// Propagates the batch from operands to results, in program order.
  void visit(mlir::Block &block);
  void visit(mlir::Operation *op);
  /// Propagates the batch from `op` back to those of its operands that do not
  /// depend on an input of the step.
  void visitOperands(mlir::Operation *op);
  /// Returns true if `dimension` is the batch dimension of `value`, or if
  /// `hold` can make it that. The latter requires that `value` has no batch
  /// dimension and its producer no batch iterator, that a parallel iterator
  /// indexes `dimension`, and that `canHold` is true for each operand dimension
  /// that this iterator indexes. A parameter has no producer, so the result is
  /// false.
  bool canHold(mlir::Value value, unsigned dimension);
  /// Computes the result of `canHold` for a value to which the analysis has
  /// assigned no batch dimension so far.
  bool findOut(mlir::Value value, unsigned dimension);
  /// Makes `dimension` the batch dimension of `value`, and the iterator that
  /// indexes it the batch iterator of the producer of `value`. Repeats this for
  /// the operand dimensions that this iterator indexes. Stops at values whose
  /// batch is already known. `canHold(value, dimension)` must be true.
  void hold(mlir::Value value, unsigned dimension);
  /// Gives `to` the batch dimension of `from`, moved by `shift`: by -1 if `to`
  /// is a slice of the stack `from`, and by 1 if `to` is a stack of values like
  /// `from`.
  void copy(mlir::Value from, mlir::Value to, int shift = 0);

  /// Batch iterators of operations and batch dimensions of values, as found so
  /// far.
  llvm::DenseMap<mlir::Operation *, unsigned> iterators;
  llvm::DenseMap<mlir::Value, unsigned> dimensions;
  /// Cached results of `canHold`, so that a value with several readers is
  /// examined once.
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, bool> answers;
};

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_BATCHANALYSIS_H
