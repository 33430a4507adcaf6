//===- Executor.h - operations executed over all ranks ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_INTERP_EXECUTOR_H
#define PROTEUS_LIB_INTERP_EXECUTOR_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Interp/Collectives.h"
#include "Proteus/Interp/Interpreter.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace proteus::interp {

/// Executes blocks in lock-step on all ranks of a grid: a value is one tensor
/// per rank, an operation is evaluated on all ranks before the next one.
class Executor {
public:
  explicit Executor(RankGrid grid, Noise noise = {})
      : grid(std::move(grid)), noise(noise) {}
  virtual ~Executor() = default;

  const RankGrid &getGrid() const { return grid; }
  /// Executes all operations but the terminator.
  mlir::LogicalResult run(mlir::Block &block);
  /// Executes one operation.
  mlir::LogicalResult run(mlir::Operation *op);

  void set(mlir::Value value, RankTensors tensors) {
    environment[value] =
        std::make_shared<const RankTensors>(std::move(tensors));
  }
  /// What the ranks hold of `value`, which must have been computed.
  const RankTensors &get(mlir::Value value) const {
    auto found = environment.find(value);
    assert(found != environment.end() && "the value has been computed");
    return *found->second;
  }
  bool has(mlir::Value value) const { return environment.count(value); }
  /// Makes `to` another name of `from`.
  void alias(mlir::Value to, mlir::Value from) {
    auto found = environment.find(from);
    assert(found != environment.end() && "the value has been computed");
    std::shared_ptr<const RankTensors> tensors = found->second;
    environment[to] = std::move(tensors);
  }
  /// Adds the noise to the elements of `value`.
  void disturb(mlir::Value value, Tensor &tensor);
  /// Checks that every rank holds what the type of `value` says, then sets it.
  mlir::LogicalResult setChecked(mlir::Value value, RankTensors tensors);

protected:
  /// Executes an operation that is neither structure nor kernel; `false` if it
  /// is not known.
  virtual llvm::FailureOr<bool> visitOther(mlir::Operation *) { return false; }

private:
  mlir::LogicalResult visitRepeat(nn::RepeatOp repeat);
  mlir::LogicalResult visitRecompute(nn::RecomputeOp recompute);
  mlir::LogicalResult visitKernel(mlir::Operation *op);

  RankGrid grid;
  Noise noise;
  /// Tensors that have been disturbed, each with random numbers of its own.
  uint64_t numDisturbed = 0;
  llvm::DenseMap<mlir::Value, std::shared_ptr<const RankTensors>> environment;
};

} // namespace proteus::interp

#endif // PROTEUS_LIB_INTERP_EXECUTOR_H
