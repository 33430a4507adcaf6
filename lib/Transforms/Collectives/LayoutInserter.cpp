//===- LayoutInserter.cpp - a layout for every value ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutInserter.h"
#include "BuildRing.h"
#include "LayoutUtils.h"
#include "Proteus/Transforms/Common/SumTerms.h"
#include "SavedActivations.h"

#include "Proteus/Transforms/Common/Annotations.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;
using dist::LayoutAttr;
using dist::Purpose;
using dist::ReductionKind;
using nn::IterationSpaceOpInterface;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool LayoutInserter::isParameter(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  Operation *parent = argument.getOwner()->getParentOp();
  if (parent == function)
    return getRole(argument) == nn::Role::Parameter;
  if (auto repeat = dyn_cast<nn::RepeatOp>(parent))
    return isParameter(repeat.getOperand(argument.getArgNumber()));
  if (auto recompute = dyn_cast<nn::RecomputeOp>(parent))
    return isParameter(recompute.getOperand(argument.getArgNumber()));
  return false;
}

bool LayoutInserter::isStored(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  Operation *parent = argument.getOwner()->getParentOp();
  // An update may read an input of the step, such as the indices of the table
  // rows to update. Such an input is part of a gradient, so it is not a stored
  // value.
  if (parent == function)
    return getRole(argument) != nn::Role::Input;
  return isStored(parent->getOperand(argument.getArgNumber()));
}

Purpose LayoutInserter::purposeOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (getPhase(op) == Phase::Update)
    return isStored(operand.get()) ? Purpose::Parameter : Purpose::Gradient;
  return isParameter(operand.get()) ? Purpose::Parameter : Purpose::Activation;
}

LogicalResult LayoutInserter::convert(OpOperand &operand, LayoutAttr target,
                                      Purpose purpose) {
  Value value =
      converter.convert(operand.get(), target, operand.getOwner(), purpose);
  if (value)
    operand.set(value);
  return success(static_cast<bool>(value));
}

/// Returns true if `value` is filled with zero. Every rank can then use it as
/// the initial value of its summand of a partial sum.
static bool isFilledWithZero(Value value) {
  Operation *op = value.getDefiningOp();
  return op && llvm::any_of(op->getOperands(), [](Value operand) {
           return matchPattern(operand, m_AnyZeroFloat());
         });
}

LogicalResult LayoutInserter::initialise(OpOperand &operand,
                                         LayoutAttr layout) {
  Value value = operand.get();
  if (layoutOf(value) == layout)
    return success();
  if (layout.isPartial() && !isFilledWithZero(value) &&
      value.getDefiningOp()->getNumOperands() > 0)
    return operand.getOwner()->emitOpError(
        "computes partial sums, so its initial value must be zero; fill it "
        "with 0 and add the value afterwards");
  // Copy the initial value, because other operations may need it in another
  // layout.
  AnnotatingBuilder builder(operand.getOwner(),
                            InsertedAnnotations::of(operand.getOwner()));
  Operation *copy = builder.clone(*value.getDefiningOp());
  for (OpOperand &inner : copy->getOpOperands())
    if (isa<RankedTensorType>(inner.get().getType()) &&
        failed(initialise(inner, layout)))
      return failure();
  setLayout(copy->getResult(0), layout);
  Operation *original = value.getDefiningOp();
  operand.set(copy->getResult(0));
  initialValues.add(copy);
  if (original->use_empty())
    erase(original);
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult LayoutInserter::decompose(nn::DecomposableOpInterface op) {
  OpBuilder builder(op);
  Operation *previous = op->getPrevNode();
  SmallVector<Value> replacements = op.decompose(builder);
  Operation *first =
      previous ? previous->getNextNode() : &op->getBlock()->front();
  SmallVector<Operation *> pieces;
  for (Operation *piece = first; piece != op; piece = piece->getNextNode())
    pieces.push_back(piece);
  for (Operation *piece : pieces) {
    inheritAnnotations(op, piece);
    setPhase(piece, getPhase(op));
  }
  op->replaceAllUsesWith(replacements);
  erase(op);
  for (Operation *piece : pieces)
    if (failed(visitKernel(cast<IterationSpaceOpInterface>(piece))))
      return failure();
  return success();
}

void LayoutInserter::replaceByRing(nn::RingOpInterface op) {
  AnnotatingBuilder builder(op, InsertedAnnotations::of(op));
  op->replaceAllUsesWith(buildRing(builder, op, mesh, [&](LayoutAttr layout) {
    return stages.onStage(layout, op);
  }));
  erase(op);
}

/// Returns the axes over which sums stay pending through a linear operation,
/// such as an addition. The sums must be pending in all operands. If an
/// operand, such as the input of a layer, has been reduced already for an
/// earlier reader, `op` reads the reduced value, and no sums stay pending.
AxisList LayoutInserter::sumsThrough(IterationSpaceOpInterface op,
                                     const Partitioning &part) {
  if (!op.isLinear() || op->getNumOperands() == 0)
    return {};
  AxisList through = converter.layoutAt(op->getOperand(0), op)
                         .getValue()
                         .getPartial(ReductionKind::Sum);
  for (Value operand : op->getOperands()) {
    const dist::Layout &layout = converter.layoutAt(operand, op).getValue();
    if (!layout.getPartial(ReductionKind::Max).empty() ||
        converter.isReducedAt(operand, op))
      through.clear();
    llvm::erase_if(through, [&](Axis axis) {
      return !llvm::is_contained(layout.getPartial(ReductionKind::Sum), axis);
    });
  }
  // The update runs once, after the sums over micro-batches are complete.
  llvm::erase_if(through, [&](Axis axis) {
    return part.uses(axis) ||
           (axis == dist::microAxis && getPhase(op) == Phase::Update);
  });
  return through;
}

/// Changes the partition of an addition of input gradients, if possible, so
/// that one collective scatters their sum, instead of one collective for each
/// term. This requires that sums are pending over the same axes in all terms,
/// and that the addition would otherwise be split over one of these axes.
void LayoutInserter::sumBeforeScatter(IterationSpaceOpInterface op,
                                      Partitioning &part) {
  if (!isa<nn::AddOp>(op) || !isInputGradient(op))
    return;
  LayoutAttr common = converter.layoutAt(op->getOperand(0), op);
  const AxisList &pending = common.getValue().getPartial(ReductionKind::Sum);
  if (!common.getValue().getPartial(ReductionKind::Max).empty() ||
      llvm::none_of(pending, [&](Axis axis) { return part.uses(axis); }))
    return;
  Partitioning whole = part;
  for (unsigned i = 0; i < part.getSpace().iterators.size(); ++i) {
    AxisList axes = part.getAxes(i);
    llvm::erase_if(
        axes, [&](Axis axis) { return llvm::is_contained(pending, axis); });
    axes.zigzag &= !axes.empty();
    whole.setAxes(i, axes);
  }
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (converter.layoutAt(operand, op) != common ||
        converter.isReducedAt(operand, op) ||
        stages.onStage(
            withPartialSum(whole.getOperandLayout(number, mesh), pending),
            op) != common)
      return;
  part = whole;
  part.annotate(mesh.getValue());
}

LogicalResult LayoutInserter::visitKernel(IterationSpaceOpInterface op) {
  Partitioning part = Partitioning::fromAnnotation(op, mesh.getValue());
  sumBeforeScatter(op, part);
  for (auto [i, iterator] : llvm::enumerate(part.getSpace().iterators))
    if (iterator.isCompound() && !part.getAxes(i).empty() &&
        part.getRing() != i)
      return decompose(cast<nn::DecomposableOpInterface>(op.getOperation()));

  AxisList through = sumsThrough(op, part);

  auto resultLayout = [&](unsigned number) {
    return stages.onStage(
        withPartialSum(part.getResultLayout(number, mesh), through), op);
  };
  auto destinations = dyn_cast<DestinationStyleOpInterface>(op.getOperation());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    if (destinations && destinations.isDpsInit(&operand) &&
        initialValues.contains(operand.get())) {
      OpResult result = destinations.getTiedOpResult(&operand);
      if (failed(initialise(operand, resultLayout(result.getResultNumber()))))
        return failure();
      continue;
    }
    LayoutAttr target = stages.onStage(
        withPartialSum(part.getOperandLayout(operand.getOperandNumber(), mesh),
                       through),
        op);
    if (failed(convert(operand, target, purposeOf(operand))))
      return failure();
  }
  if (part.getRing()) {
    replaceByRing(cast<nn::RingOpInterface>(op.getOperation()));
    return success();
  }
  initialValues.add(op);
  for (OpResult result : op->getResults())
    setLayout(result, resultLayout(result.getResultNumber()));
  // `store` inserts a conversion right after the operation. Going through the
  // results in reverse order leaves the conversions in the order of the
  // results.
  for (OpResult result : llvm::reverse(op->getResults()))
    if (failed(stored->store(result)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Other operations
//===----------------------------------------------------------------------===//

/// Sorts the terms of an nn.total by layout. If terms of the same layout have
/// pending reductions, or exist only at some coordinates, combines them before
/// they are converted. One small collective then suffices for all of them.
/// Converts all other terms one by one.
LogicalResult LayoutInserter::visitTotal(nn::TotalOp total) {
  // A stack of scalars is never sharded, so its layout without dimensions is
  // that of a scalar.
  auto asNumber = [&](Value term) {
    dist::Layout layout = layoutOf(term).getValue();
    layout.dims.clear();
    layout.flat = dist::FlatCut();
    return LayoutAttr::get(mesh, layout);
  };
  llvm::MapVector<LayoutAttr, SmallVector<Value>> groups;
  for (Value term : total.getInputs())
    groups[asNumber(term)].push_back(term);
  SmallVector<Value> terms;
  LayoutAttr everywhere =
      stages.onStage(LayoutAttr::get(mesh, dist::Layout(0)), total);
  for (auto &[layout, group] : groups) {
    bool atOnePlace = !newlyFixed(everywhere.getValue(),
                                  stages.onStage(layout, total).getValue())
                           .empty();
    if (!layout.isPartial() && !atOnePlace) {
      for (Value term : group)
        terms.push_back(converter.convert(term,
                                          stages.onStage(layoutOf(term), total),
                                          total, Purpose::Gradient));
      continue;
    }
    AnnotatingBuilder builder(total, InsertedAnnotations::of(total));
    auto pending = nn::TotalOp::create(builder, total.getLoc(),
                                       total.getResult().getType(),
                                       total.getPath(), group, total.getMax());
    setLayout(pending.getResult(), layout);
    Value whole = converter.convert(pending.getResult(), reduced(layout), total,
                                    Purpose::Gradient);
    terms.push_back(
        whole ? converter.convert(whole, everywhere, total, Purpose::Gradient)
              : Value());
  }
  if (llvm::is_contained(terms, Value()))
    return failure();
  total.getInputsMutable().assign(terms);
  setLayout(total.getResult(), everywhere);
  return success();
}

/// Converts the operands of the return. A value that updates an argument gets
/// the layout of this argument. Any other value keeps its layout, except that
/// its sum over micro-batches is completed. The results of a model that is not
/// trained are its output, so their sums over devices are completed too. The
/// loss of a training step remains partial over devices, because frameworks do
/// not reduce it in every step.
LogicalResult LayoutInserter::visitReturn(Operation *op) {
  bool isTrained = function->hasAttr(nn::kTrainingAttr);
  for (OpOperand &operand : op->getOpOperands()) {
    LayoutAttr target = layoutOf(operand.get());
    bool isPerMicroBatch = false;
    auto updates = function.getResultAttrOfType<IntegerAttr>(
        operand.getOperandNumber(), nn::kUpdatesAttr);
    if (updates) {
      target = layoutOf(function.getArgument(updates.getInt()));
    } else {
      isPerMicroBatch = !isTrained && !target.isPartialOverMicro();
      target = accumulated(isTrained ? target : reduced(target));
    }
    if (Operation *producer = operand.get().getDefiningOp()) {
      if (auto stage = getStage(producer))
        setStage(op, *stage);
      setPhase(op, isPerMicroBatch ? Phase::Forward : Phase::Update);
    }
    if (failed(convert(operand, target,
                       updates ? Purpose::Parameter : Purpose::Activation)))
      return failure();
  }
  unmarkTerminator(op);
  return success();
}

LogicalResult LayoutInserter::visit(Block &block) {
  SmallVector<Operation *> operations;
  for (Operation &op : block)
    operations.push_back(&op);
  for (Operation *op : operations) {
    LogicalResult result = success();
    if (failed(tied.joinBefore(op)))
      return failure();
    if (auto repeat = dyn_cast<nn::RepeatOp>(op))
      result = visitRepeat(repeat);
    else if (auto recompute = dyn_cast<nn::RecomputeOp>(op))
      result = visitRecompute(recompute);
    else if (auto total = dyn_cast<nn::TotalOp>(op))
      result = visitTotal(total);
    else if (auto kernel = dyn_cast<IterationSpaceOpInterface>(op))
      result = visitKernel(kernel);
    else if (isa<func::ReturnOp>(op))
      result = visitReturn(op);
    else if (!isa<nn::YieldOp>(op) && !op->hasTrait<OpTrait::ConstantLike>())
      result = op->emitOpError("can't be distributed: it has no iteration "
                               "space; write it with nn or linalg operations");
    if (failed(result))
      return failure();
  }
  return success();
}

/// Returns true if the tree keeps `argument`, a parameter or a state, in host
/// memory.
static bool isKeptOnHost(BlockArgument argument) {
  std::optional<nn::Role> role = getRole(argument);
  if (role == nn::Role::Parameter)
    return static_cast<bool>(
        getArgumentAttr(argument, getHostAttrName(strategy::ItemKind::Weight)));
  if (nn::isState(role))
    return static_cast<bool>(
        getArgumentAttr(argument, getHostAttrName(strategy::ItemKind::State)));
  return false;
}

LogicalResult LayoutInserter::run() {
  for (BlockArgument argument : function.getArguments()) {
    auto layout = cast<LayoutAttr>(getArgumentAttr(argument, kLayoutAttr));
    layout = stages.onStage(layout, getStage(argument).value_or(0));
    setLayout(argument, layout.withHost(isKeptOnHost(argument)));
  }
  separateSavedActivations(function, mesh);
  stored.emplace(function, mesh, converter);
  tied.findUpdates();
  if (failed(visit(function.front())))
    return failure();
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.front().getArgumentTypes(),
      function.front().getTerminator()->getOperandTypes()));
  return success();
}
