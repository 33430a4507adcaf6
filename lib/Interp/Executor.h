//===- Executor.h - execution of operations on all ranks --------*- C++ -*-===//
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

/// Executor of MLIR blocks on all ranks of a grid, in lock-step: an operation
/// is evaluated on all ranks before the next operation. A value is one tensor
/// per rank. `T` is the type of the numbers.
template <typename T> class Executor {
public:
  /// The tensors of one value on all ranks. The index is the rank number.
  using RankTensors = std::vector<TensorOf<T>>;

  explicit Executor(RankGrid grid, Noise noise = {})
      : grid(std::move(grid)), noise(noise) {}
  virtual ~Executor() = default;

  const RankGrid &getGrid() const { return grid; }
  /// Executes all operations of `block` but the terminator.
  mlir::LogicalResult run(mlir::Block &block);
  /// Executes one operation.
  mlir::LogicalResult run(mlir::Operation *op);

  /// Sets the tensors of `value` without a check of their shapes.
  void set(mlir::Value value, RankTensors tensors) {
    environment[value] =
        std::make_shared<const RankTensors>(std::move(tensors));
  }
  /// Returns the tensors of `value`, which must have been computed.
  const RankTensors &get(mlir::Value value) const {
    auto found = environment.find(value);
    assert(found != environment.end() && "the value has been computed");
    return *found->second;
  }
  /// Returns true if `value` has been computed.
  bool has(mlir::Value value) const { return environment.count(value); }
  /// Sets `to` to the tensors of `from` without a copy.
  void alias(mlir::Value to, mlir::Value from) {
    auto found = environment.find(from);
    assert(found != environment.end() && "the value has been computed");
    std::shared_ptr<const RankTensors> tensors = found->second;
    environment[to] = std::move(tensors);
  }
  /// Multiplies the elements of `tensor`, the tensor of `value` on one rank, by
  /// random factors as `noise` requires. Leaves integers unchanged.
  void disturb(mlir::Value value, TensorOf<T> &tensor);
  /// Sets the tensors of `value`. Emits an error if the tensor of a rank does
  /// not have the local shape of the type of `value`.
  mlir::LogicalResult setChecked(mlir::Value value, RankTensors tensors);

protected:
  /// Executes the operation and returns true, or returns false if the operation
  /// is a kernel. In this class, every operation is a kernel; the subclass for
  /// programs overrides this function to execute collectives and messages. The
  /// function is not called for repeats and recomputations.
  virtual llvm::FailureOr<bool> visitOther(mlir::Operation *) { return false; }

private:
  mlir::LogicalResult visitRepeat(nn::RepeatOp repeat);
  mlir::LogicalResult visitRecompute(nn::RecomputeOp recompute);
  mlir::LogicalResult visitKernel(mlir::Operation *op);

  RankGrid grid;
  Noise noise;
  /// Number of tensors with noise so far. The seed of the random sequence of
  /// the next tensor is computed from this number, so every tensor gets a
  /// different sequence.
  uint64_t numDisturbed = 0;
  llvm::DenseMap<mlir::Value, std::shared_ptr<const RankTensors>> environment;
};

} // namespace proteus::interp

#endif // PROTEUS_LIB_INTERP_EXECUTOR_H
