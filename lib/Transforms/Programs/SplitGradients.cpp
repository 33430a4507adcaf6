//===- SplitGradients.cpp - split of the backward pass ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitGradients.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Common/Annotations.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace proteus;

/// Returns the type of a stack of `count` values of type `type`: it has a new
/// leading dimension, which is not sharded.
static Type stackedType(Type type, int64_t count) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.insert(shape.begin(), count);
  dist::LayoutAttr layout = dist::getLayout(type);
  return RankedTensorType::get(
      shape, tensor.getElementType(),
      dist::LayoutAttr::get(layout.getMesh(), layout.getValue().withLeading()));
}

namespace {

/// Cuts a repeat into two. The first repeat computes the results for which
/// other stages wait, directly or through later operations of this stage, and
/// everything on which these results depend. The second repeat computes the
/// rest.
class RepeatCutter {
public:
  RepeatCutter(nn::RepeatOp repeat, const llvm::BitVector &needed)
      : repeat(repeat), needed(needed), body(repeat.getBody().front()) {}

  /// Returns the two repeats, in order. If all operations belong to the first,
  /// returns the original repeat and null.
  std::pair<nn::RepeatOp, nn::RepeatOp> run();

private:
  void findEarly();
  /// Returns true if the first repeat computes `value`.
  bool isEarly(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner() == &body &&
             argument.getArgNumber() < repeat.getNumCarried() &&
             needed.test(argument.getArgNumber());
    return early.contains(body.findAncestorOpInBlock(*value.getDefiningOp()));
  }
  bool isInside(Value value) {
    return repeat.getBody().isAncestor(value.getParentRegion());
  }
  nn::RepeatOp build(bool first);

  nn::RepeatOp repeat;
  /// Numbers of the results for which other stages wait, and of the carried
  /// values on which these depend.
  llvm::BitVector needed;
  Block &body;
  /// Operations of the body that belong to the first repeat.
  DenseSet<Operation *> early;
  /// Values of the first repeat that the second one reads. The first repeat
  /// stacks each of them, and the second repeat slices the stack.
  llvm::SetVector<Value> bridge;
  SmallVector<Value> stacks;
  /// For each result of the original repeat, the new value that replaces it.
  SmallVector<Value> replacements;
};

} // namespace

/// Finds the operations on which the needed results depend. If such an
/// operation reads a carried value, this value becomes needed as well, because
/// the preceding iteration computes it.
void RepeatCutter::findEarly() {
  Operation *yield = repeat.getYield();
  SmallVector<Value> worklist;
  for (unsigned i : needed.set_bits())
    worklist.push_back(yield->getOperand(i));
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!isInside(value))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned number = argument.getArgNumber();
      if (argument.getOwner() == &body && number < repeat.getNumCarried() &&
          !needed.test(number)) {
        needed.set(number);
        worklist.push_back(yield->getOperand(number));
      }
      continue;
    }
    Operation *op = body.findAncestorOpInBlock(*value.getDefiningOp());
    if (!early.insert(op).second)
      continue;
    op->walk([&](Operation *inner) {
      llvm::append_range(worklist, inner->getOperands());
    });
  }
}

/// Builds the first or the second of the two repeats, before the original one.
nn::RepeatOp RepeatCutter::build(bool first) {
  Operation *yield = repeat.getYield();
  unsigned numCarried = repeat.getNumCarried();
  int64_t count = repeat.getCount();
  SmallVector<Operation *> members;
  llvm::SetVector<Value> read;
  for (Operation &op : body.without_terminator())
    if (early.contains(&op) == first || op.hasTrait<OpTrait::ConstantLike>()) {
      members.push_back(&op);
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          read.insert(operand);
      });
    }
  // The new repeat yields carried values first, then stacks.
  SmallVector<unsigned> carried, stacked;
  SmallVector<Value> yielded;
  SmallVector<Type> types;
  for (unsigned i = 0; i < numCarried; ++i)
    if (needed.test(i) == first)
      carried.push_back(i);
  for (unsigned i = numCarried; i < repeat->getNumResults(); ++i) {
    bool here = needed.test(i) || isEarly(yield->getOperand(i));
    if (here == first)
      stacked.push_back(i);
  }
  for (unsigned i : carried) {
    yielded.push_back(yield->getOperand(i));
    types.push_back(repeat->getResult(i).getType());
  }
  for (unsigned i : stacked) {
    yielded.push_back(yield->getOperand(i));
    types.push_back(repeat->getResult(i).getType());
  }
  for (Value value : yielded)
    read.insert(value);
  if (first) {
    for (Value value : bridge) {
      yielded.push_back(value);
      types.push_back(stackedType(value.getType(), count));
      read.insert(value);
    }
  }
  SmallVector<Value> inits, sliced;
  SmallVector<Value> arguments;
  for (unsigned i : carried) {
    inits.push_back(repeat.getCarried()[i]);
    arguments.push_back(repeat.getCarriedArgs()[i]);
  }
  for (auto [argument, stack] :
       llvm::zip(repeat.getSliceArgs(), repeat.getSliced()))
    if (read.contains(argument)) {
      sliced.push_back(stack);
      arguments.push_back(argument);
    }
  if (!first)
    for (auto [value, stack] : llvm::zip(bridge, stacks)) {
      sliced.push_back(stack);
      arguments.push_back(value);
    }
  OpBuilder builder(repeat);
  auto result = nn::RepeatOp::create(builder, repeat.getLoc(), repeat.getPath(),
                                     repeat.getFirst(), count,
                                     repeat.getReverse(), inits, sliced, types);
  result->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
  if (result.getBody().empty())
    result.getBody().emplaceBlock();
  Block &newBody = result.getBody().front();
  IRMapping mapping;
  for (Value argument : arguments)
    mapping.map(argument,
                newBody.addArgument(argument.getType(), argument.getLoc()));
  OpBuilder inside = OpBuilder::atBlockEnd(&newBody);
  for (Operation *op : members)
    inside.clone(*op, mapping);
  SmallVector<Value> values;
  for (Value value : yielded)
    values.push_back(mapping.lookupOrDefault(value));
  nn::YieldOp::create(inside, repeat.getLoc(), values);
  unsigned next = 0;
  for (unsigned i : carried)
    replacements[i] = result.getResult(next++);
  for (unsigned i : stacked)
    replacements[i] = result.getResult(next++);
  for (; next < result->getNumResults(); ++next)
    stacks.push_back(result.getResult(next));
  return result;
}

std::pair<nn::RepeatOp, nn::RepeatOp> RepeatCutter::run() {
  findEarly();
  replacements.resize(repeat->getNumResults());
  // Find the values of the first repeat that the second repeat reads, in an
  // operation or as the next value of a carried value. The first repeat passes
  // them to the second one as stacks.
  bool anyLate = false;
  auto readLate = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (value.getParentRegion() == body.getParent() && isEarly(value) &&
        !(op && op->hasTrait<OpTrait::ConstantLike>()))
      bridge.insert(value);
  };
  for (Operation &op : body.without_terminator())
    if (!early.contains(&op) && !op.hasTrait<OpTrait::ConstantLike>()) {
      anyLate = true;
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          readLate(operand);
      });
    }
  for (unsigned i = 0; i < repeat.getNumCarried(); ++i)
    if (!needed.test(i))
      readLate(repeat.getYield()->getOperand(i));
  if (!anyLate)
    return {repeat, {}};
  nn::RepeatOp first = build(/*first=*/true);
  nn::RepeatOp second = build(/*first=*/false);
  repeat->replaceAllUsesWith(replacements);
  repeat->erase();
  return {first, second};
}

bool proteus::splitBackward(func::FuncOp function, int64_t stage) {
  Block &block = function.front();
  SmallVector<Operation *> members;
  for (Operation &op : block.without_terminator())
    if (getPhase(&op) == Phase::Backward && getStage(&op) == stage &&
        !op.hasTrait<OpTrait::ConstantLike>())
      members.push_back(&op);
  // Returns true if another stage reads `value` in its backward pass, or if an
  // operation in `early` reads it.
  auto isAwaited = [&](Value value, const DenseSet<Operation *> &early) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *top = block.findAncestorOpInBlock(*user);
      if (top->hasTrait<OpTrait::IsTerminator>() ||
          getPhase(top) != Phase::Backward)
        return false;
      return getStage(top) != stage || early.contains(top);
    });
  };
  DenseSet<Operation *> early;
  bool anyEarly = false, anyLate = false;
  SmallVector<Operation *> late;
  // An operation comes before its readers, so one pass in reverse order
  // suffices.
  for (Operation *op : llvm::reverse(members)) {
    // A transfer to this stage keeps its phase, because the phase also
    // determines the section of the sender that contains the send.
    if (isa<dist::TransferOp>(op)) {
      early.insert(op);
      continue;
    }
    llvm::BitVector needed(op->getNumResults());
    for (OpResult result : op->getResults())
      if (isAwaited(result, early))
        needed.set(result.getResultNumber());
    if (needed.none()) {
      late.push_back(op);
      anyLate = true;
      continue;
    }
    anyEarly = true;
    auto repeat = dyn_cast<nn::RepeatOp>(op);
    if (!repeat || needed.all()) {
      early.insert(op);
      continue;
    }
    auto [first, second] = RepeatCutter(repeat, needed).run();
    early.insert(first);
    if (second) {
      late.push_back(second);
      anyLate = true;
    }
  }
  if (!anyEarly || !anyLate)
    return false;
  for (Operation *op : late)
    setPhase(op, Phase::WeightGradient);
  return true;
}
