//===- BatchAnalysis.h - where the batch is ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// Follows the batch (dimension 0 of every input of the step) through the data
/// flow: which iterator of each operation runs over it, and which dimension of
/// each value holds it. What is made for every sample without reading one
/// (zeroes, repeated tables) has the batch where its readers have it.
/// Micro-batches split exactly this.
class BatchAnalysis {
public:
  explicit BatchAnalysis(mlir::FunctionOpInterface function);

  /// The iterator of `op` that runs over the batch.
  std::optional<unsigned> getIterator(mlir::Operation *op) const {
    auto found = iterators.find(op);
    return found == iterators.end() ? std::nullopt
                                    : std::optional<unsigned>(found->second);
  }

  /// The dimension of `value` that holds the batch.
  std::optional<unsigned> getDimension(mlir::Value value) const {
    auto found = dimensions.find(value);
    return found == dimensions.end() ? std::nullopt
                                     : std::optional<unsigned>(found->second);
  }

private:
  void visit(mlir::Block &block);
  void visit(mlir::Operation *op);
  /// Gives the operands of `op` the batch that it runs over, where they come
  /// from no input.
  void visitOperands(mlir::Operation *op);
  /// Whether `dimension` of `value`, which has no batch so far, can be the
  /// batch: it is new, and not one of a parameter.
  bool canHold(mlir::Value value, unsigned dimension);
  /// Answers `canHold` for a value that was not asked about before.
  bool findOut(mlir::Value value, unsigned dimension);
  /// Makes `dimension` of `value`, which can hold it, the batch.
  void hold(mlir::Value value, unsigned dimension);
  /// Gives `to` the batch dimension of `from`, moved by `shift`.
  void copy(mlir::Value from, mlir::Value to, int shift = 0);

  llvm::DenseMap<mlir::Operation *, unsigned> iterators;
  llvm::DenseMap<mlir::Value, unsigned> dimensions;
  /// Answers of `canHold`: values that are read twice are looked at once.
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, bool> answers;
};

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_BATCHANALYSIS_H
