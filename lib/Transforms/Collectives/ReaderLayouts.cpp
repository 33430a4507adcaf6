//===- ReaderLayouts.cpp - layouts in which values are read ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReaderLayouts.h"
#include "LayoutUtils.h"

#include "Proteus/Transforms/Common/Partitioning.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;
using dist::LayoutAttr;
using dist::ReductionKind;
using nn::IterationSpaceOpInterface;

LayoutAttr ReaderLayouts::firstReadLayout(Value value) {
  // Sort the uses in block order. This is cheaper than a search through the
  // block for each value.
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (use.getOwner()->getBlock() == value.getParentBlock())
      uses.push_back(&use);
  llvm::sort(uses, [](OpOperand *a, OpOperand *b) {
    return a->getOwner() == b->getOwner()
               ? a->getOperandNumber() < b->getOperandNumber()
               : a->getOwner()->isBeforeInBlock(b->getOwner());
  });
  for (OpOperand *use : uses) {
    Operation *op = use->getOwner();
    unsigned number = use->getOperandNumber();
    if (auto kernel = dyn_cast<IterationSpaceOpInterface>(op))
      return stages.onStage(
          Partitioning::fromAnnotation(kernel, mesh.getValue())
              .getOperandLayout(number, mesh),
          op);
    if (auto repeat = dyn_cast<nn::RepeatOp>(op)) {
      LayoutAttr inside = firstReadLayout(repeat.getBody().getArgument(number));
      if (inside && number >= repeat.getNumCarried())
        inside = withLeading(inside);
      if (inside)
        return inside;
    }
    if (auto recompute = dyn_cast<nn::RecomputeOp>(op))
      if (LayoutAttr inside =
              firstReadLayout(recompute.getBody().getArgument(number)))
        return inside;
  }
  return {};
}

LayoutAttr ReaderLayouts::updatedLayout(Value value) {
  for (OpOperand &use : value.getUses())
    if (isa<func::ReturnOp>(use.getOwner()))
      if (auto updates = function.getResultAttrOfType<IntegerAttr>(
              use.getOperandNumber(), nn::kUpdatesAttr))
        return layoutOf(function.getArgument(updates.getInt()));
  return {};
}

LayoutAttr ReaderLayouts::gradientLayout(Operation *update) {
  if (auto kernel = dyn_cast<IterationSpaceOpInterface>(update))
    return Partitioning::fromAnnotation(kernel, mesh.getValue())
        .getOperandLayout(1, mesh);
  LayoutAttr inside =
      firstReadLayout(cast<nn::RepeatOp>(update).getBody().getArgument(1));
  return withLeading(inside);
}

/// Returns true if `value` is zero, which is a partial sum over any axes.
static bool isZero(Value value) {
  auto fill = value.getDefiningOp<nn::FillOp>();
  return fill && fill.getValue().isZero();
}

/// Returns the addition that computes `value`, possibly in the last iteration
/// of a repeat. Returns null if there is none.
static nn::AddOp additionOf(Value value) {
  if (auto repeat = value.getDefiningOp<nn::RepeatOp>())
    return additionOf(
        repeat.getYield()->getOperand(cast<OpResult>(value).getResultNumber()));
  return value.getDefiningOp<nn::AddOp>();
}

/// Returns true if `sum` is `term` plus other terms, and if nothing but these
/// additions reads the intermediate sums. A repeat that carries the sum may add
/// a term in every iteration.
static bool isSumOf(Value term, Value sum) {
  bool added = false;
  while (term != sum) {
    if (!term.hasOneUse())
      return false;
    OpOperand &use = *term.use_begin();
    unsigned number = use.getOperandNumber();
    auto repeat = dyn_cast<nn::RepeatOp>(use.getOwner());
    if (repeat) {
      if (number >= repeat.getNumCarried() ||
          !isSumOf(repeat.getBody().getArgument(number),
                   repeat.getYield()->getOperand(number)))
        return false;
      term = repeat.getResult(number);
    } else if (isa<nn::AddOp>(use.getOwner())) {
      term = use.getOwner()->getResult(0);
    } else {
      return false;
    }
    added = true;
  }
  return added;
}

AxisList ReaderLayouts::pendingSums(Value value, BlockArgument neutral,
                                    DenseMap<Value, AxisList> &known) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  // The sums that a repeat accumulates are pending after it, too.
  if (auto repeat = value.getDefiningOp<nn::RepeatOp>()) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (number >= repeat.getNumCarried())
      return {};
    BlockArgument argument = repeat.getBody().getArgument(number);
    Value yielded = repeat.getYield()->getOperand(number);
    if (!isSumOf(argument, yielded))
      return {};
    AxisList sums = pendingSums(yielded, argument, known);
    Value init = repeat->getOperand(number);
    if (init != neutral && !isZero(init)) {
      AxisList before = pendingSums(init, neutral, known);
      llvm::erase_if(
          sums, [&](Axis axis) { return !llvm::is_contained(before, axis); });
    }
    return sums;
  }
  auto kernel = value.getDefiningOp<IterationSpaceOpInterface>();
  if (!kernel)
    return {};
  Partitioning part = Partitioning::fromAnnotation(kernel, mesh.getValue());
  const dist::Layout &own =
      part.getResultLayout(cast<OpResult>(value).getResultNumber(), mesh)
          .getValue();
  if (!own.getPartial(ReductionKind::Max).empty())
    return {};
  AxisList sums = own.getPartial(ReductionKind::Sum);
  if (!kernel.isLinear())
    return sums;
  // Sums that are pending in all operands stay pending through a linear
  // operation, as in LayoutInserter::sumsThrough.
  std::optional<AxisList> through;
  for (Value operand : kernel->getOperands()) {
    if (operand == neutral)
      continue;
    AxisList pending = pendingSums(operand, neutral, known);
    if (!through)
      through = pending;
    llvm::erase_if(*through, [&](Axis axis) {
      return !llvm::is_contained(pending, axis);
    });
  }
  if (through)
    llvm::copy_if(*through, std::back_inserter(sums),
                  [&](Axis axis) { return !part.uses(axis); });
  known[value] = sums;
  return sums;
}

LayoutAttr ReaderLayouts::accumulationLayout(nn::RepeatOp repeat,
                                             OpOperand &operand) {
  unsigned number = operand.getOperandNumber();
  if (number >= repeat.getNumCarried())
    return {};
  BlockArgument argument = repeat.getBody().getArgument(number);
  // The body may add to the carried value several times, but nothing else may
  // read the intermediate sums, because they are partial.
  Value sum = repeat.getYield()->getOperand(number);
  if (!isSumOf(argument, sum))
    return {};
  DenseMap<Value, AxisList> known;
  AxisList pending = pendingSums(sum, argument, known);
  // Zero is a partial sum over any axes. Any other initial value is one only
  // over the axes of its own pending sums.
  if (!isZero(operand.get()))
    llvm::erase_if(pending, [&](Axis axis) {
      return !llvm::is_contained(
          layoutOf(operand.get()).getValue().getPartial(ReductionKind::Sum),
          axis);
    });
  if (pending.empty())
    return {};
  LayoutAttr layout =
      Partitioning::fromAnnotation(additionOf(sum), mesh.getValue())
          .getResultLayout(0, mesh);
  return stages.onStage(withPartialSum(layout, pending), repeat);
}
