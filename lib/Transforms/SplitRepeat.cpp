//===- SplitRepeat.cpp - cut repeated layers into ranges --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/SplitRepeat.h"

#include "Proteus/Transforms/Annotations.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace proteus;

std::string proteus::withIndices(StringRef path, nn::RepeatOp repeat,
                                 StringRef indices) {
  std::string prefix = (repeat.getPath() + "[").str();
  size_t start = path.find(prefix);
  size_t end = start == StringRef::npos ? StringRef::npos
                                        : path.find(']', start + prefix.size());
  if (end == StringRef::npos)
    return (path + "[" + indices + "]").str();
  return (path.take_front(start + prefix.size()) + indices +
          path.drop_front(end))
      .str();
}

void proteus::nameSlicedArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    bool sliced = llvm::any_of(argument.getUses(), [](OpOperand &use) {
      auto repeat = dyn_cast<nn::RepeatOp>(use.getOwner());
      return repeat && use.getOperandNumber() >= repeat.getNumCarried();
    });
    if (sliced && !getArgumentAttr(argument, nn::kPathAttr))
      setArgumentAttr(
          argument, nn::kPathAttr,
          StringAttr::get(function.getContext(), getArgumentPath(argument)));
  }
}

std::optional<std::string> proteus::whyNotSplittable(func::FuncOp function,
                                                     nn::RepeatOp repeat) {
  if (!repeat.getStackedResults().empty())
    return "it stacks results; carry them instead";
  for (Value stack : repeat.getSliced()) {
    auto argument = dyn_cast<BlockArgument>(stack);
    if (!argument || argument.getOwner() != &function.front() ||
        !argument.hasOneUse())
      return "its sliced operands must be function arguments that nothing else "
             "reads";
  }
  return std::nullopt;
}

void proteus::splitRepeat(func::FuncOp function, nn::RepeatOp repeat,
                          ArrayRef<int64_t> cuts) {
  assert(!whyNotSplittable(function, repeat) && "not splittable");
  MLIRContext *context = function.getContext();
  SmallVector<int64_t> bounds = {0};
  llvm::append_range(bounds, cuts);
  bounds.push_back(repeat.getCount());
  size_t pieces = bounds.size() - 1;
  int64_t first = repeat.getFirst();

  nameSlicedArguments(function);
  // The pieces of an argument stand where it stood.
  SmallVector<SmallVector<Value>> sliced(pieces);
  for (Value stack : repeat.getSliced()) {
    auto argument = cast<BlockArgument>(stack);
    std::string path = getArgumentPath(argument);
    unsigned number = argument.getArgNumber();
    auto type = cast<RankedTensorType>(argument.getType());
    DictionaryAttr attributes = function.getArgAttrDict(number);
    for (size_t piece = 0; piece < pieces; ++piece) {
      SmallVector<int64_t> shape(type.getShape());
      shape[0] = bounds[piece + 1] - bounds[piece];
      std::string indices = std::to_string(first + bounds[piece]) + ":" +
                            std::to_string(first + bounds[piece + 1]);
      NamedAttrList list(attributes);
      list.set(nn::kPathAttr,
               StringAttr::get(context, withIndices(path, repeat, indices)));
      unsigned position = number + 1 + piece;
      LogicalResult inserted = function.insertArgument(
          position, RankedTensorType::get(shape, type.getElementType()),
          list.getDictionary(context), argument.getLoc());
      assert(succeeded(inserted) && "a function takes any argument");
      (void)inserted;
      sliced[piece].push_back(function.getArgument(position));
    }
  }

  OpBuilder builder(repeat);
  SmallVector<Value> carried(repeat.getCarried());
  for (size_t step = 0; step < pieces; ++step) {
    size_t piece = repeat.getReverse() ? pieces - 1 - step : step;
    auto copy = nn::RepeatOp::create(
        builder, repeat.getLoc(), repeat.getPath(), first + bounds[piece],
        bounds[piece + 1] - bounds[piece], repeat.getReverse(), carried,
        sliced[piece], repeat.getResultTypes());
    copy->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
    IRMapping mapping;
    repeat.getBody().cloneInto(&copy.getBody(), mapping);
    carried.assign(copy.getResults().begin(), copy.getResults().end());
  }
  repeat.replaceAllUsesWith(carried);
  SmallVector<Value> stacks(repeat.getSliced());
  repeat.erase();
  llvm::BitVector erased(function.getNumArguments());
  for (Value stack : stacks)
    erased.set(cast<BlockArgument>(stack).getArgNumber());
  LogicalResult removed = function.eraseArguments(erased);
  assert(succeeded(removed) && "nothing reads the stacks any more");
  (void)removed;
}
