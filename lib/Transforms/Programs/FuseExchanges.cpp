//===- FuseExchanges.cpp - fusion of scatters and gathers -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramUtils.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Transforms/Programs/Passes.h"

#include "llvm/ADT/MapVector.h"

namespace proteus {
#define GEN_PASS_DEF_FUSEEXCHANGES
#include "Proteus/Transforms/Programs/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;

/// Returns true if `op` could be moved directly before `position`, because all
/// its operands are computed before `position`.
static bool couldStandAt(Operation *op, Operation *position) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return !producer || producer->getBlock() != op->getBlock() ||
           producer->isBeforeInBlock(position);
  });
}

namespace {

/// Scatters, or gathers, that can become one exchange.
struct Group {
  SmallVector<Operation *> members;
  /// The first operation that reads a result of any member, or null if there is
  /// none. The exchange must precede this operation.
  Operation *deadline = nullptr;
};

class FuseExchanges : public proteus::impl::FuseExchangesBase<FuseExchanges> {
public:
  void runOnOperation() override {
    getOperation()->walk([&](Block *block) { fuseIn(*block); });
  }

private:
  void fuseIn(Block &block);
  void fuse(const Group &group);
};

} // namespace

void FuseExchanges::fuseIn(Block &block) {
  // Operations of the same kind with the same axes and purpose can become one
  // exchange, which will precede the first reader of any of them. An operation
  // can therefore join a `Group` only if it precedes the deadline, or if it can
  // be moved before the deadline.
  using Key = std::tuple<OperationName, Attribute, int64_t>;
  llvm::MapVector<Key, SmallVector<Group>> groups;
  for (Operation &op : block) {
    if (!isa<dist::ScatterOp, dist::GatherOp>(op))
      continue;
    auto collective = cast<dist::CollectiveOpInterface>(op);
    std::optional<dist::Purpose> purpose = collective.getPurpose();
    Key key{op.getName(), collective.getAxes(),
            purpose ? static_cast<int64_t>(*purpose) : -1};
    Operation *reader = firstReader(&op);
    SmallVector<Group> &candidates = groups[key];
    auto joins = [&](Group &group) {
      return !group.deadline || op.isBeforeInBlock(group.deadline) ||
             couldStandAt(&op, group.deadline);
    };
    auto group = llvm::find_if(candidates, joins);
    if (group == candidates.end()) {
      candidates.emplace_back();
      group = std::prev(candidates.end());
    }
    group->members.push_back(&op);
    if (reader &&
        (!group->deadline || reader->isBeforeInBlock(group->deadline)))
      group->deadline = reader;
  }
  for (auto &[key, candidates] : groups)
    for (Group &group : candidates)
      if (group.members.size() > 1)
        fuse(group);
}

void FuseExchanges::fuse(const Group &group) {
  // Insert the exchange directly before the first reader or, without a reader,
  // at the end of the block. The operands of all members are available there.
  auto first = cast<dist::CollectiveOpInterface>(group.members.front());
  std::optional<dist::Purpose> purpose = first.getPurpose();
  OpBuilder builder(group.deadline ? group.deadline
                                   : first->getBlock()->getTerminator());
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  for (Operation *member : group.members) {
    inputs.push_back(member->getOperand(0));
    types.push_back(member->getResult(0).getType());
  }
  auto exchange = dist::ExchangeOp::create(
      builder, first.getLoc(), types, inputs, first.getAxes(),
      purpose ? dist::PurposeAttr::get(builder.getContext(), *purpose)
              : dist::PurposeAttr());
  if (Attribute path = first->getAttr(ProteusDialect::pathAttrName))
    exchange->setDiscardableAttr(ProteusDialect::pathAttrName, path);
  for (auto [member, output] :
       llvm::zip(group.members, exchange.getOutputs())) {
    member->getResult(0).replaceAllUsesWith(output);
    member->erase();
  }
}
