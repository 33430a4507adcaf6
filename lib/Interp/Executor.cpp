//===- Executor.cpp - execution of operations on all ranks ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Executor.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Interp/Kernels.h"

#include <limits>

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;

/// Returns the shape of the block of `value` on the rank at `coordinates`. A
/// value that is not a tensor is a scalar, which has an empty shape.
static Shape localShapeOf(Value value, ArrayRef<int64_t> coordinates) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? Shape(dist::localShape(type, coordinates)) : Shape();
}

static Place placeOf(Value value, ArrayRef<int64_t> coordinates) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? Place(type, coordinates) : Place();
}

/// Returns true if the device at `coordinates` holds the results of `op` and
/// therefore executes it.
static bool isDoneAt(Operation *op, ArrayRef<int64_t> coordinates) {
  return llvm::all_of(op->getResultTypes(), [&](Type type) {
    dist::LayoutAttr layout = dist::getLayout(type);
    return !layout || layout.getValue().isHeldAt(coordinates);
  });
}

template <typename T>
void Executor<T>::disturb(Value value, TensorOf<T> &tensor) {
  if (noise.size == 0 || !isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return;
  uint64_t stream = noise.seed + ++numDisturbed;
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor[i] *= 1 + noise.size * (2 * randomAt(stream, i) - 1);
}

template <typename T>
LogicalResult Executor<T>::setChecked(Value value, RankTensors tensors) {
  for (unsigned rank = 0; rank < grid.size(); ++rank) {
    Shape expected = localShapeOf(value, grid.getCoordinates(rank));
    if (tensors[rank].getShape() != ArrayRef<int64_t>(expected))
      return emitError(value.getLoc(), "rank ")
             << rank << " holds a block of shape "
             << formatIndex(tensors[rank].getShape()) << ", but "
             << value.getType() << " requires " << formatIndex(expected);
  }
  set(value, std::move(tensors));
  return success();
}

template <typename T> LogicalResult Executor<T>::visitKernel(Operation *op) {
  SmallVector<RankTensors> computed(op->getNumResults());
  for (unsigned rank = 0; rank < grid.size(); ++rank) {
    ArrayRef<int64_t> coordinates = grid.getCoordinates(rank);
    // A device that does not hold the results does not execute the operation.
    // Its blocks of the results are NaN, so that an erroneous read is noticed.
    if (!isDoneAt(op, coordinates)) {
      for (auto [i, result] : llvm::enumerate(op->getResults()))
        computed[i].emplace_back(localShapeOf(result, coordinates),
                                 std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    SmallVector<OperandBlockOf<T>> operands;
    for (Value operand : op->getOperands())
      operands.push_back({&get(operand)[rank], placeOf(operand, coordinates)});
    SmallVector<ResultBlockOf<T>> results;
    for (Value result : op->getResults())
      results.push_back({TensorOf<T>(localShapeOf(result, coordinates)),
                         placeOf(result, coordinates)});
    if (failed(evaluate<T>(op, operands, results,
                           [&](Value value) { return get(value)[rank][0]; })))
      return failure();
    for (auto [i, result] : llvm::enumerate(results)) {
      disturb(op->getResult(i), result.data);
      computed[i].push_back(std::move(result.data));
    }
  }
  for (auto [result, tensors] : llvm::zip_equal(op->getResults(), computed))
    set(result, std::move(tensors));
  return success();
}

template <typename T>
LogicalResult Executor<T>::visitRepeat(nn::RepeatOp repeat) {
  unsigned numCarried = repeat.getNumCarried();
  int64_t count = repeat.getCount();
  for (auto [argument, init] :
       llvm::zip_equal(repeat.getCarriedArgs(), repeat.getCarried()))
    alias(argument, init);
  for (Value stack : repeat.getSliced())
    for (const TensorOf<T> &tensor : get(stack))
      if (tensor.getDim(0) != count)
        return repeat.emitOpError("can't be evaluated: a rank holds ")
               << tensor.getDim(0) << " of the " << count
               << " slices of an operand";
  // stacks[r][i]: tensors of stacked result r in iteration i, one per rank.
  SmallVector<std::vector<RankTensors>> stacks(
      repeat.getStackedResults().size(), std::vector<RankTensors>(count));
  Operation *yield = repeat.getYield();
  for (int64_t step = 0; step < count; ++step) {
    int64_t i = repeat.getReverse() ? count - 1 - step : step;
    for (auto [argument, stack] :
         llvm::zip_equal(repeat.getSliceArgs(), repeat.getSliced())) {
      RankTensors slices;
      for (const TensorOf<T> &tensor : get(stack))
        slices.push_back(tensor.select(i));
      if (failed(setChecked(argument, std::move(slices))))
        return failure();
    }
    if (failed(run(repeat.getBody().front())))
      return failure();
    for (auto [number, stack] : llvm::enumerate(stacks))
      stack[i] = get(yield->getOperand(numCarried + number));
    // A yielded value may be a carried argument itself, so all yielded values
    // are read before any carried argument is set.
    SmallVector<RankTensors> next;
    for (Value yielded : yield->getOperands().take_front(numCarried))
      next.push_back(get(yielded));
    bool last = step + 1 == count;
    for (auto [argument, result, tensors] : llvm::zip_equal(
             repeat.getCarriedArgs(), repeat.getCarriedResults(), next))
      if (failed(setChecked(last ? Value(result) : Value(argument),
                            std::move(tensors))))
        return failure();
  }
  for (auto [result, stack] :
       llvm::zip_equal(repeat.getStackedResults(), stacks)) {
    RankTensors tensors;
    for (unsigned rank = 0; rank < grid.size(); ++rank) {
      std::vector<TensorOf<T>> slices;
      for (const RankTensors &slice : stack)
        slices.push_back(slice[rank]);
      tensors.push_back(TensorOf<T>::stack(slices));
    }
    if (failed(setChecked(result, std::move(tensors))))
      return failure();
  }
  return success();
}

template <typename T>
LogicalResult Executor<T>::visitRecompute(nn::RecomputeOp recompute) {
  for (auto [argument, input] : llvm::zip_equal(
           recompute.getBody().getArguments(), recompute.getInputs()))
    alias(argument, input);
  if (failed(run(recompute.getBody().front())))
    return failure();
  for (auto [result, yielded] : llvm::zip_equal(
           recompute.getResults(), recompute.getYield()->getOperands()))
    alias(result, yielded);
  return success();
}

template <typename T> LogicalResult Executor<T>::run(Operation *op) {
  if (auto repeat = dyn_cast<nn::RepeatOp>(op))
    return visitRepeat(repeat);
  if (auto recompute = dyn_cast<nn::RecomputeOp>(op))
    return visitRecompute(recompute);
  FailureOr<bool> done = visitOther(op);
  if (failed(done))
    return failure();
  return *done ? success() : visitKernel(op);
}

template <typename T> LogicalResult Executor<T>::run(mlir::Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(run(&op)))
      return failure();
  return success();
}

template class proteus::interp::Executor<double>;
template class proteus::interp::Executor<Dual>;

/// Executes the body of `function`, whose arguments have been set, and returns
/// its results.
template <typename T>
static FailureOr<std::vector<TensorOf<T>>> runBody(func::FuncOp function,
                                                   Executor<T> &executor) {
  if (failed(executor.run(function.front())))
    return failure();
  std::vector<TensorOf<T>> results;
  for (Value value : function.front().getTerminator()->getOperands())
    results.push_back(executor.get(value).front());
  return results;
}

FailureOr<std::vector<Tensor>>
proteus::interp::interpret(func::FuncOp function, ArgumentValue arguments,
                           Noise noise) {
  Executor<double> executor(RankGrid(), noise);
  for (BlockArgument argument : function.getArguments()) {
    Tensor value = arguments(argument);
    executor.disturb(argument, value);
    if (failed(executor.setChecked(argument, {std::move(value)})))
      return failure();
  }
  return runBody(function, executor);
}

FailureOr<std::vector<DualTensor>> proteus::interp::interpretDual(
    func::FuncOp function, function_ref<DualTensor(BlockArgument)> arguments) {
  Executor<Dual> executor((RankGrid()));
  for (BlockArgument argument : function.getArguments())
    if (failed(executor.setChecked(argument, {arguments(argument)})))
      return failure();
  return runBody(function, executor);
}
