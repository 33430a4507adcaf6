//===- ValueConverter.cpp - builds conversions between layouts ------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueConverter.h"
#include "LayoutUtils.h"
#include "SavedActivations.h"

#include "Proteus/Dialect/NN/NN.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;
using dist::LayoutAttr;
using dist::Purpose;
using nn::IterationSpaceOpInterface;

FailureOr<Value> ValueConverter::bringTo(OpBuilder &builder, Value value,
                                         LayoutAttr target, Operation *reader,
                                         Purpose purpose) {
  const dist::Layout &from = layoutOf(value).getValue();
  AxisList axes = newlyFixed(from, target.getValue());
  dist::Layout whole = target.getValue();
  llvm::erase_if(whole.fixed, [&](auto entry) {
    return llvm::is_contained(axes, entry.first);
  });
  // Where all the axes shard one dimension anyway, they do so until the end.
  dist::Layout sharded = whole;
  std::optional<unsigned> dim = from.getShardedDim(axes.front());
  if (dim && llvm::all_of(axes, [&](Axis axis) {
        return from.getShardedDim(axis) == dim;
      })) {
    for (Axis axis : from.dims[*dim])
      if (llvm::is_contained(axes, axis))
        sharded.dims[*dim].push_back(axis);
    // Uneven parts may not nest in what is left.
    std::string reason;
    if (sharded.checkShape(mesh.getValue(), tensorType(value).getShape()) ||
        failed(dist::applyStep(
            mesh.getValue(), tensorType(value).getShape(), sharded,
            {dist::StepKind::AllGather, axes, {}, *dim, {}}, reason)))
      dim = std::nullopt;
  } else {
    dim = std::nullopt;
  }
  FailureOr<Value> result =
      reshard(builder, value, LayoutAttr::get(mesh, dim ? sharded : whole),
              reader, purpose);
  if (failed(result))
    return failure();
  Type type = dist::withLayout(tensorType(value), target);
  ArrayAttr names = dist::getAxisNames(mesh, axes);
  if (!dim)
    return Value(dist::RestrictOp::create(builder, reader->getLoc(), type,
                                          *result, names));
  return Value(dist::GatherOp::create(
      builder, reader->getLoc(), type, *result, *dim, names,
      dist::PurposeAttr::get(builder.getContext(), purpose)));
}

FailureOr<Value> ValueConverter::reshard(OpBuilder &builder, Value value,
                                         LayoutAttr target, Operation *reader,
                                         Purpose purpose) {
  if (!newlyFixed(layoutOf(value).getValue(), target.getValue()).empty())
    return bringTo(builder, value, target, reader, purpose);
  std::string reason;
  auto copy = [&](bool toHost) {
    auto purposeAttr = dist::PurposeAttr::get(function.getContext(), purpose);
    Type type =
        dist::withLayout(tensorType(value), layoutOf(value).withHost(toHost));
    if (toHost)
      value = dist::OffloadOp::create(builder, reader->getLoc(), type, value,
                                      purposeAttr);
    else
      value = dist::FetchOp::create(builder, reader->getLoc(), type, value,
                                    purposeAttr);
  };
  if (layoutOf(value).isOnHost())
    copy(false);
  LayoutAttr onDevice = target.withHost(false);
  auto steps = plans.plan(value, layoutOf(value), onDevice, reason);
  if (failed(steps)) {
    InFlightDiagnostic diagnostic =
        reader->emitOpError("needs an operand of layout ")
        << target << ", but it has " << layoutOf(value) << ": " << reason;
    diagnostic.attachNote(value.getLoc()) << "the operand comes from here";
    return diagnostic;
  }
  value = dist::buildReshard(builder, reader->getLoc(), value, *steps, purpose);
  if (target.isOnHost())
    copy(true);
  return value;
}

bool ValueConverter::isOffloaded(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // What enters an iteration is what another one has computed.
    auto repeat = dyn_cast<nn::RepeatOp>(argument.getOwner()->getParentOp());
    return repeat && argument.getArgNumber() < repeat.getNumCarried() &&
           isOffloaded(repeat.getYield()->getOperand(argument.getArgNumber()));
  }
  Operation *op = value.getDefiningOp();
  if (auto repeat = dyn_cast<nn::RepeatOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return number < repeat.getNumCarried() &&
           isOffloaded(repeat.getYield()->getOperand(number));
  }
  if (isa<dist::DistDialect>(op->getDialect()) && op->getNumOperands() == 1)
    return isOffloaded(op->getOperand(0));
  return op->hasAttr(kOffloadAttr);
}

Value ValueConverter::onHost(Value value, Operation *reader) {
  Operation *producer = value.getDefiningOp();
  if (getPhase(reader) != Phase::Backward || !producer ||
      getPhase(producer) != Phase::Forward || layoutOf(value).isOnHost() ||
      layoutOf(value).isPartial() || getStage(producer) != getStage(reader) ||
      producer->getParentOp() != function || !isOffloaded(value))
    return value;
  Value &copy = hostCopies[value];
  if (copy)
    return copy;
  AnnotatingBuilder builder(producer, InsertedAnnotations::of(producer));
  builder.setInsertionPointAfter(producer);
  copy = dist::OffloadOp::create(
      builder, producer->getLoc(),
      dist::withLayout(tensorType(value), layoutOf(value).withHost(true)),
      value, dist::PurposeAttr::get(builder.getContext(), Purpose::Activation));
  return copy;
}

/// The operation that names `value` where it is converted for `reader`: its
/// producer, else its reader. Repeats and recomputations name modules, so it is
/// an operation inside.
static Operation *namingOp(Value value, Operation *reader) {
  Operation *origin = value.getDefiningOp();
  if (isa_and_nonnull<IterationSpaceOpInterface>(origin))
    return origin;
  auto repeat = dyn_cast_if_present<nn::RepeatOp>(origin);
  if (repeat && isa<func::ReturnOp>(reader))
    if (Operation *inner =
            repeat.getYield()
                ->getOperand(cast<OpResult>(value).getResultNumber())
                .getDefiningOp())
      return namingOp(inner->getResult(0), inner);
  auto recompute = dyn_cast<nn::RecomputeOp>(reader);
  if (!recompute)
    return reader;
  for (auto [input, argument] :
       llvm::zip(recompute.getInputs(), recompute.getBody().getArguments()))
    if (input == value)
      for (Operation &op : recompute.getBody().front())
        if (llvm::is_contained(op.getOperands(), argument))
          return &op;
  return reader;
}

/// What the tree says about the parameters that `reader` reads: how far ahead
/// they are gathered, or whether it is done once.
static Attribute gatheringOf(Operation *reader, StringRef name) {
  Attribute said = reader->getAttr(name);
  if (!said)
    reader->walk([&](Operation *inner) {
      said = inner->getAttr(name);
      return said ? WalkResult::interrupt() : WalkResult::advance();
    });
  return said;
}

// A conversion serves the readers of its section; the backward pass and other
// chunks convert again rather than keep a larger form alive. A reduction serves
// all.
int64_t ValueConverter::sectionOf(Value value, LayoutAttr target,
                                  Operation *reader) const {
  if (target == reduced(layoutOf(value)))
    return anySection;
  Phase phase = getPhase(reader);
  int64_t stage = getStage(reader).value_or(0);
  bool keeps = phase != Phase::Update && value.getDefiningOp() &&
               isNoLarger(tensorType(value), target, layoutOf(value));
  if (keeps)
    return bothPasses(stage);
  return 1 + static_cast<int64_t>(phase) +
         (static_cast<int64_t>(Phase::Update) + 1) * stage;
}

Value ValueConverter::find(Value value, LayoutAttr layout, int64_t section,
                           Operation *reader) const {
  for (Value candidate : converted.lookup({value, layout, section}))
    if (candidate.getParentRegion()->isAncestor(reader->getParentRegion()))
      return candidate;
  return {};
}

bool ValueConverter::hasKeptForm(Value value, LayoutAttr form,
                                 int64_t stage) const {
  return converted.contains({value, form, bothPasses(stage)});
}

LayoutAttr ValueConverter::layoutAt(Value value, Operation *op) const {
  Value here = arrived.lookup({value, stages.positionOf(op)});
  return layoutOf(here ? here : value);
}

bool ValueConverter::isReducedAt(Value value, Operation *op) const {
  Value here = arrived.lookup({value, stages.positionOf(op)});
  if (!here)
    here = value;
  return layoutOf(here).isPartial() &&
         find(here, reduced(layoutOf(here)), anySection, op);
}

Value ValueConverter::accumulate(OpBuilder &builder, Value value,
                                 Operation *reader) {
  if (getPhase(reader) != Phase::Update &&
      !reader->hasTrait<OpTrait::IsTerminator>()) {
    reader->emitOpError("reads a value that is complete only after the last "
                        "micro-batch; use one micro-batch, or do not read "
                        "sums over the batch within the step");
    return {};
  }
  return dist::AccumulateOp::create(
      builder, reader->getLoc(),
      dist::withLayout(tensorType(value), accumulated(layoutOf(value))), value);
}

// A value moves to another stage right after its own stage has computed it, and
// as it is unless it is needed in a smaller form there: what enters a repeat on
// another stage does so as well, and its readers convert it.
Value ValueConverter::transfer(AnnotatingBuilder &builder, Value value,
                               Operation *producer, LayoutAttr target,
                               Operation *reader, Purpose purpose) {
  builder.setInsertionPoint(function.front().findAncestorOpInBlock(*reader));
  if (producer) {
    builder.annotations.phase = getPhase(producer);
    builder.annotations.stage = getStage(producer);
  }
  LayoutAttr arriving = stages.onStage(layoutOf(value), reader);
  if (layoutOf(value).isPartial() || layoutOf(value).isOnHost() ||
      !isNoLarger(tensorType(value), arriving, target))
    arriving = target;
  LayoutAttr travelling = plans.transferLayout(value, arriving);
  LayoutAttr source = stages.onStage(travelling, stages.positionOf(value));
  FailureOr<Value> moved = reshard(builder, value, source, reader, purpose);
  if (failed(moved))
    return {};
  builder.annotations.stage = getStage(reader);
  value = dist::TransferOp::create(
      builder, reader->getLoc(),
      dist::withLayout(tensorType(value), travelling), *moved);
  moved = reshard(builder, value, arriving, reader, purpose);
  return failed(moved) ? Value() : *moved;
}

/// Whether `op` makes something of nothing: a constant, an empty tensor, or
/// what fills one with the other.
static bool readsNoData(Operation *op) {
  return llvm::all_of(op->getOperands(), [](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && producer->getNumOperands() == 0;
  });
}

/// Where what `reader` reads of `value` is converted: in front of what prepares
/// its destination, as it would be in front of a layer that begins with that.
static Operation *placeOfConversion(Value value, Operation *reader) {
  Operation *place = reader;
  for (Operation *before = reader->getPrevNode();
       before && before != value.getDefiningOp() && readsNoData(before);
       before = before->getPrevNode())
    place = before;
  return place;
}

Value ValueConverter::convert(Value value, LayoutAttr target, Operation *reader,
                              Purpose purpose) {
  if (Value copy = onHost(value, reader); copy != value)
    return convert(copy, target, reader, purpose);
  if (layoutOf(value) == target)
    return value;
  // A value moves to another stage once; its readers there convert what has
  // arrived.
  bool moves = stages.moves(value, target);
  std::pair<Value, int64_t> arrival = {value, stages.positionOf(reader)};
  if (moves && arrived.count(arrival))
    return convert(arrived.lookup(arrival), target, reader, purpose);
  LayoutAttr whole = reduced(layoutOf(value));
  int64_t section = sectionOf(value, target, reader);
  if (Value found = find(value, target, section, reader))
    return found;
  if (Value found = find(value, whole, anySection, reader);
      found && target != whole && !target.isPartial())
    return convert(found, target, reader, purpose);
  // The backward pass reads a reduced value from the host, where it is kept.
  Phase phase = getPhase(reader);
  if (phase == Phase::Backward && layoutOf(value).isPartial() &&
      !target.isPartial() && !moves && target != whole && isOffloaded(value)) {
    Value reducedValue = convert(value, whole, reader, purpose);
    return reducedValue ? convert(reducedValue, target, reader, purpose)
                        : Value();
  }

  InsertedAnnotations annotations{phase, getStage(reader),
                                  nn::getOwnPath(namingOp(value, reader)),
                                  Attribute()};
  if (purpose == Purpose::Parameter && phase != Phase::Update) {
    annotations.prefetch = gatheringOf(reader, kPrefetchAttr);
    annotations.gatherOnce =
        static_cast<bool>(gatheringOf(reader, kGatherOnceAttr));
  }
  AnnotatingBuilder builder(reader, std::move(annotations));
  builder.setInsertionPoint(placeOfConversion(value, reader));
  // What leaves the step, or the device, is converted as soon as it is there.
  Operation *origin = value.getDefiningOp();
  bool leaves = isa<func::ReturnOp>(reader) && origin;
  if (isa<nn::YieldOp>(reader) && target.isOnHost()) {
    leaves = static_cast<bool>(origin);
    if (!origin)
      builder.setInsertionPointToStart(value.getParentBlock());
  }
  if (leaves) {
    Operation *&last = insertedBehind[origin];
    builder.setInsertionPointAfter(last ? last : origin);
  }
  // The sum over micro-batches comes first: it is an addition in place.
  Value result = value;
  if (layoutOf(result).isPartialOverMicro() && !target.isPartialOverMicro())
    result = accumulate(builder, result, reader);
  if (!result)
    return {};
  if (moves) {
    result = transfer(builder, result, origin, target, reader, purpose);
    if (!result)
      return {};
    arrived[arrival] = result;
    return convert(result, target, reader, purpose);
  }
  FailureOr<Value> moved = reshard(builder, result, target, reader, purpose);
  if (failed(moved))
    return {};
  if (leaves)
    insertedBehind[origin] = moved->getDefiningOp();
  converted[{value, target, section}].push_back(*moved);
  return *moved;
}
