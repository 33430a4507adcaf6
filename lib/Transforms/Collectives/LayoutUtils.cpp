//===- LayoutUtils.cpp - layouts of slices, stacks and sums ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutUtils.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;
using dist::LayoutAttr;
using dist::ReductionKind;

LayoutAttr proteus::layoutOf(Value value) {
  return dist::getLayout(value.getType());
}

void proteus::setLayout(Value value, LayoutAttr layout) {
  value.setType(dist::withLayout(dist::tensorTypeOf(value), layout));
}

LayoutAttr proteus::withoutLeading(LayoutAttr layout) {
  return LayoutAttr::get(layout.getMesh(), layout.getValue().withoutLeading());
}

LayoutAttr proteus::withLeading(LayoutAttr layout) {
  return LayoutAttr::get(layout.getMesh(), layout.getValue().withLeading());
}

LayoutAttr proteus::reduced(LayoutAttr layout) {
  dist::Layout result = layout.getValue();
  for (AxisList &axes : result.partial)
    llvm::erase_if(axes, [](Axis axis) { return axis != dist::microAxis; });
  return LayoutAttr::get(layout.getMesh(), result);
}

LayoutAttr proteus::accumulated(LayoutAttr layout) {
  dist::Layout result = layout.getValue();
  llvm::erase(result.getPartial(ReductionKind::Sum), dist::microAxis);
  return LayoutAttr::get(layout.getMesh(), result);
}

LayoutAttr proteus::withPartialSum(LayoutAttr layout, ArrayRef<Axis> axes) {
  dist::Layout result = layout.getValue();
  llvm::append_range(result.getPartial(ReductionKind::Sum), axes);
  return LayoutAttr::get(layout.getMesh(), result);
}

AxisList proteus::newlyFixed(const dist::Layout &from, const dist::Layout &to) {
  AxisList axes;
  for (auto entry : to.fixed)
    if (!llvm::is_contained(from.fixed, entry))
      axes.push_back(entry.first);
  return axes;
}

unsigned proteus::countStacks(Value value) {
  // A conversion does not change the shape, so count the stacks of its operand.
  Operation *producer = value.getDefiningOp();
  if (producer && isa<dist::DistDialect>(producer->getDialect()) &&
      producer->getNumOperands() == 1)
    return countStacks(producer->getOperand(0));
  auto result = dyn_cast<OpResult>(value);
  auto repeat =
      result ? dyn_cast<nn::RepeatOp>(result.getOwner()) : nn::RepeatOp();
  if (!repeat || result.getResultNumber() < repeat.getNumCarried())
    return 0;
  return 1 +
         countStacks(repeat.getYield()->getOperand(result.getResultNumber()));
}
