//===- UnrollRepeats.cpp - repeated layers written out ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Check/Passes.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/SplitRepeat.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace proteus {
#define GEN_PASS_DEF_UNROLLREPEATS
#include "Proteus/Transforms/Check/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;

namespace {
class UnrollRepeats : public proteus::impl::UnrollRepeatsBase<UnrollRepeats> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    nameSlicedArguments(function);
    // Unroll outer repeats first. This copies inner repeats into the function,
    // where they are unrolled next.
    while (true) {
      auto repeats = function.getOps<nn::RepeatOp>();
      if (repeats.empty())
        return;
      if (failed(unroll(function, *repeats.begin())))
        return signalPassFailure();
    }
  }

private:
  LogicalResult unroll(func::FuncOp function, nn::RepeatOp repeat);
  LogicalResult splitArguments(func::FuncOp function, nn::RepeatOp repeat);

  /// For each stack, the values that replace its slices: one per iteration.
  DenseMap<Value, SmallVector<Value>> stacks;
};
} // namespace

/// Inserts one argument per iteration for each stacked argument that `repeat`
/// slices, and records the new arguments in `stacks`.
LogicalResult UnrollRepeats::splitArguments(func::FuncOp function,
                                            nn::RepeatOp repeat) {
  llvm::SetVector<BlockArgument> arguments;
  for (Value stack : repeat.getSliced()) {
    if (stacks.count(stack))
      continue;
    auto argument = dyn_cast<BlockArgument>(stack);
    if (!argument || llvm::any_of(argument.getUses(), [](OpOperand &use) {
          auto reader = dyn_cast<nn::RepeatOp>(use.getOwner());
          return !reader || use.getOperandNumber() < reader.getNumCarried();
        }))
      return repeat.emitOpError("can't be unrolled: a sliced operand must be a "
                                "function argument that only repeats slice");
    arguments.insert(argument);
  }
  SmallVector<StackPiece> layers;
  for (int64_t i = 0, e = repeat.getCount(); i < e; ++i)
    layers.push_back(
        {std::nullopt,
         std::to_string(static_cast<int64_t>(repeat.getFirst()) + i)});
  for (auto [argument, slices] :
       llvm::zip(arguments, insertPieces(function, repeat,
                                         arguments.getArrayRef(), layers)))
    stacks[argument] = slices;
  return success();
}

LogicalResult UnrollRepeats::unroll(func::FuncOp function,
                                    nn::RepeatOp repeat) {
  if (llvm::any_of(repeat.getStackedResults(),
                   [](Value stack) { return !stack.use_empty(); }))
    return repeat.emitOpError("can't be unrolled: its stacked results are "
                              "read; unroll a model before its training step "
                              "is built");
  if (failed(splitArguments(function, repeat)))
    return failure();
  int64_t count = repeat.getCount();
  SmallVector<Value> carried(repeat.getCarried());
  OpBuilder builder(repeat);
  for (int64_t step = 0; step < count; ++step) {
    int64_t i = repeat.getReverse() ? count - 1 - step : step;
    IRMapping mapping;
    for (auto [argument, value] : llvm::zip(repeat.getCarriedArgs(), carried))
      mapping.map(argument, value);
    for (auto [argument, stack] :
         llvm::zip(repeat.getSliceArgs(), repeat.getSliced()))
      mapping.map(argument, stacks[stack][i]);
    std::string prefix =
        (repeat.getPath() + "[" +
         Twine(static_cast<int64_t>(repeat.getFirst()) + i) + "].")
            .str();
    for (Operation &op : repeat.getBody().front().without_terminator()) {
      std::string path = prefix + nn::getOwnPath(&op);
      Operation *copy = builder.clone(op, mapping);
      // The path is an inherent attribute of operations of the dialect nn, and
      // a discardable attribute of all others.
      bool inherent = isa_and_nonnull<nn::NNDialect>(op.getDialect());
      copy->setAttr(inherent ? "path" : "proteus.path",
                    builder.getStringAttr(path));
    }
    for (auto [value, yielded] :
         llvm::zip(carried, repeat.getYield()->getOperands()))
      value = mapping.lookupOrDefault(yielded);
  }
  for (auto [result, value] : llvm::zip(repeat.getCarriedResults(), carried))
    result.replaceAllUsesWith(value);
  // Erase the repeat, and the arguments that have no other reader.
  llvm::SetVector<BlockArgument> arguments;
  for (Value operand : repeat.getSliced())
    if (auto argument = dyn_cast<BlockArgument>(operand))
      arguments.insert(argument);
  repeat.erase();
  arguments.remove_if(
      [](BlockArgument argument) { return !argument.use_empty(); });
  for (BlockArgument argument : arguments)
    stacks.erase(argument);
  eraseUnreadArguments(function, arguments.getArrayRef());
  return success();
}
