//===- SplitRepeat.cpp - ranges of repeated layers --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Common/SplitRepeat.h"

#include "Proteus/Transforms/Common/Annotations.h"

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
  ArgumentAttrChanges paths;
  for (BlockArgument argument : function.getArguments()) {
    bool sliced = llvm::any_of(argument.getUses(), [](OpOperand &use) {
      auto repeat = dyn_cast<nn::RepeatOp>(use.getOwner());
      return repeat && use.getOperandNumber() >= repeat.getNumCarried();
    });
    if (sliced && !getArgumentAttr(argument, nn::kPathAttr))
      paths.set(
          argument, nn::kPathAttr,
          StringAttr::get(function.getContext(), getArgumentPath(argument)));
  }
  paths.apply(function);
}

SmallVector<SmallVector<Value>>
proteus::insertPieces(func::FuncOp function, nn::RepeatOp repeat,
                      ArrayRef<BlockArgument> stacks,
                      ArrayRef<StackPiece> pieces) {
  MLIRContext *context = function.getContext();
  // `insertArguments` needs positions in ascending order.
  SmallVector<BlockArgument> ordered(stacks);
  llvm::sort(ordered, [](BlockArgument a, BlockArgument b) {
    return a.getArgNumber() < b.getArgNumber();
  });
  SmallVector<unsigned> positions;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locations;
  for (BlockArgument stack : ordered) {
    auto type = cast<RankedTensorType>(stack.getType());
    std::string path = getArgumentPath(stack);
    NamedAttrList list(function.getArgAttrDict(stack.getArgNumber()));
    for (const StackPiece &piece : pieces) {
      SmallVector<int64_t> shape(type.getShape().drop_front());
      if (piece.length)
        shape.insert(shape.begin(), *piece.length);
      list.set(
          nn::kPathAttr,
          StringAttr::get(context, withIndices(path, repeat, piece.indices)));
      positions.push_back(stack.getArgNumber() + 1);
      types.push_back(RankedTensorType::get(shape, type.getElementType()));
      attributes.push_back(list.getDictionary(context));
      locations.push_back(stack.getLoc());
    }
  }
  LogicalResult inserted =
      function.insertArguments(positions, types, attributes, locations);
  assert(succeeded(inserted) && "a function takes any argument");
  (void)inserted;
  SmallVector<SmallVector<Value>> values;
  for (BlockArgument stack : stacks)
    values.emplace_back(
        function.getArguments().slice(stack.getArgNumber() + 1, pieces.size()));
  return values;
}

void proteus::eraseUnreadArguments(func::FuncOp function,
                                   ArrayRef<BlockArgument> arguments) {
  llvm::BitVector erased(function.getNumArguments());
  for (BlockArgument argument : arguments)
    erased.set(argument.getArgNumber());
  LogicalResult removed = function.eraseArguments(erased);
  assert(succeeded(removed) && "nothing reads the arguments any more");
  (void)removed;
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
  SmallVector<int64_t> bounds = {0};
  llvm::append_range(bounds, cuts);
  bounds.push_back(repeat.getCount());
  size_t pieces = bounds.size() - 1;
  int64_t first = repeat.getFirst();

  nameSlicedArguments(function);
  SmallVector<BlockArgument> stacks;
  for (Value stack : repeat.getSliced())
    stacks.push_back(cast<BlockArgument>(stack));
  SmallVector<StackPiece> ranges;
  for (size_t piece = 0; piece < pieces; ++piece)
    ranges.push_back({bounds[piece + 1] - bounds[piece],
                      std::to_string(first + bounds[piece]) + ":" +
                          std::to_string(first + bounds[piece + 1])});
  SmallVector<SmallVector<Value>> sliced(pieces);
  for (ArrayRef<Value> values : insertPieces(function, repeat, stacks, ranges))
    for (auto [piece, value] : llvm::enumerate(values))
      sliced[piece].push_back(value);

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
  repeat.erase();
  eraseUnreadArguments(function, stacks);
}
