//===- ValueConverter.cpp - conversions between layouts -------------------===//
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
  // If one dimension of the value is sharded over all of `axes`, the dimension
  // stays sharded until a gather collects it at the coordinates of `target`.
  // Otherwise the value is replicated over `axes` first, and then restricted to
  // these coordinates.
  dist::Layout sharded = whole;
  std::optional<unsigned> dim = from.getShardedDim(axes.front());
  if (dim && *dim < from.dims.size() &&
      llvm::all_of(
          axes, [&](Axis axis) { return from.getShardedDim(axis) == dim; })) {
    for (Axis axis : from.dims[*dim])
      if (llvm::is_contained(axes, axis))
        sharded.dims[*dim].push_back(axis);
    // The gather is impossible if the parts over all axes do not nest in the
    // parts over the remaining axes, which can happen for uneven parts.
    std::string reason;
    if (sharded.checkShape(mesh.getValue(),
                           dist::tensorTypeOf(value).getShape()) ||
        failed(dist::applyStep(
            mesh.getValue(), dist::tensorTypeOf(value).getShape(), sharded,
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
  Type type = dist::withLayout(dist::tensorTypeOf(value), target);
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
    Type type = dist::withLayout(dist::tensorTypeOf(value),
                                 layoutOf(value).withHost(toHost));
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
    // Examine the value that the body yields, because the preceding iteration
    // yields the carried value. A single iteration has no preceding one.
    auto repeat = dyn_cast<nn::RepeatOp>(argument.getOwner()->getParentOp());
    unsigned number = argument.getArgNumber();
    if (!repeat || number >= repeat.getNumCarried())
      return false;
    return isOffloaded(repeat.getCount() == 1
                           ? repeat.getCarried()[number]
                           : repeat.getYield()->getOperand(number));
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
      dist::withLayout(dist::tensorTypeOf(value),
                       layoutOf(value).withHost(true)),
      value, dist::PurposeAttr::get(builder.getContext(), Purpose::Activation));
  return copy;
}

/// Returns the operation whose path a conversion of `value` for `reader` gets:
/// the kernel that produces `value`, or else `reader`. In place of a repeat
/// that produces a returned value, or of a recomputation that reads `value`,
/// returns an operation of its body, because its own path is that of a module.
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
  // The recomputation reads another form of `value`.
  for (Operation &op : recompute.getBody().front())
    if (!op.hasTrait<OpTrait::ConstantLike>())
      return &op;
  return reader;
}

/// Returns the operation in the block of `value` that is `reader` or contains
/// it. A value that the body of a repeat reads from outside is converted before
/// this operation, once for all iterations.
static Operation *readerInBlockOf(Value value, Operation *reader) {
  Operation *outer = value.getParentBlock()->findAncestorOpInBlock(*reader);
  return outer ? outer : reader;
}

/// Returns the path of a conversion of `value` for `reader`, relative to the
/// block in which it is built. If `reader` is inside a repeat in that block, it
/// is named by the iteration that runs first.
static std::string pathOfConversion(Value value, Operation *reader) {
  Operation *named = namingOp(value, reader);
  std::string path = nn::getOwnPath(named);
  if (named == value.getDefiningOp())
    return path;
  Block *block = readerInBlockOf(value, reader)->getBlock();
  for (Operation *op = reader; op->getBlock() != block;) {
    op = op->getParentOp();
    auto repeat = dyn_cast<nn::RepeatOp>(op);
    if (!repeat)
      continue;
    int64_t iteration = static_cast<int64_t>(repeat.getFirst()) +
                        (repeat.getReverse() ? repeat.getCount() - 1 : 0);
    path = (repeat.getPath() + "[" + Twine(iteration) + "]." + path).str();
  }
  return path;
}

/// Returns the annotation `name` of `reader`, or of the first operation inside
/// it that has this annotation. Used for two annotations of readers of
/// parameters: the prefetch depth, and the mark that parameters are gathered
/// once.
static Attribute gatheringOf(Operation *reader, StringRef name) {
  Attribute said = reader->getAttr(name);
  if (!said)
    reader->walk([&](Operation *inner) {
      said = inner->getAttr(name);
      return said ? WalkResult::interrupt() : WalkResult::advance();
    });
  return said;
}

// Readers share a conversion in three cases:
// - The conversion of a value to its reduced layout is shared by all readers.
// - The result of an operation, converted to a layout that is no larger than
//   the one in which it is computed, is shared by the forward and the backward
//   pass of a virtual stage.
// - Any other conversion is shared within one phase of a virtual stage. Other
//   phases and virtual stages convert the value again, because a larger copy
//   would occupy memory until they run.
int64_t ValueConverter::sectionOf(Value value, LayoutAttr target,
                                  Operation *reader) const {
  if (target == reduced(layoutOf(value)))
    return anySection;
  Phase phase = getPhase(reader);
  int64_t stage = getStage(reader).value_or(0);
  bool keeps = phase != Phase::Update && value.getDefiningOp() &&
               isNoLarger(dist::tensorTypeOf(value), target, layoutOf(value));
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
      dist::withLayout(dist::tensorTypeOf(value), accumulated(layoutOf(value))),
      value);
}

// Sends the value in its own layout. If this layout is partial, on the host, or
// larger than `target`, sends the value in layout `target` instead.
// `ReshardPlans::transferLayout` decides whether the value is sent in slices.
// The message belongs to the phase of the producer. If `reader` is inside a
// repeat, sends the value once, before the repeat.
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
      !isNoLarger(dist::tensorTypeOf(value), arriving, target))
    arriving = target;
  LayoutAttr travelling = plans.transferLayout(value, arriving);
  LayoutAttr source = stages.onStage(travelling, stages.positionOf(value));
  FailureOr<Value> moved = reshard(builder, value, source, reader, purpose);
  if (failed(moved))
    return {};
  builder.annotations.stage = getStage(reader);
  value = dist::TransferOp::create(
      builder, reader->getLoc(),
      dist::withLayout(dist::tensorTypeOf(value), travelling), *moved);
  moved = reshard(builder, value, arriving, reader, purpose);
  return failed(moved) ? Value() : *moved;
}

/// Returns true if `op` reads no data of the model, because it is a constant or
/// an empty tensor, or fills an empty tensor with a constant.
static bool readsNoData(Operation *op) {
  return llvm::all_of(op->getOperands(), [](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && producer->getNumOperands() == 0;
  });
}

/// Returns the operation before which `value` is converted for `reader`: the
/// first of the operations directly before `reader` that only prepare its
/// destination, such as a fill with zero, or `reader` if there are none.
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
  // A value is sent to another stage once. All readers on that stage convert
  // the received value.
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
  // An offloaded value is kept in its reduced layout. The backward pass
  // therefore fetches it in this layout, and converts it afterwards.
  Phase phase = getPhase(reader);
  if (phase == Phase::Backward && layoutOf(value).isPartial() &&
      !target.isPartial() && !moves && target != whole && isOffloaded(value)) {
    Value reducedValue = convert(value, whole, reader, purpose);
    return reducedValue ? convert(reducedValue, target, reader, purpose)
                        : Value();
  }

  InsertedAnnotations annotations{phase, getStage(reader),
                                  pathOfConversion(value, reader), Attribute()};
  if (purpose == Purpose::Parameter && phase != Phase::Update) {
    annotations.prefetch = gatheringOf(reader, kPrefetchAttr);
    annotations.gatherOnce =
        static_cast<bool>(gatheringOf(reader, kGatherOnceAttr));
  }
  AnnotatingBuilder builder(reader, std::move(annotations));
  builder.setInsertionPoint(
      placeOfConversion(value, readerInBlockOf(value, reader)));
  // A value that is returned, or yielded to host memory, is converted right
  // after it is computed.
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
  // Complete the sum over micro-batches first, because this is an addition in
  // place and needs no communication.
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
