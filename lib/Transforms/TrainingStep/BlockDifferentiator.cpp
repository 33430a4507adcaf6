//===- BlockDifferentiator.cpp - gradients of one block ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockDifferentiator.h"
#include "Differentiation.h"
#include "GradientScaling.h"
#include "Proteus/Transforms/Common/KeepLayout.h"

#include "Proteus/Transforms/Common/Annotations.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;

BlockDifferentiator::BlockDifferentiator(StepContext &context, Block &forward,
                                         OpBuilder backward)
    : context(context), forward(forward), backward(backward) {
  this->backward.setListener(this);
}

LogicalResult BlockDifferentiator::run() {
  // Copy the list of operations, because the block changes when a repeat is
  // differentiated and replaced.
  SmallVector<Operation *> operations;
  for (Operation &op : forward.without_terminator())
    operations.push_back(&op);
  for (Operation *op : operations)
    if (StringAttr group = getRecomputeGroup(op))
      recomputeMembers[group].push_back(op);
  for (Operation *op : llvm::reverse(operations)) {
    if (llvm::none_of(op->getResults(), [&](Value result) {
          return gradients.count(result) && wants(result);
        }))
      continue;
    current = op;
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      if (failed(differentiate(repeat)))
        return failure();
      continue;
    }
    auto differentiable = dyn_cast<GradientOpInterface>(op);
    if (!differentiable)
      return op->emitOpError("has no gradient, but the loss depends on it; "
                             "use differentiable operations between the "
                             "parameters and the loss");
    auto layout =
        op->getAttrOfType<strategy::PartitionAttr>(kOutputGradientAttr);
    if (Value gradient = layout ? gradientOf(op->getResult(0)) : Value())
      gradients[op->getResult(0)] = buildKeep(backward, op, gradient, layout);
    if (failed(differentiable.buildGradients(*this)))
      return failure();
  }
  current = nullptr;
  return success();
}

void BlockDifferentiator::add(Value operand, Value gradient) {
  if (!wants(operand))
    return;
  separateChunks(operand);
  summing = true;
  // Kernels write the gradient of a parameter in the type that `gradientType`
  // returns. The gradient of an operand of an addition is the unchanged
  // gradient of the result, which may have another type and is then converted.
  Type type = gradientType(operand);
  std::string path = current ? getOwnPath(current) : "loss";
  if (gradient.getType() != type)
    gradient =
        CastOp::create(backward, gradient.getLoc(), type, path, gradient);
  Value &sum = gradients[operand];
  sum = sum ? AddOp::create(backward, gradient.getLoc(), type, path, sum,
                            gradient)
            : gradient;
  summing = false;
}

void BlockDifferentiator::separateChunks(Value parameter) {
  std::optional<int64_t> stage = current ? getStage(current) : std::nullopt;
  auto argument = dyn_cast<BlockArgument>(parameter);
  if (!stage || !argument || getRole(argument) != Role::Parameter)
    return;
  auto [entry, isNew] = stages.try_emplace(parameter, *stage);
  if (isNew || entry->second == *stage)
    return;
  entry->second = *stage;
  if (Value gradient = gradientOf(parameter)) {
    ofOtherChunks[parameter].push_back(gradient);
    gradients[parameter] = {};
  }
}

Value BlockDifferentiator::gradientSoFar(Value operand) {
  separateChunks(operand);
  Value gradient = gradientOf(operand);
  return gradient ? gradient : zeroGradient(operand);
}

Value BlockDifferentiator::totalGradient(BlockArgument parameter) {
  Value total = gradientOf(parameter);
  for (Value gradient : ofOtherChunks.lookup(parameter)) {
    Operation *sum =
        AddOp::create(backward, parameter.getLoc(), gradient.getType(),
                      getArgumentPath(parameter), gradient, total);
    markAsUpdate(sum, parameter);
    total = sum->getResult(0);
  }
  return total;
}

/// Returns the value that the backward pass of `op` reads in place of `value`,
/// an operand of `op`. This is normally `value` itself. It is a new nn.keep of
/// `value` in two cases: the strategy sets a layout in which `value` is kept
/// for the backward pass, or `value` is a parameter that stays gathered until
/// then.
Value BlockDifferentiator::keptOperand(Operation *op, Value value) {
  auto [entry, isNew] = keptOperands.try_emplace({op, value}, value);
  if (!isNew)
    return entry->second;
  auto keep = [&](strategy::PartitionAttr partition) {
    // The nn.keep is inserted after `op`, so that `op` stays the first reader
    // of `value`. The layout in which `op` reads `value` is then chosen before
    // the layout of the nn.keep.
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    KeepOp result = buildKeep(builder, op, value, partition);
    setPhase(result, Phase::Forward);
    keptOperands[{op, value}] = result.getResult();
    return result;
  };
  if (auto inputs = op->getAttrOfType<ArrayAttr>(kInputsAttr))
    for (auto input : inputs.getAsRange<ArrayAttr>())
      if (op->getOperand(cast<IntegerAttr>(input[0]).getInt()) == value)
        return keep(cast<strategy::PartitionAttr>(input[1])).getResult();
  if (op->hasAttr(kKeepGatheredAttr) && context.isParameter(value)) {
    KeepOp result = keep(strategy::PartitionAttr::get(op->getContext(), {}));
    unsigned number = std::distance(op->operand_begin(),
                                    llvm::find(op->getOperands(), value));
    result->setDiscardableAttr(kKeepAsReadAttr,
                               backward.getI64IntegerAttr(number));
    return result.getResult();
  }
  return value;
}

Value BlockDifferentiator::saved(Value value) {
  Operation *op = value.getDefiningOp();
  auto group =
      op && op->getBlock() == &forward ? getRecomputeGroup(op) : StringAttr();
  // A value of a recompute group is recomputed only for the backward pass of
  // the same group. For readers outside of the group it is saved.
  if (!group || !current || getRecomputeGroup(current) != group)
    return kept(current && current->getBlock() == &forward
                    ? keptOperand(current, value)
                    : value);
  if (!recomputed.count(group))
    recompute(group);
  return recomputed[group].lookup(value);
}

Type BlockDifferentiator::gradientType(Value operand) {
  Type element = context.training.getGradient();
  if (element && context.isParameter(operand))
    return withElementType(operand.getType(), element);
  return operand.getType();
}

Value BlockDifferentiator::zeroGradient(Value value) {
  return FillOp::create(backward, value.getLoc(), gradientType(value), "zero",
                        llvm::APFloat(0.0));
}

void BlockDifferentiator::correspond(
    Operation *backwardOp, ArrayRef<std::pair<StringRef, StringRef>> names) {
  inheritPartition(current, backwardOp, names);
}

/// Copies annotations of the current forward operation to a new backward
/// operation, and sets the phase of the new operation to Backward.
void BlockDifferentiator::notifyOperationInserted(Operation *op,
                                                  OpBuilder::InsertPoint) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return;
  if (current)
    inheritAnnotations(current, op);
  // A sum of gradients does not inherit the partition of the forward operation.
  // Propagation derives it from the gradients.
  if (summing)
    op->removeDiscardableAttr(kOpAttr);
  setPhase(op, Phase::Backward);
}
