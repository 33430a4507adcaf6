//===- BatchAnalysis.cpp - where the batch is -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/BatchAnalysis.h"

#include "Proteus/Transforms/Annotations.h"

using namespace mlir;
using namespace proteus;

BatchAnalysis::BatchAnalysis(FunctionOpInterface function) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (getRole(argument) == nn::Role::Input && type && type.getRank() > 0)
      dimensions[argument] = 0;
  }
  visit(function.getFunctionBody().front());
}

void BatchAnalysis::visit(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

void BatchAnalysis::copy(Value from, Value to, int shift) {
  // Slices of a stack along the batch itself hold no batch.
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
  if (batch)
    runOver(kernel, *batch);
}

/// The dimension that `iterator` indexes as its major part.
static std::optional<unsigned> dimensionOf(const nn::TensorIterators &dims,
                                           unsigned iterator) {
  for (auto [dimension, list] : llvm::enumerate(dims))
    if (!list.empty() && list.front() == iterator)
      return dimension;
  return std::nullopt;
}

/// The operation that makes `value`, and its iterator that runs over
/// `dimension` of it, if its operands have no such dimension, or one that is
/// made alike: a parameter that is repeated, zeroes.
static std::pair<nn::IterationSpaceOpInterface, unsigned>
repeatedBy(Value value, unsigned dimension) {
  auto op = value.getDefiningOp<nn::IterationSpaceOpInterface>();
  if (!op)
    return {};
  nn::IterationSpace space = op.getIterationSpace();
  unsigned number = cast<OpResult>(value).getResultNumber();
  const nn::DimIterators &list = space.results[number][dimension];
  if (list.empty())
    return {};
  for (auto [operand, dims] : llvm::zip(op->getOperands(), space.operands))
    if (std::optional<unsigned> own = dimensionOf(dims, list.front()))
      if (!repeatedBy(operand, *own).first)
        return {};
  return {op, list.front()};
}

void BatchAnalysis::runOver(nn::IterationSpaceOpInterface op, unsigned batch) {
  nn::IterationSpace space = op.getIterationSpace();
  iterators[op] = batch;
  for (auto [result, dims] : llvm::zip(op->getResults(), space.results))
    if (std::optional<unsigned> dimension = dimensionOf(dims, batch))
      dimensions[result] = *dimension;
  // What no input is in, but is read sample by sample.
  for (auto [operand, dims] : llvm::zip(op->getOperands(), space.operands)) {
    std::optional<unsigned> dimension = dimensionOf(dims, batch);
    if (!dimension || getDimension(operand))
      continue;
    if (auto [maker, iterator] = repeatedBy(operand, *dimension); maker)
      runOver(maker, iterator);
  }
}
