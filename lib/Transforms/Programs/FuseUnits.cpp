//===- FuseUnits.cpp - collectives of sharded layers ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gathers the sharded parameters of a layer by one collective, and scatters its
// gradients by one. A unit is a layer, or the modules between two groups of
// layers. Frameworks that shard parameters, such as FSDP, wrap a model into
// such units.
//
//===----------------------------------------------------------------------===//

#include "ProgramUtils.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Transforms/Programs/Passes.h"

#include "llvm/ADT/MapVector.h"

namespace proteus {
#define GEN_PASS_DEF_FUSEUNITS
#include "Proteus/Transforms/Programs/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;

/// Returns the number of the unit of every operation of `block`. A unit ends
/// where the kernels of another layer begin, and at a repeat.
static DenseMap<Operation *, unsigned> findUnits(Block &block) {
  DenseMap<Operation *, unsigned> units;
  unsigned unit = 0;
  std::optional<std::string> layer;
  for (Operation &op : block) {
    if (isa<nn::RepeatOp>(op)) {
      units[&op] = ++unit;
      ++unit;
      layer.reset();
      continue;
    }
    if (isa<nn::IterationSpaceOpInterface, nn::RecomputeOp>(op)) {
      std::string own = layerOf(nn::getPath(&op));
      if (layer && *layer != own)
        ++unit;
      layer = own;
    }
    units[&op] = unit;
  }
  return units;
}

/// Returns true if the operand of `op` is computed before `position`.
static bool isReadyAt(Operation *op, Operation *position) {
  Operation *producer = op->getOperand(0).getDefiningOp();
  return !producer || producer->getBlock() != op->getBlock() ||
         producer->isBeforeInBlock(position);
}

/// Returns true if no operation reads a result of `op` until `position`, which
/// follows `op`.
static bool isUnreadAt(Operation *op, Operation *position) {
  Operation *reader = firstReader(op);
  return !reader || position->isBeforeInBlock(reader);
}

/// Returns true if one unit alone, which is no repeat, reads the results of
/// `op`. A parameter that several layers share belongs to none of them. It is
/// read by a repeat, or by several layers if these are written out.
static bool isReadByOneUnit(Operation *op,
                            const DenseMap<Operation *, unsigned> &units) {
  std::optional<unsigned> unit;
  for (Operation *user : op->getUsers()) {
    Operation *reader = op->getBlock()->findAncestorOpInBlock(*user);
    if (!reader || isa<nn::RepeatOp>(reader))
      return false;
    unsigned own = units.lookup(reader);
    if (unit.value_or(own) != own)
      return false;
    unit = own;
  }
  return unit.has_value();
}

/// Returns the unit that computes `value`, or nullopt if a repeat or operations
/// of several units do: the gradient of a parameter that several layers share
/// is a sum over these layers.
static std::optional<unsigned>
computingUnit(Value value, Block &block,
              const DenseMap<Operation *, unsigned> &units) {
  Operation *producer = value.getDefiningOp();
  if (!producer || producer->getBlock() != &block ||
      isa<nn::RepeatOp>(producer))
    return std::nullopt;
  unsigned unit = units.lookup(producer);
  if (isa<nn::AddOp>(producer))
    for (Value term : producer->getOperands())
      if (computingUnit(term, block, units) != unit)
        return std::nullopt;
  return unit;
}

namespace {
class FuseUnits : public proteus::impl::FuseUnitsBase<FuseUnits> {
public:
  using FuseUnitsBase::FuseUnitsBase;

  void runOnOperation() override {
    dist::ProgramOp program = getOperation();
    dist::BucketingAttr buckets = program.getStepOrDefault().getBuckets();
    bool gathers = !buckets || !buckets.getGatherPerParameter();
    bool scatters = !buckets || buckets.getReduction() !=
                                    plan::GradientReduction::PerParameter;
    for (dist::SectionOp section : program.getSections())
      if (!section.getOnce())
        section.walk([&](Block *block) { fuseIn(*block, gathers, scatters); });
  }

private:
  using Members = SmallVector<dist::CollectiveOpInterface>;

  void fuseIn(Block &block, bool gathers, bool scatters);
  void fuseGathers(Members members);
  void fuseScatters(Members members);
  template <typename OpT, typename... Args>
  void replace(OpBuilder &builder,
               ArrayRef<dist::CollectiveOpInterface> members, Args &&...args);
};
} // namespace

/// Replaces `members` by one fused collective with one bucket. `args` are the
/// arguments of its builder before the operands.
template <typename OpT, typename... Args>
void FuseUnits::replace(OpBuilder &builder,
                        ArrayRef<dist::CollectiveOpInterface> members,
                        Args &&...args) {
  dist::CollectiveOpInterface first = members.front();
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  dist::Buckets buckets;
  buckets.list.emplace_back();
  for (auto [number, member] : llvm::enumerate(members)) {
    inputs.push_back(member->getOperand(0));
    types.push_back(member->getResult(0).getType());
    buckets.list.back().push_back({static_cast<int64_t>(number), 0, 1});
  }
  auto stacked =
      builder.getDenseBoolArrayAttr(SmallVector<bool>(members.size(), false));
  auto list = dist::BucketsAttr::get(&getContext(), std::move(buckets));
  auto purpose = dist::PurposeAttr::get(&getContext(), *first.getPurpose());
  OpT fused;
  if constexpr (std::is_same_v<OpT, dist::FusedGatherOp>)
    fused = OpT::create(builder, first.getLoc(), types, inputs, first.getAxes(),
                        stacked, list, purpose);
  else
    fused = OpT::create(builder, first.getLoc(), types,
                        std::forward<Args>(args)..., inputs, first.getAxes(),
                        stacked, list, UnitAttr(), TypeAttr(), purpose);
  std::string layer = layerOf(nn::getOwnPath(first));
  fused->setDiscardableAttr(
      ProteusDialect::pathAttrName,
      builder.getStringAttr((layer.empty() ? "" : layer + ".") +
                            (std::is_same_v<OpT, dist::FusedGatherOp>
                                 ? "parameters"
                                 : "gradients")));
  if (Attribute depth = first->getAttr(ProteusDialect::prefetchAttrName))
    fused->setDiscardableAttr(ProteusDialect::prefetchAttrName, depth);
  for (auto [member, output] : llvm::zip_equal(members, fused.getOutputs())) {
    member->getResult(0).replaceAllUsesWith(output);
    member->erase();
  }
}

/// Replaces gathers by one at the position of the first of them. Leaves out
/// gathers of values that are computed later.
void FuseUnits::fuseGathers(Members members) {
  Operation *first = members.front();
  llvm::erase_if(members, [&](dist::CollectiveOpInterface member) {
    return !isReadyAt(member, first);
  });
  OpBuilder builder(first);
  if (members.size() > 1)
    replace<dist::FusedGatherOp>(builder, members);
}

/// Replaces reduce-scatters by one at the position of the last of them. Leaves
/// out those with a result that is read earlier.
void FuseUnits::fuseScatters(Members members) {
  Operation *last = members.back();
  llvm::erase_if(members, [&](dist::CollectiveOpInterface member) {
    return member != last && !isUnreadAt(member, last);
  });
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfter(last);
  auto sum = cast<dist::ReduceScatterOp>(*members.front());
  if (members.size() > 1)
    replace<dist::FusedReduceOp>(
        builder, members,
        dist::CollectiveKindAttr::get(&getContext(),
                                      dist::CollectiveKind::ReduceScatter),
        sum.getReductionAttr());
}

void FuseUnits::fuseIn(Block &block, bool gathers, bool scatters) {
  DenseMap<Operation *, unsigned> units = findUnits(block);
  // Collectives of one unit, with the same axes, element type and other
  // settings, in the order of the block.
  using Key = std::tuple<unsigned, Attribute, Type, Attribute>;
  llvm::MapVector<Key, Members> gathered, scattered;
  for (Operation &op : block) {
    if (!isa<dist::AllGatherOp, dist::ReduceScatterOp>(op))
      continue;
    auto collective = cast<dist::CollectiveOpInterface>(op);
    Type type = getElementTypeOrSelf(op.getResult(0).getType());
    if (isa<dist::AllGatherOp>(op) && gathers &&
        collective.getPurpose() == dist::Purpose::Parameter &&
        !op.hasAttr(ProteusDialect::onceAttrName) &&
        isReadByOneUnit(&op, units)) {
      gathered[{units.lookup(firstReader(&op)), collective.getAxes(), type,
                op.getAttr(ProteusDialect::prefetchAttrName)}]
          .push_back(collective);
    } else if (auto sum = dyn_cast<dist::ReduceScatterOp>(op);
               sum && scatters &&
               collective.getPurpose() == dist::Purpose::Gradient) {
      if (auto unit = computingUnit(sum.getInput(), block, units))
        scattered[{*unit, collective.getAxes(), type, sum.getReductionAttr()}]
            .push_back(collective);
    }
  }
  for (auto &[key, members] : gathered)
    fuseGathers(members);
  for (auto &[key, members] : scattered)
    fuseScatters(members);
}
