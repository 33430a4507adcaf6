//===- CountParameters.cpp - parameters of a model ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Models/CountParameters.h"

#include "Proteus/Dialect/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

/// Returns the number of experts that compute a token, divided by the number of
/// experts, of the layer with `op`.
static double activeShare(nn::ExpertLinearOp op) {
  for (Operation &other : *op->getBlock())
    if (auto route = dyn_cast<nn::MoeRouteOp>(other)) {
      auto chosen = cast<RankedTensorType>(route.getGates().getType());
      auto logits = cast<RankedTensorType>(route.getLogits().getType());
      return static_cast<double>(chosen.getShape().back()) /
             static_cast<double>(logits.getShape().back());
    }
  return 1;
}

ParameterCount proteus::models::countParameters(ModuleOp module) {
  ParameterCount count;
  module.walk([&](func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto role = function.getArgAttrOfType<StringAttr>(i, "nn.role");
      auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
      if (role && role.getValue() == "parameter" && type)
        count.all += type.getNumElements();
    }
  });
  double idle = 0;
  module.walk([&](nn::ExpertLinearOp op) {
    int64_t layers = 1;
    for (Operation *outer = op->getParentOp(); outer;
         outer = outer->getParentOp())
      if (auto repeat = dyn_cast<nn::RepeatOp>(outer))
        layers *= repeat.getCount();
    int64_t weights =
        cast<RankedTensorType>(op.getWeight().getType()).getNumElements();
    idle += static_cast<double>(layers * weights) * (1 - activeShare(op));
  });
  count.active = count.all - static_cast<int64_t>(idle + 0.5);
  return count;
}
