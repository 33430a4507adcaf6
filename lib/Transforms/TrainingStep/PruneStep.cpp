//===- PruneStep.cpp - removal of unread values -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PruneStep.h"

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/StrategyAnnotations.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;

/// Replaces `op` by a copy that has only the results with the numbers `keep`,
/// and removes the other values from its yield.
static Operation *withResults(Operation *op, ArrayRef<unsigned> keep) {
  Operation *yield = op->getRegion(0).front().getTerminator();
  SmallVector<Value> yielded;
  SmallVector<Type> types;
  for (unsigned i : keep) {
    yielded.push_back(yield->getOperand(i));
    types.push_back(op->getResult(i).getType());
  }
  OpBuilder builder(op);
  OperationState state(op->getLoc(), op->getName(), op->getOperands(), types,
                       op->getAttrs());
  state.addRegion();
  Operation *replacement = builder.create(state);
  replacement->getRegion(0).takeBody(op->getRegion(0));
  yield->setOperands(yielded);
  for (auto [to, from] : llvm::enumerate(keep))
    op->getResult(from).replaceAllUsesWith(replacement->getResult(to));
  op->erase();
  return replacement;
}

void proteus::prune(Block &block) {
  SmallVector<Operation *> operations;
  for (Operation &op : block.without_terminator())
    operations.push_back(&op);
  for (Operation *op : llvm::reverse(operations)) {
    if (op->use_empty() && isMemoryEffectFree(op)) {
      op->erase();
      continue;
    }
    if (!isa<RepeatOp, RecomputeOp>(op))
      continue;
    auto repeat = dyn_cast<RepeatOp>(op);
    unsigned numCarried = repeat ? repeat.getNumCarried() : 0;
    unsigned numKept = numCarried;
    if (auto outputs = op->getAttrOfType<IntegerAttr>(kModuleOutputsAttr)) {
      numKept = outputs.getInt();
      op->removeDiscardableAttr(kModuleOutputsAttr);
    }
    SmallVector<unsigned> keep;
    for (OpResult result : op->getResults())
      if (result.getResultNumber() < numKept || !result.use_empty())
        keep.push_back(result.getResultNumber());
    if (keep.size() != op->getNumResults())
      op = withResults(op, keep);
    Block &body = op->getRegion(0).front();
    prune(body);
    for (int i = static_cast<int>(body.getNumArguments()) - 1;
         i >= static_cast<int>(numCarried); --i)
      if (body.getArgument(i).use_empty()) {
        body.eraseArgument(i);
        if (auto current = dyn_cast<RepeatOp>(op))
          current.getSlicedMutable().erase(i - numCarried);
        else
          op->eraseOperand(i);
      }
  }
}
