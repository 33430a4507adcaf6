//===- InferStages.cpp - stages that follow from the data flow --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InferStages.h"

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Annotations.h"

using namespace mlir;
using namespace proteus;

/// Gives every stage that reads an input an argument of its own: each stage
/// loads what it needs.
static void duplicateInputs(func::FuncOp function) {
  Block &block = function.front();
  // What the function returns as it came needs no stage of its own.
  auto stageOfUse = [&](OpOperand &use) {
    return getStage(block.findAncestorOpInBlock(*use.getOwner())).value_or(0);
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    BlockArgument argument = function.getArgument(i);
    if (getRole(argument) != nn::Role::Input || argument.use_empty())
      continue;
    int64_t first = stageOfUse(*argument.use_begin());
    for (OpOperand &use : argument.getUses())
      first = std::min(first, stageOfUse(use));
    if (llvm::all_of(argument.getUses(),
                     [&](OpOperand &use) { return stageOfUse(use) == first; }))
      continue;
    // The copy takes the readers of later stages and is looked at next.
    LogicalResult inserted =
        function.insertArgument(i + 1, argument.getType(),
                                function.getArgAttrDict(i), argument.getLoc());
    assert(succeeded(inserted) && "a function takes any argument");
    (void)inserted;
    argument = function.getArgument(i);
    argument.replaceUsesWithIf(
        function.getArgument(i + 1),
        [&](OpOperand &use) { return stageOfUse(use) != first; });
  }
}

LogicalResult proteus::inferStages(func::FuncOp function) {
  WalkResult placed =
      function.walk<WalkOrder::PostOrder>([&](nn::RepeatOp repeat) {
        for (Operation &op : repeat.getBody().front()) {
          auto stage = getStage(&op), other = getStage(repeat);
          if (stage && other && *stage != *other) {
            op.emitOpError("is placed in stage ")
                << *stage
                << ", but another operation of the same iteration of '"
                << repeat.getPath() << "' in stage " << *other
                << "; stages may begin between iterations only (or write the "
                   "layers out with --unroll-repeats)";
            return WalkResult::interrupt();
          }
          if (stage)
            setStage(repeat, *stage);
        }
        return WalkResult::advance();
      });
  if (placed.wasInterrupted())
    return failure();
  auto stageOf = [&](Value value) -> std::optional<int64_t> {
    Operation *op = value.getDefiningOp();
    return op ? getStage(op) : std::nullopt;
  };
  Block &block = function.front();
  for (Operation &op : block.without_terminator()) {
    if (getStage(&op))
      continue;
    std::optional<int64_t> stage;
    for (Value operand : op.getOperands())
      if (auto other = stageOf(operand))
        stage = std::max(stage.value_or(0), *other);
    if (stage)
      setStage(&op, *stage);
  }
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (getStage(&op))
      continue;
    std::optional<int64_t> stage;
    for (Operation *user : op.getUsers())
      if (auto other = getStage(user))
        stage = std::min(stage.value_or(*other), *other);
    setStage(&op, stage.value_or(0));
  }
  for (Operation &op : block.without_terminator()) {
    int64_t stage = *getStage(&op);
    op.walk([&](Operation *inner) {
      if (!inner->hasTrait<OpTrait::IsTerminator>())
        setStage(inner, stage);
    });
    for (Value operand : op.getOperands())
      if (auto producer = stageOf(operand); producer && *producer > stage)
        return op.emitOpError("runs in stage ")
               << stage << " but reads a result of stage " << *producer
               << "; stages must follow the order of the model";
  }
  duplicateInputs(function);
  for (BlockArgument argument : function.getArguments()) {
    std::optional<int64_t> stage;
    Operation *first = nullptr;
    for (Operation *user : argument.getUsers()) {
      Operation *top = block.findAncestorOpInBlock(*user);
      if (top->hasTrait<OpTrait::IsTerminator>())
        continue;
      int64_t other = *getStage(top);
      if (stage && *stage != other) {
        InFlightDiagnostic diagnostic =
            user->emitOpError("reads '")
            << getArgumentPath(argument) << "' in stage " << other
            << ", but it is also read in stage " << *stage
            << "; give every stage its own copy";
        diagnostic.attachNote(first->getLoc()) << "read here as well";
        return diagnostic;
      }
      first = user;
      stage = other;
    }
    if (stage)
      setArgumentAttr(argument, kStageAttr,
                      Builder(function.getContext()).getI64IntegerAttr(*stage));
  }
  return success();
}
