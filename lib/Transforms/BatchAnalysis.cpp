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

void BatchAnalysis::runOver(nn::IterationSpaceOpInterface op, unsigned batch) {
  nn::IterationSpace space = op.getIterationSpace();
  auto find = [&](const nn::TensorIterators &dims) -> std::optional<unsigned> {
    for (auto [dimension, list] : llvm::enumerate(dims))
      if (!list.empty() && list.front() == batch)
        return dimension;
    return std::nullopt;
  };
  iterators[op] = batch;
  for (auto [result, dims] : llvm::zip(op->getResults(), space.results))
    if (std::optional<unsigned> dimension = find(dims))
      dimensions[result] = *dimension;
  for (auto [operand, dims] : llvm::zip(op->getOperands(), space.operands)) {
    std::optional<unsigned> dimension = find(dims);
    auto maker = operand.getDefiningOp<nn::IterationSpaceOpInterface>();
    if (!dimension || !maker || iterators.count(maker))
      continue;
    // Made of no input, but read sample by sample: a parameter that is
    // repeated along the batch, zeroes of its size.
    unsigned number = cast<OpResult>(operand).getResultNumber();
    nn::DimIterators list =
        maker.getIterationSpace().results[number][*dimension];
    if (!list.empty())
      runOver(maker, list.front());
  }
}
