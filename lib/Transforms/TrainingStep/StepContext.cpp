//===- StepContext.cpp - properties of values in a step ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepContext.h"
#include "Differentiation.h"

#include "Proteus/Transforms/Common/Annotations.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;

StepContext::StepContext(func::FuncOp function, TrainingAttr training)
    : training(training), initialValues(function) {
  for (BlockArgument argument : function.getArguments())
    if (getRole(argument) == Role::Parameter) {
      parameters.insert(argument);
      active.insert(argument);
    }
  markActive(function.front());
}

// Marks the active values of a block, which depend on a parameter. A carried
// value of a repeat is active if its initial value is active. With several
// iterations, it is also active if the value that an iteration yields for it is
// active.
void StepContext::markActive(Block &block) {
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      markActive(repeat);
      continue;
    }
    if (llvm::any_of(op.getOperands(), [&](Value v) { return isActive(v); }))
      for (Value result : op.getResults())
        markActive(result);
  }
}

void StepContext::markActive(Value value) {
  if (isFloatTensor(value))
    active.insert(value);
}

void StepContext::markActive(RepeatOp repeat) {
  for (auto [slice, stack] :
       llvm::zip(repeat.getSliceArgs(), repeat.getSliced())) {
    if (isActive(stack))
      active.insert(slice);
    if (isParameter(stack))
      parameters.insert(slice);
  }
  for (auto [init, argument] :
       llvm::zip(repeat.getCarried(), repeat.getCarriedArgs()))
    if (isActive(init))
      markActive(argument);
  bool changed = true;
  while (changed) {
    markActive(repeat.getBody().front());
    changed = false;
    if (repeat.getCount() > 1)
      for (auto [argument, yielded] :
           llvm::zip(repeat.getCarriedArgs(), repeat.getYield()->getOperands()))
        if (isActive(yielded) && !isActive(argument)) {
          markActive(argument);
          changed = true;
        }
  }
  for (auto [result, yielded] :
       llvm::zip(repeat.getResults(), repeat.getYield()->getOperands()))
    if (isActive(yielded))
      markActive(result);
}
