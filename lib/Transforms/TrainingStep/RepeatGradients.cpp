//===- RepeatGradients.cpp - gradients of repeats ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of BlockDifferentiator that differentiates an nn.repeat.
//
//===----------------------------------------------------------------------===//

#include "BlockDifferentiator.h"
#include "Differentiation.h"
#include "Proteus/Transforms/Common/RepeatStacks.h"

#include "Proteus/Transforms/Common/Annotations.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;

namespace {

/// Builds the backward repeat of a forward repeat. The backward repeat runs in
/// the opposite direction. It carries the gradients of the carried values,
/// reads stacked forward values slice by slice, and stacks the gradients of
/// sliced operands.
class RepeatDifferentiator : public BlockDifferentiator {
public:
  RepeatDifferentiator(StepContext &context, BlockDifferentiator &parent,
                       RepeatOp repeat)
      : BlockDifferentiator(context, repeat.getBody().front(),
                            OpBuilder(repeat.getContext())),
        parent(parent), repeat(repeat), body(region.emplaceBlock()) {
    // The block has no parent yet, so the builder cannot get the context from
    // it.
    backward.setInsertionPointToEnd(&body);
  }

  /// Builds the backward repeat and adds the gradients that it returns to those
  /// of the parent.
  LogicalResult build();

  /// Adds `gradient` to the gradient of `operand`. If `operand` is defined
  /// outside of the body, the backward repeat carries its gradient. Each
  /// iteration adds its summand as soon as this summand is computed, as in
  /// layers that are written out.
  void add(Value operand, Value gradient) override;

  Value gradientSoFar(Value operand) override;

protected:
  /// Returns the value that the backward body reads in place of a forward
  /// value. For a constant, this is a clone. For any other value of the forward
  /// body, it is a slice of a stack that holds the values of all iterations. A
  /// value from outside of the body is saved by the parent.
  Value kept(Value value) override;

private:
  /// A stack, or a forward value that will be stacked, and the argument of the
  /// backward body that is one slice of it.
  using Slice = std::pair<Value, BlockArgument>;

  /// Lets the backward repeat carry the gradient of `operand` if `operand` is
  /// defined outside of the body. The first iteration starts from the gradient
  /// that `operand` has so far.
  void carryCaptured(Value operand);
  void enterGradients();
  YieldOp yieldGradients();
  void stackKeptValues();
  SmallVector<Value> takeSlices();
  RepeatOp buildRepeat(YieldOp yield);
  void addGradients(RepeatOp result);

  BlockDifferentiator &parent;
  /// The forward repeat. It is replaced by a repeat with more stacked results
  /// if the backward body reads values that are not stacked yet.
  RepeatOp repeat;
  Region region;
  Block &body;
  /// For each forward value that the backward body needs, the value that it
  /// reads instead: a slice or a cloned constant.
  DenseMap<Value, Value> slices;
  /// `newStacks` holds forward values that the forward repeat does not stack
  /// yet. `oldStacks` holds stacks that the forward repeat already reads slice
  /// by slice.
  SmallVector<Slice> newStacks, oldStacks;
  /// The stacked gradients of the stacked results of the forward repeat.
  SmallVector<Slice> incomingStacks;
  /// Initial values of the gradients that the backward repeat carries: first
  /// those of the carried values with the indices `carriedIndices`, then those
  /// of `captured`, the values that the forward body reads from outside.
  SmallVector<Value> inits;
  SmallVector<unsigned> carriedIndices;
  SmallVector<Value> captured;
  /// Sliced operands that get a gradient.
  SmallVector<Value> slicedWithGradient;
};

} // namespace

void RepeatDifferentiator::carryCaptured(Value operand) {
  bool isCaptured = !repeat.getBody().isAncestor(operand.getParentRegion());
  if (!isCaptured || !wants(operand) || gradientOf(operand))
    return;
  captured.push_back(operand);
  inits.push_back(parent.gradientSoFar(operand));
  setGradient(operand,
              body.addArgument(inits.back().getType(), repeat.getLoc()));
}

void RepeatDifferentiator::add(Value operand, Value gradient) {
  carryCaptured(operand);
  BlockDifferentiator::add(operand, gradient);
}

Value RepeatDifferentiator::gradientSoFar(Value operand) {
  carryCaptured(operand);
  return BlockDifferentiator::gradientSoFar(operand);
}

Value RepeatDifferentiator::kept(Value value) {
  Region *definedIn = value.getParentRegion();
  if (!repeat.getBody().isAncestor(definedIn))
    return parent.saved(value);
  // A constant is cloned instead of being stacked.
  if (isConstant(value)) {
    Value &copy = slices[value];
    if (!copy) {
      body.push_front(value.getDefiningOp()->clone());
      copy = body.front().getResult(0);
    }
    return copy;
  }
  auto [entry, isNew] = slices.try_emplace(value);
  if (isNew) {
    BlockArgument slice = body.addArgument(value.getType(), value.getLoc());
    entry->second = slice;
    auto argument = dyn_cast<BlockArgument>(value);
    unsigned carried = repeat.getNumCarried();
    if (argument && argument.getArgNumber() >= carried)
      oldStacks.push_back(
          {repeat.getSliced()[argument.getArgNumber() - carried], slice});
    else
      newStacks.push_back({value, slice});
  }
  return entry->second;
}

/// Adds the gradients that enter the backward repeat: those of carried results,
/// then those of stacked results.
void RepeatDifferentiator::enterGradients() {
  Operation *yield = repeat.getYield();
  unsigned numCarried = repeat.getNumCarried();
  // Gradients are added after this loop: if the body yields a value from
  // outside, `add` appends a captured value, which must follow all carried
  // ones.
  SmallVector<std::pair<Value, Value>> entering;
  for (unsigned i = 0; i < numCarried; ++i) {
    Value result = repeat.getCarriedResults()[i];
    Value gradient = parent.gradientOf(result);
    if (!wants(repeat.getCarriedArgs()[i])) {
      // The carried value needs no gradient. Its result has one only if the
      // repeat has a single iteration and starts from an input. The gradient of
      // the result then enters the body directly.
      if (gradient)
        entering.push_back({yield->getOperand(i), gradient});
      continue;
    }
    inits.push_back(gradient ? gradient : parent.zeroGradient(result));
    carriedIndices.push_back(i);
    entering.push_back(
        {yield->getOperand(i),
         body.addArgument(inits.back().getType(), repeat.getLoc())});
  }
  for (auto [operand, gradient] : entering)
    add(operand, gradient);
  for (auto [i, result] : llvm::enumerate(repeat.getStackedResults())) {
    Value gradient = parent.gradientOf(result);
    if (!gradient)
      continue;
    Value slice = yield->getOperand(numCarried + i);
    BlockArgument argument =
        body.addArgument(gradientType(slice), repeat.getLoc());
    incomingStacks.push_back({gradient, argument});
    add(slice, argument);
  }
}

/// Yields the gradients that leave the backward repeat: those of carried
/// values, those of captured values (sums over iterations), and those of slices
/// (stacked).
YieldOp RepeatDifferentiator::yieldGradients() {
  SmallVector<Value> yielded;
  for (unsigned i : carriedIndices) {
    Value gradient = gradientOf(repeat.getCarriedArgs()[i]);
    yielded.push_back(gradient ? gradient
                               : zeroGradient(repeat.getCarriedArgs()[i]));
  }
  for (Value value : captured)
    yielded.push_back(gradientOf(value));
  for (auto [slice, stack] :
       llvm::zip(repeat.getSliceArgs(), repeat.getSliced()))
    if (Value gradient = gradientOf(slice)) {
      slicedWithGradient.push_back(stack);
      yielded.push_back(gradient);
    }
  return YieldOp::create(backward, repeat.getLoc(), yielded);
}

/// Replaces the forward repeat by one that also stacks the values that the
/// backward body reads.
void RepeatDifferentiator::stackKeptValues() {
  if (newStacks.empty())
    return;
  SmallVector<Value> values;
  for (auto [value, slice] : newStacks)
    values.push_back(value);
  RepeatOp extended = stackAsWell(repeat, values);
  context.replaced.push_back(repeat);
  repeat = extended;
}

/// Orders the arguments of the backward body: carried values first, then
/// slices. Returns the stacks to which the slices belong, in the order of the
/// slices.
SmallVector<Value> RepeatDifferentiator::takeSlices() {
  SmallVector<BlockArgument> arguments;
  SmallVector<Value> stacks;
  auto take = [&](Value stack, BlockArgument argument) {
    stacks.push_back(stack);
    arguments.push_back(argument);
  };
  for (auto &[stack, argument] : incomingStacks)
    take(stack, argument);
  for (auto &[stack, argument] : oldStacks)
    take(parent.saved(stack), argument);
  size_t firstNew = repeat->getNumResults() - newStacks.size();
  for (auto [i, entry] : llvm::enumerate(newStacks))
    take(parent.saved(repeat->getResult(firstNew + i)), entry.second);
  SmallVector<BlockArgument> old(body.getArguments());
  SmallVector<BlockArgument> ordered;
  for (BlockArgument argument : old)
    if (!llvm::is_contained(arguments, argument))
      ordered.push_back(argument);
  llvm::append_range(ordered, arguments);
  for (BlockArgument argument : ordered)
    argument.replaceAllUsesWith(
        body.addArgument(argument.getType(), argument.getLoc()));
  body.eraseArguments(0, old.size());
  return stacks;
}

RepeatOp RepeatDifferentiator::buildRepeat(YieldOp yield) {
  SmallVector<Value> stacks = takeSlices();
  SmallVector<Type> types;
  for (Value init : inits)
    types.push_back(init.getType());
  for (Value value : yield.getValues().drop_front(inits.size()))
    types.push_back(stackOf(value.getType(), repeat.getCount()));
  auto result = RepeatOp::create(
      parent.builder(), repeat.getLoc(), repeat.getPath(), repeat.getFirst(),
      repeat.getCount(), !repeat.getReverse(), inits, stacks, types);
  result.getBody().takeBody(region);
  return result;
}

void RepeatDifferentiator::addGradients(RepeatOp result) {
  // The sums of captured values include earlier gradients and replace them.
  size_t numCarried = carriedIndices.size();
  ResultRange sums = result.getResults().slice(numCarried, captured.size());
  for (auto [target, sum] : llvm::zip(captured, sums))
    parent.setGradient(target, sum);
  for (auto [i, gradient] : llvm::zip(carriedIndices, result.getResults()))
    parent.add(repeat.getCarried()[i], gradient);
  for (auto [target, gradient] :
       llvm::zip(slicedWithGradient,
                 result.getResults().drop_front(numCarried + captured.size())))
    parent.add(target, gradient);
}

LogicalResult RepeatDifferentiator::build() {
  current = repeat;
  enterGradients();
  if (failed(run()))
    return failure();
  current = repeat;
  YieldOp yield = yieldGradients();
  stackKeptValues();
  addGradients(buildRepeat(yield));
  return success();
}

LogicalResult BlockDifferentiator::differentiate(RepeatOp repeat) {
  return RepeatDifferentiator(context, *this, repeat).build();
}
