//===- BatchAnalysis.h - batch dimensions of values -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Analysis that finds the batch in the values and operations of a function.
// Used by apply-strategy, match-strategy and propagate-strategy.
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
/// batch, and for each value the dimension that holds it. The batch is
/// dimension 0 of every input of the step, and the analysis follows it along
/// the data flow. A value that does not depend on the inputs but has an element
/// per sample (zeros, repeated tables) has its batch dimension where its
/// readers need it. Micro-batches split these iterators and dimensions.
class BatchAnalysis {
public:
  explicit BatchAnalysis(mlir::FunctionOpInterface function);

  /// Returns the iterator of `op` that runs over the batch, or nullopt.
  std::optional<unsigned> getIterator(mlir::Operation *op) const {
    auto found = iterators.find(op);
    return found == iterators.end() ? std::nullopt
                                    : std::optional<unsigned>(found->second);
  }

  /// Returns the dimension of `value` that holds the batch, or nullopt.
  std::optional<unsigned> getDimension(mlir::Value value) const {
    auto found = dimensions.find(value);
    return found == dimensions.end() ? std::nullopt
                                     : std::optional<unsigned>(found->second);
  }

private:
  /// Follows the batch from operands to results.
  void visit(mlir::Block &block);
  void visit(mlir::Operation *op);
  /// Sets the batch dimension that `op` needs for those of its operands that do
  /// not depend on an input.
  void visitOperands(mlir::Operation *op);
  /// Returns true if `dimension` is the batch dimension of `value` or can
  /// become it: `value` has none so far, and no dimension of a function
  /// argument, such as a parameter, reaches `dimension`.
  bool canHold(mlir::Value value, unsigned dimension);
  /// Computes `canHold` for a value without a batch dimension.
  bool findOut(mlir::Value value, unsigned dimension);
  /// Makes `dimension` the batch dimension of `value` and follows it to the
  /// values from which `value` is computed. `canHold` must be true.
  void hold(mlir::Value value, unsigned dimension);
  /// Gives `to` the batch dimension of `from` plus `shift`.
  void copy(mlir::Value from, mlir::Value to, int shift = 0);

  /// Batch iterators and batch dimensions found so far.
  llvm::DenseMap<mlir::Operation *, unsigned> iterators;
  llvm::DenseMap<mlir::Value, unsigned> dimensions;
  /// Results of `canHold`, cached so that a value with several readers is
  /// examined once.
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, bool> answers;
};

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_BATCHANALYSIS_H
