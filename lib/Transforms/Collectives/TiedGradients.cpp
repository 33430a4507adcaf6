//===- TiedGradients.cpp - gradients of tied parameters ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TiedGradients.h"
#include "LayoutUtils.h"

using namespace mlir;
using namespace proteus;
using dist::LayoutAttr;
using dist::Purpose;

/// Returns the tied parameter that `op` updates, or null if `op` does not
/// update a tied parameter.
static BlockArgument updatedTiedParameter(Operation *op) {
  if (getPhase(op) != Phase::Update || op->getNumOperands() < 2)
    return {};
  auto parameter = dyn_cast<BlockArgument>(op->getOperand(0));
  return parameter && getArgumentAttr(parameter, kTiedAttr) ? parameter
                                                            : BlockArgument();
}

void TiedGradients::findUpdates() {
  for (Operation &op : function.front())
    if (updatedTiedParameter(&op))
      updates.push_back(&op);
}

LogicalResult TiedGradients::joinBefore(Operation *reader) {
  if (getPhase(reader) != Phase::Update ||
      reader->getBlock() != &function.front())
    return success();
  if (updatedTiedParameter(reader))
    return join(reader, reader);
  // Leave out updates for which `updatedTiedParameter` returns null. These were
  // visited before, so they have their sums. They now read a conversion of
  // their parameter instead of the parameter itself.
  auto waiting = llvm::make_filter_range(updates, [](Operation *update) {
    return static_cast<bool>(updatedTiedParameter(update));
  });
  if (llvm::none_of(waiting, [&](Operation *update) {
        return llvm::is_contained(reader->getOperands(), update->getOperand(1));
      }))
    return success();
  for (Operation *update : waiting)
    if (failed(join(update, reader)))
      return failure();
  return success();
}

LogicalResult TiedGradients::join(Operation *update, Operation *reader) {
  BlockArgument parameter = updatedTiedParameter(update);
  Value gradient = update->getOperand(1);
  if (gradient.getDefiningOp<dist::StageReduceOp>())
    return success();
  SmallVector<OpOperand *> readers;
  for (OpOperand &use : gradient.getUses())
    if (getPhase(use.getOwner()) == Phase::Update)
      readers.push_back(&use);
  std::string path = getArgumentPath(parameter);
  auto [tie, isFirst] =
      tied.try_emplace(path, static_cast<int64_t>(tied.size()), LayoutAttr());
  if (isFirst)
    tie->second.second = reads.gradientLayout(update);
  LayoutAttr target = stages.onStage(tie->second.second, update);
  AnnotatingBuilder builder(
      reader, {Phase::Update, getStage(update), path, Attribute()});
  auto sum = dist::StageReduceOp::create(
      builder, update->getLoc(),
      dist::withLayout(dist::tensorTypeOf(gradient), target), gradient,
      cast<DenseI64ArrayAttr>(getArgumentAttr(parameter, kTiedAttr)),
      builder.getI64IntegerAttr(tie->second.first),
      dist::PurposeAttr::get(update->getContext(), Purpose::Gradient));
  Value converted = converter.convert(gradient, target, sum, Purpose::Gradient);
  if (!converted)
    return failure();
  sum.getInputMutable().assign(converted);
  for (OpOperand *use : readers)
    use->set(sum.getResult());
  return success();
}
