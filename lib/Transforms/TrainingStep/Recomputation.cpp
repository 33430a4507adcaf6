//===- Recomputation.cpp - recomputed modules -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of BlockDifferentiator that builds nn.recompute.
//
//===----------------------------------------------------------------------===//

#include "BlockDifferentiator.h"
#include "Differentiation.h"
#include "PruneStep.h"

#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/Partitioning.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

#include <functional>

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;

/// Gives `copy`, a copy of a constant or initial value for the module of
/// `member`, a path in the layer of `member`. It is then a part of this layer,
/// as in the body of a repeat.
static void nameInLayerOf(Operation *member, Operation *copy) {
  std::string path = getOwnPath(member);
  auto own = copy->getAttrOfType<StringAttr>("path");
  size_t end = StringRef(path).rfind(']');
  if (!own || end == StringRef::npos)
    return;
  StringRef layer = StringRef(path).take_front(end + 1);
  if (!own.getValue().starts_with(layer))
    copy->setAttr("path", StringAttr::get(copy->getContext(),
                                          layer + "." + own.getValue()));
}

/// Clones all operations of `group` into an nn.recompute before the first
/// backward operation that reads one of their results. `prune` later removes
/// unread results.
void BlockDifferentiator::recompute(StringAttr group) {
  ArrayRef<Operation *> members = recomputeMembers[group];

  // The operands of the nn.recompute are the values that the group reads from
  // outside. Constants and initial values are not operands: they are cloned
  // into the body.
  SetVector<Value> inputs, constants;
  std::function<void(Value)> addInput = [&](Value value) {
    if (!isConstant(value) && !context.initialValues.contains(value)) {
      inputs.insert(value);
      return;
    }
    for (Value operand : value.getDefiningOp()->getOperands())
      addInput(operand);
    constants.insert(value);
  };
  SmallVector<Value> outputs;
  auto isInside = [&](Value value) {
    Operation *def = value.getDefiningOp();
    return def && def->getBlock() == &forward &&
           getRecomputeGroup(def) == group;
  };
  for (Operation *op : members) {
    for (Value operand : op->getOperands())
      if (!isInside(operand))
        addInput(operand);
    SetVector<Value> captured;
    for (Region &region : op->getRegions())
      getUsedValuesDefinedAbove(region, captured);
    for (Value value : captured)
      if (!isInside(value))
        addInput(value);
    llvm::append_range(outputs, op->getResults());
  }

  // As in frameworks, the group runs its whole forward pass again, even for
  // results that no backward operation reads. Results that operations outside
  // of the group read come first in `outputs`, and `prune` keeps them.
  auto leaves = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *top = forward.findAncestorOpInBlock(*user);
      return top && getRecomputeGroup(top) != group;
    });
  };
  SmallVector<Value> inner;
  llvm::copy_if(outputs, std::back_inserter(inner),
                [&](Value value) { return !leaves(value); });
  llvm::erase_if(outputs, [&](Value value) { return !leaves(value); });
  int64_t numOutputs = outputs.size();
  llvm::append_range(outputs, inner);

  SmallVector<Value> operands;
  for (Value input : inputs) {
    Value form = input;
    for (Operation *op : members)
      if (form == input && llvm::is_contained(op->getOperands(), input))
        form = keptOperand(op, input);
    operands.push_back(kept(form));
  }
  auto again =
      RecomputeOp::create(backward, members.front()->getLoc(), group.getValue(),
                          operands, TypeRange(outputs));
  again->setAttr(kModuleOutputsAttr, backward.getI64IntegerAttr(numOutputs));
  Block &body = again.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  // A constant may have been created on another stage, for example before the
  // first layer. Its copy runs on the stage of the module.
  std::optional<int64_t> stage = getStage(members.front());
  for (Value constant : constants) {
    Operation *copy = inside.clone(*constant.getDefiningOp(), mapping);
    nameInLayerOf(members.front(), copy);
    if (stage)
      setStage(copy, *stage);
    if (!isConstant(constant))
      setPhase(copy, Phase::Backward);
  }
  for (Operation *op : members)
    setPhase(inside.clone(*op, mapping), Phase::Backward);
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(mapping.lookup(output));
  YieldOp::create(inside, again.getLoc(), yielded);

  auto &values = recomputed[group];
  for (auto [output, result] : llvm::zip(outputs, again.getResults()))
    values[output] = result;
}
