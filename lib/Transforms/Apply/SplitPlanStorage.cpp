//===- SplitPlanStorage.cpp - storage of parameters under ZeRO --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of SplitPlan that decides in which layouts parameters, their
// gradients and their states are stored.
//
//===----------------------------------------------------------------------===//

#include "SplitPlan.h"

#include "Proteus/Transforms/Common/Annotations.h"

using namespace mlir;
using namespace proteus;
using nn::IterationSpaceOpInterface;

std::pair<SmallVector<StringRef>, int64_t>
SplitPlan::copiesOf(Operation *op) const {
  SmallVector<StringRef> axes;
  int64_t count = 1;
  auto add = [&](StringRef axis, int64_t size) {
    if (size == 1)
      return;
    axes.push_back(axis);
    count *= size;
  };
  if (dataGroup.empty())
    add(kData, decisions.dataReplicas());
  else
    add(dataGroup, *decisions.zeroGroup);
  add(kContext, decisions.cp);
  if (!isa_and_nonnull<nn::ExpertLinearOp>(op))
    add(kExpert, decisions.expertRanks());
  return {axes, count};
}

SplitPlan::Parts SplitPlan::storageOf(IterationSpaceOpInterface op,
                                      ArrayRef<OpOperand *> operands) const {
  SmallVector<StringRef> copies;
  int64_t count;
  std::tie(copies, count) = copiesOf(op);
  SmallVector<StringRef> withTensor = {kTensor};
  llvm::append_range(withTensor, copies);
  if (copies.empty())
    return {};
  // Returns the splits of tensors that tp splits along `split` already. One
  // dimension is cut further, over the devices that hold copies. Even parts of
  // `split` are best, because each lies within the shard that its device has
  // from tp. Uneven parts would move between devices of tp, so even parts of
  // `other` come next. If there are no even parts, cuts `split` or, if that is
  // too small, `other`. Returns no splits if both are too small.
  auto withinTensorSplit = [&](StringRef split, int64_t size, StringRef other,
                               int64_t otherSize) -> Parts {
    int64_t parts = decisions.tp * count;
    if (size % parts == 0 || (otherSize % count != 0 && size >= parts))
      return {part(split, withTensor)};
    if (otherSize >= count)
      return {part(split, {kTensor}), part(other, copies)};
    return {};
  };
  if (auto linear = dyn_cast<nn::LinearOp>(op.getOperation())) {
    int64_t out = outSize(linear);
    int64_t in =
        cast<RankedTensorType>(linear.getWeight().getType()).getDimSize(1);
    if (isTensorSplit(op))
      return withinTensorSplit("out", out, "in", in);
    if (out < count)
      return {};
    if (rowLinears.contains(op))
      return {part("out", copies), part("in", {kTensor})};
    // Uneven parts would make equivalent ranks differ, so `in` is split if
    // `count` divides `in` but not `out`. A bias has no `in`, so it requires a
    // split of `out`.
    if (out % count != 0 && in % count == 0 && !linear.getBias())
      return {part("in", copies)};
    return {part("out", copies)};
  }
  if (auto expert = dyn_cast<nn::ExpertLinearOp>(op.getOperation())) {
    auto weight = cast<RankedTensorType>(expert.getWeight().getType());
    bool columns = isTensorSplit(op);
    if (weight.getDimSize(1) < count * (columns ? decisions.tp : 1))
      return {};
    Parts parts;
    if (auto places = placesOfExperts().first; !places.empty())
      parts.push_back(part("expert", places));
    parts.push_back(part("out", columns ? withTensor : copies));
    if (rowLinears.contains(op))
      parts.push_back(part("in", {kTensor}));
    return parts;
  }
  if (auto embedding = dyn_cast<nn::EmbeddingOp>(op.getOperation());
      embedding && isTensorSplit(op)) {
    auto table = cast<RankedTensorType>(embedding.getTable().getType());
    return withinTensorSplit("vocab", table.getDimSize(0), "hidden",
                             table.getDimSize(1));
  }
  for (OpOperand *operand : operands) {
    auto type = cast<RankedTensorType>(operand->get().getType());
    if (type.getRank() == 0 || type.getDimSize(0) < count)
      return {};
  }
  return {part(IntegerAttr::get(IntegerType::get(context, 64), 0), copies)};
}

strategy::PartAttr SplitPlan::flatPart(Axes axes) const {
  return part(decisions.zeroShards == plan::ZeroShards::Rows
                  ? strategy::kFlatRowsKey
                  : strategy::kFlatKey,
              axes);
}

void SplitPlan::store(OperationSettings &list, const Parts &parts) const {
  if (decisions.zero == plan::ZeroStage::Parameters ||
      decisions.overlapParameters)
    list.splits[strategy::ItemKind::Weight] = parts;
  if (decisions.zero != plan::ZeroStage::States)
    list.splits[strategy::ItemKind::Gradient] = parts;
  list.splits[strategy::ItemKind::State] = parts;
}

void SplitPlan::splitStorage() {
  if (decisions.zero == plan::ZeroStage::None)
    return;
  // The first reader of a parameter determines in which layout it is stored.
  DenseSet<Value> decided;
  for (IterationSpaceOpInterface op : model.getOperations()) {
    SmallVector<OpOperand *> operands;
    bool isFirst = true, isSmall = true;
    for (OpOperand &operand : op->getOpOperands())
      if (BlockArgument argument = getParameter(operand.get()).first) {
        isFirst &= decided.insert(argument).second;
        isSmall &=
            cast<RankedTensorType>(operand.get().getType()).getNumElements() <=
            decisions.zeroPersist.value_or(0);
        operands.push_back(&operand);
      }
    if (operands.empty() || !isFirst)
      continue;
    // Updates of single table rows are no updates of equal lists of elements,
    // so tables are cut by rows.
    bool isTable = isa<nn::EmbeddingBagOp>(op.getOperation());
    Parts whole = {flatPart({})};
    if (!cutsFlat() || isTable) {
      Parts storage = storageOf(op, operands);
      if (cutsFlat())
        storage.insert(storage.begin(), whole.front());
      if (!storage.empty())
        store(settings[op], storage);
    }
    if (isSmall && decisions.zero == plan::ZeroStage::Parameters)
      settings[op].splits[strategy::ItemKind::Weight] = whole;
  }
}
