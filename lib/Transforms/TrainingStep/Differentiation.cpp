//===- Differentiation.cpp - the backward pass of a model -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differentiation.h"
#include "BlockDifferentiator.h"
#include "StepContext.h"

#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/SplitRepeat.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;

Type proteus::withElementType(Type type, Type element) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(element);
}

bool proteus::isFloatTensor(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && isa<FloatType>(tensor.getElementType());
}

bool proteus::isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

/// Cuts off the first iteration of every repeat that starts from a value
/// without a gradient, such as an input of the model. The first iteration need
/// not compute the gradient of this value, so its backward pass has less work
/// than that of the others. If a repeat cannot be cut, every iteration computes
/// the gradient of the value with which it starts, and the gradient from the
/// first iteration is not used.
static void peelFirstIterations(func::FuncOp function, TrainingAttr training) {
  RepeatOp irregular;
  do {
    StepContext context(function, training);
    irregular = {};
    for (auto repeat : function.getOps<RepeatOp>())
      for (auto [init, argument] :
           llvm::zip(repeat.getCarried(), repeat.getCarriedArgs()))
        if (!irregular && repeat.getCount() > 1 && context.isActive(argument) &&
            !context.isActive(init) && !whyNotSplittable(function, repeat))
          irregular = repeat;
    if (irregular) {
      int64_t last = static_cast<int64_t>(irregular.getCount()) - 1;
      splitRepeat(function, irregular, irregular.getReverse() ? last : 1);
    }
  } while (irregular);
}

FailureOr<DenseMap<Value, Value>>
proteus::differentiate(func::FuncOp function, TrainingAttr training) {
  peelFirstIterations(function, training);
  StepContext context(function, training);
  Operation *terminator = function.front().getTerminator();
  Value loss = terminator->getOperand(0);
  if (!context.isActive(loss))
    return function.emitOpError("the loss does not depend on any parameter");

  OpBuilder builder(terminator);
  // Scaling the loss keeps small gradients representable in a narrow type. The
  // updates divide the gradients by the scale.
  double scale =
      training.getLossScale() ? training.getLossScale().getValueAsDouble() : 1;
  auto seed = FillOp::create(builder, loss.getLoc(), loss.getType(), "loss",
                             llvm::APFloat(scale));
  setPhase(seed, Phase::Backward);
  if (Operation *producer = loss.getDefiningOp())
    inheritAnnotations(producer, seed);
  BlockDifferentiator differentiator(context, function.front(), builder);
  differentiator.add(loss, seed);
  if (failed(differentiator.run()))
    return failure();
  for (Operation *op : context.replaced)
    op->erase();

  DenseMap<Value, Value> gradients;
  for (BlockArgument argument : function.getArguments())
    if (context.isParameter(argument))
      if (Value gradient = differentiator.totalGradient(argument))
        gradients[argument] = gradient;
  return gradients;
}
