//===- BatchAnalysis.cpp - batch dimensions of values -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Common/BatchAnalysis.h"

#include "Proteus/Transforms/Common/Annotations.h"

using namespace mlir;
using namespace proteus;

BatchAnalysis::BatchAnalysis(FunctionOpInterface function) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (getRole(argument) == nn::Role::Input && type && type.getRank() > 0)
      dimensions[argument] = 0;
  }
  visit(function.getFunctionBody().front());
  function.walk([&](nn::IterationSpaceOpInterface op) {
    if (getIterator(op))
      visitOperands(op);
  });
}

void BatchAnalysis::visit(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

void BatchAnalysis::copy(Value from, Value to, int shift) {
  // A slice lacks the leading dimension of its stack. If that is the batch
  // dimension, the slice has no batch dimension.
  auto dimension = getDimension(from);
  if (dimension && static_cast<int>(*dimension) + shift >= 0)
    dimensions[to] = *dimension + shift;
}

void BatchAnalysis::visit(Operation *op) {
  if (auto repeat = dyn_cast<nn::RepeatOp>(op)) {
    for (auto [init, argument] :
         llvm::zip(repeat.getCarried(), repeat.getCarriedArgs()))
      copy(init, argument);
    for (auto [stack, slice] :
         llvm::zip(repeat.getSliced(), repeat.getSliceArgs()))
      copy(stack, slice, -1);
    visit(repeat.getBody().front());
    unsigned carried = repeat.getNumCarried();
    for (auto [i, result] : llvm::enumerate(repeat.getResults()))
      copy(repeat.getYield()->getOperand(i), result, i < carried ? 0 : 1);
    return;
  }
  if (auto recompute = dyn_cast<nn::RecomputeOp>(op)) {
    for (auto [input, argument] :
         llvm::zip(recompute.getInputs(), recompute.getBody().getArguments()))
      copy(input, argument);
    visit(recompute.getBody().front());
    for (auto [yielded, result] :
         llvm::zip(recompute.getYield()->getOperands(), recompute.getResults()))
      copy(yielded, result);
    return;
  }
  auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(op);
  if (!kernel)
    return;
  nn::IterationSpace space = kernel.getIterationSpace();
  std::optional<unsigned> batch;
  for (auto [operand, dims] : llvm::zip(op->getOperands(), space.operands))
    if (auto dimension = getDimension(operand); dimension && !batch)
      if (!dims[*dimension].empty())
        batch = dims[*dimension].front();
  if (!batch)
    return;
  iterators[op] = *batch;
  for (auto [result, dims] : llvm::zip(op->getResults(), space.results))
    for (auto [dimension, list] : llvm::enumerate(dims))
      if (!list.empty() && list.front() == *batch)
        dimensions[result] = dimension;
}

//===----------------------------------------------------------------------===//
// From readers to their operands
//===----------------------------------------------------------------------===//

/// Returns the operand of a repeat from which `argument`, an argument of its
/// body, gets its first value or its slices. Also returns the number of leading
/// dimensions that only the operand has: 1 if it is a stack, else 0. Returns
/// null if `argument` does not belong to a repeat.
static std::pair<Value, unsigned> outside(BlockArgument argument) {
  auto repeat = dyn_cast<nn::RepeatOp>(argument.getOwner()->getParentOp());
  if (!repeat)
    return {};
  unsigned number = argument.getArgNumber();
  return {repeat->getOperand(number), number < repeat.getNumCarried() ? 0 : 1};
}

/// Calls `visit` with each operand of a kernel and each dimension of the
/// operand that has `iterator` as its major iterator.
static void forEachIndexed(Operation *op, unsigned iterator,
                           function_ref<void(Value, unsigned)> visit) {
  auto kernel = cast<nn::IterationSpaceOpInterface>(op);
  nn::IterationSpace space = kernel.getIterationSpace();
  for (auto [operand, dims] : llvm::zip(op->getOperands(), space.operands))
    for (auto [dimension, list] : llvm::enumerate(dims))
      if (!list.empty() && list.front() == iterator)
        visit(operand, dimension);
}

/// Returns the major iterator of dimension `dimension` of `result`. Returns
/// nullopt if there is none, or if it is not a parallel iterator.
static std::optional<unsigned> parallelIterator(OpResult result,
                                                unsigned dimension) {
  auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(result.getOwner());
  if (!kernel)
    return std::nullopt;
  nn::IterationSpace space = kernel.getIterationSpace();
  const nn::DimIterators &list =
      space.results[result.getResultNumber()][dimension];
  if (list.empty() ||
      space.iterators[list.front()].kind != nn::IteratorKind::Parallel)
    return std::nullopt;
  return list.front();
}

bool BatchAnalysis::canHold(Value value, unsigned dimension) {
  if (auto known = getDimension(value))
    return *known == dimension;
  auto found = answers.find({value, dimension});
  if (found != answers.end())
    return found->second;
  bool answer = findOut(value, dimension);
  answers[{value, dimension}] = answer;
  return answer;
}

bool BatchAnalysis::findOut(Value value, unsigned dimension) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto [whole, shift] = outside(argument);
    return whole && canHold(whole, dimension + shift);
  }
  auto result = cast<OpResult>(value);
  std::optional<unsigned> iterator = parallelIterator(result, dimension);
  if (!iterator || getIterator(result.getOwner()))
    return false;
  bool possible = true;
  forEachIndexed(
      result.getOwner(), *iterator,
      [&](Value operand, unsigned dim) { possible &= canHold(operand, dim); });
  return possible;
}

void BatchAnalysis::hold(Value value, unsigned dimension) {
  // The data flow can reach `value`, or another result of its producer, by
  // several paths. An earlier call of `hold` may therefore have come here since
  // `canHold` returned true.
  Operation *producer = value.getDefiningOp();
  if (getDimension(value) || (producer && getIterator(producer)))
    return;
  dimensions[value] = dimension;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto [whole, shift] = outside(argument);
    return hold(whole, dimension + shift);
  }
  auto result = cast<OpResult>(value);
  unsigned iterator = *parallelIterator(result, dimension);
  iterators[result.getOwner()] = iterator;
  forEachIndexed(result.getOwner(), iterator,
                 [&](Value operand, unsigned dim) { hold(operand, dim); });
}

void BatchAnalysis::visitOperands(Operation *op) {
  forEachIndexed(op, *getIterator(op), [&](Value operand, unsigned dimension) {
    if (!getDimension(operand) && canHold(operand, dimension))
      hold(operand, dimension);
  });
}
