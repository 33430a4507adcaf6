//===- LayoutInserterBodies.cpp - layouts in bodies -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of LayoutInserter that visits repeats and recomputations. It
// converts the values that enter and leave their bodies.
//
//===----------------------------------------------------------------------===//

#include "LayoutInserter.h"
#include "LayoutUtils.h"
#include "SavedActivations.h"

#include "Proteus/Transforms/Common/Annotations.h"

using namespace mlir;
using namespace proteus;
using dist::LayoutAttr;
using dist::Purpose;
using nn::IterationSpaceOpInterface;

/// Gives `yield`, the terminator of the body of `op`, the stage and the phase
/// of `op`. Conversions that are inserted before the terminator take these
/// annotations from it.
static void markYield(Operation *yield, Operation *op) {
  if (auto stage = getStage(op))
    setStage(yield, *stage);
  setPhase(yield, getPhase(op));
}

void proteus::unmarkTerminator(Operation *terminator) {
  terminator->removeDiscardableAttr(kStageAttr);
  terminator->removeDiscardableAttr(kPhaseAttr);
}

/// Returns true if only the backward pass reads `value`.
static bool isReadByBackwardOnly(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return getPhase(user) == Phase::Backward;
  });
}

LogicalResult LayoutInserter::enter(nn::RepeatOp repeat) {
  unsigned numCarried = repeat.getNumCarried();
  for (OpOperand &operand : repeat->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    BlockArgument argument = repeat.getBody().getArgument(number);
    bool carried = number < numCarried;
    LayoutAttr layout = layoutOf(operand.get());
    LayoutAttr target = stages.onStage(layout, repeat);
    LayoutAttr sums = reads.accumulationLayout(repeat, operand);
    if (sums && operand.get().getDefiningOp<nn::FillOp>()) {
      // Zero can have any layout, so the sum can start in a partial layout. The
      // iterations then add without communication, and the sum is reduced once,
      // after the last iteration.
      AnnotatingBuilder builder(repeat, InsertedAnnotations::of(repeat));
      Operation *zero = builder.clone(*operand.get().getDefiningOp());
      setLayout(zero->getResult(0), sums);
      operand.set(zero->getResult(0));
      setLayout(argument, sums);
      continue;
    }
    if (sums) {
      target = sums;
    } else if (carried) {
      target = stages.onStage(reduced(layout), repeat).withHost(false);
      // With a single iteration, a value may enter and leave the iteration in
      // different layouts. A partial value then enters in the layout that its
      // first reader needs, unless this layout is larger than the reduced one.
      LayoutAttr wanted = layout.isPartial() && repeat.getCount() == 1
                              ? reads.firstReadLayout(argument)
                              : LayoutAttr();
      if (wanted && isNoLarger(dist::tensorTypeOf(argument), wanted, target))
        target = wanted;
    } else if (layout.isPartial()) {
      LayoutAttr wanted = reads.firstReadLayout(argument);
      target = stages.onStage(reduced(layout), repeat);
      if (wanted && countStacks(operand.get()) > 0)
        target = plans.stackLayout(operand.get(), withLeading(wanted));
    }
    Purpose purpose = getPhase(repeat) == Phase::Update ? Purpose::Gradient
                                                        : Purpose::Activation;
    if (failed(convert(operand, target, purpose)))
      return failure();
    setLayout(argument, carried ? target : withoutLeading(target));
  }
  return success();
}

std::pair<LayoutAttr, Purpose>
LayoutInserter::yieldedLayout(nn::RepeatOp repeat, OpOperand &operand) {
  unsigned number = operand.getOperandNumber();
  Value result = repeat.getResult(number);
  LayoutAttr computed = layoutOf(operand.get());
  if (number < repeat.getNumCarried()) {
    // A carried value must leave every iteration in the layout in which it
    // enters the next one. A single iteration has no next one, so the value
    // leaves it in its reduced layout, unless the repeat accumulates a partial
    // sum.
    LayoutAttr entered = layoutOf(repeat.getBody().getArgument(number));
    bool accumulates = entered != reduced(entered);
    return {repeat.getCount() == 1 && !accumulates ? reduced(computed)
                                                   : entered,
            Purpose::Activation};
  }
  if (getPhase(repeat) == Phase::Forward) {
    // A value is saved in the layout in which the backward pass first reads it,
    // if the body also converts the value to this layout and the layout is no
    // larger than `computed`. Otherwise the value is saved in its reduced
    // layout.
    LayoutAttr target = reduced(computed);
    LayoutAttr wanted = reads.firstReadLayout(result);
    if (wanted && converter.hasKeptForm(operand.get(), withoutLeading(wanted),
                                        getStage(repeat).value_or(0)))
      target = withoutLeading(wanted);
    if (isReadByBackwardOnly(result))
      target = target.withHost(target.isOnHost() ||
                               ValueConverter::isOffloaded(operand.get()));
    return {target, Purpose::Activation};
  }
  if (LayoutAttr kept = stored->sliceLayout(result, computed))
    return {kept, Purpose::Gradient};
  // If updated parameters are kept on the host, the body copies them there
  // layer by layer. If they stay on the device, their layout is changed after
  // the repeat, for all layers together.
  LayoutAttr updated = reads.updatedLayout(result);
  if (updated && updated.isOnHost())
    return {withoutLeading(updated), Purpose::Parameter};
  return {computed, Purpose::Activation};
}

LogicalResult LayoutInserter::leave(nn::RepeatOp repeat) {
  Operation *yield = repeat.getYield();
  markYield(yield, repeat);
  for (OpOperand &operand : yield->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    auto [target, purpose] = yieldedLayout(repeat, operand);
    if (failed(convert(operand, target, purpose)))
      return failure();
    setLayout(repeat.getResult(number),
              number < repeat.getNumCarried() ? target : withLeading(target));
  }
  unmarkTerminator(yield);
  for (OpResult result : repeat.getCarriedResults())
    if (failed(stored->store(result)))
      return failure();
  return success();
}

LogicalResult LayoutInserter::visitRepeat(nn::RepeatOp repeat) {
  if (failed(enter(repeat)) || failed(visit(repeat.getBody().front())))
    return failure();
  return leave(repeat);
}

/// Returns true if only kernels read `argument`, and it does not enter the body
/// of a repeat or recomputation.
static bool isReadByKernels(BlockArgument argument) {
  return llvm::all_of(argument.getUsers(), [](Operation *user) {
    return isa<IterationSpaceOpInterface>(user);
  });
}

LogicalResult LayoutInserter::visitRecompute(nn::RecomputeOp recompute) {
  for (OpOperand &operand : recompute->getOpOperands()) {
    BlockArgument argument =
        recompute.getBody().getArgument(operand.getOperandNumber());
    LayoutAttr target =
        stages.onStage(reduced(layoutOf(operand.get())), recompute)
            .withHost(false);
    Purpose purpose = Purpose::Activation;
    if (isParameter(operand.get())) {
      purpose = Purpose::Parameter;
      // Gather a parameter once, before the recomputation, for the recomputed
      // operations and for the gradients that follow.
      if (isReadByKernels(argument))
        if (LayoutAttr wanted = reads.firstReadLayout(argument))
          target = wanted;
    } else if (!ValueConverter::isOffloaded(operand.get())) {
      // If the forward pass has converted the value to the layout that the body
      // needs, and keeps the converted value for the backward pass, use the
      // converted value.
      LayoutAttr wanted = reads.firstReadLayout(argument);
      if (wanted && converter.hasKeptForm(operand.get(), wanted,
                                          getStage(recompute).value_or(0)))
        target = wanted;
    }
    if (failed(convert(operand, target, purpose)))
      return failure();
    argument.setType(operand.get().getType());
  }
  if (failed(visit(recompute.getBody().front())))
    return failure();
  Operation *yield = recompute.getYield();
  markYield(yield, recompute);
  for (OpOperand &operand : yield->getOpOperands()) {
    Value result = recompute.getResult(operand.getOperandNumber());
    // Yield a value in the layout that its first reader needs, if the body also
    // converts the value to this layout and the layout is no larger than the
    // one in which the value is computed. Otherwise yield the value in its
    // reduced layout.
    LayoutAttr wanted = reads.firstReadLayout(result);
    bool made =
        wanted && converter.hasKeptForm(operand.get(), wanted,
                                        getStage(recompute).value_or(0));
    LayoutAttr target = made ? wanted : reduced(layoutOf(operand.get()));
    if (failed(convert(operand, target, Purpose::Activation)))
      return failure();
    result.setType(operand.get().getType());
  }
  unmarkTerminator(yield);
  return success();
}
