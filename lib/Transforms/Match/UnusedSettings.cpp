//===- UnusedSettings.cpp - settings without effect -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnusedSettings.h"

#include "Proteus/Transforms/Common/Annotations.h"

using namespace mlir;
using namespace proteus;

void UnusedSettings::hold(Operation *setting, Operation *op) {
  Use &use = uses[setting];
  use.holds = true;
  for (Value operand : op->getOperands())
    if (BlockArgument parameter = getParameter(operand).first)
      use.parameters.insert(parameter);
}

void UnusedSettings::read(Operation *op) {
  for (Value operand : op->getOperands())
    if (BlockArgument parameter = getParameter(operand).first)
      ++numReaders[parameter];
}

/// Returns true if a parameter may have to be gathered or fetched before it is
/// read: because it is in host memory, because it is stored in shards, or
/// because it has several readers, which may read it in different layouts.
bool UnusedSettings::isGathered(BlockArgument parameter) const {
  using strategy::ItemKind;
  if (getArgumentAttr(parameter, getHostAttrName(ItemKind::Weight)) ||
      numReaders.lookup(parameter) > 1)
    return true;
  auto storage = dyn_cast_if_present<ArrayAttr>(
      getArgumentAttr(parameter, getStorageAttrName(ItemKind::Weight)));
  return storage && llvm::any_of(storage, [](Attribute entry) {
           auto axes = dyn_cast<ArrayAttr>(entry);
           return !axes || !axes.empty();
         });
}

std::string UnusedSettings::reasonUnused(strategy::PrefetchOp prefetch,
                                         const Use &use) const {
  if (llvm::any_of(use.parameters, [&](BlockArgument parameter) {
        return isGathered(parameter);
      }))
    return "";
  return "all parameters of the selected operations are stored where they are "
         "used, so none is gathered; add split weight or offload weight, or "
         "leave it out";
}

std::string UnusedSettings::reasonUnused(strategy::OffloadOp offload,
                                         const Use &use,
                                         nn::TrainingAttr training) const {
  if ((offload.getWeight() || offload.getState()) && use.parameters.empty())
    return "the selected operations read no parameters; leave out weight and "
           "state";
  if (offload.getState() && !training)
    return "the model is not trained, so there is no optimizer state; leave "
           "out state";
  if (offload.getState() && training.getOptimizer() == nn::Optimizer::SGD &&
      !training.getMaster())
    return "the optimizer sgd has no state without master copies; leave out "
           "state";
  if (offload.getActivation() && !training)
    return "the model is not trained, so no backward pass reads activations; "
           "leave out activation";
  return "";
}

LogicalResult UnusedSettings::report(func::FuncOp function) {
  auto training = function->getAttrOfType<nn::TrainingAttr>(nn::kTrainingAttr);
  bool failed = false;
  for (auto &[setting, use] : uses) {
    std::string reason = "every operation that it selects has a nearer setting "
                         "of this kind; leave it out";
    if (auto prefetch = dyn_cast<strategy::PrefetchOp>(setting)) {
      if (use.holds)
        reason = reasonUnused(prefetch, use);
    } else if (use.holds) {
      reason = reasonUnused(cast<strategy::OffloadOp>(setting), use, training);
    }
    if (reason.empty())
      continue;
    setting->emitOpError("has no effect: ") << reason;
    failed = true;
  }
  return failure(failed);
}
