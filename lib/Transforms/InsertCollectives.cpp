//===- InsertCollectives.cpp - layouts in types, conversions as ops -*- C++
//-*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/Partitioning.h"
#include "Proteus/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace proteus {
#define GEN_PASS_DEF_INSERTCOLLECTIVES
#include "Proteus/Transforms/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;
using dist::LayoutAttr;
using dist::Purpose;
using dist::ReductionKind;
using nn::IterationSpaceOpInterface;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static LayoutAttr layoutOf(Value value) {
  return dist::getLayout(value.getType());
}

/// The layout of a slice of a stacked tensor.
static LayoutAttr withoutLeading(LayoutAttr layout) {
  dist::Layout result = layout.getValue();
  result.dims.erase(result.dims.begin());
  return LayoutAttr::get(layout.getMesh(), result);
}

/// The layout of a stack of slices.
static LayoutAttr withLeading(LayoutAttr layout) {
  dist::Layout result = layout.getValue();
  result.dims.insert(result.dims.begin(), AxisList());
  return LayoutAttr::get(layout.getMesh(), result);
}

/// The layout without pending reductions over device axes.
static LayoutAttr reduced(LayoutAttr layout) {
  dist::Layout result = layout.getValue();
  for (AxisList &axes : result.partial)
    llvm::erase_if(axes, [](Axis axis) { return axis != dist::microAxis; });
  return LayoutAttr::get(layout.getMesh(), result);
}

static LayoutAttr withPartialSum(LayoutAttr layout, ArrayRef<Axis> axes) {
  dist::Layout result = layout.getValue();
  llvm::append_range(result.getPartial(ReductionKind::Sum), axes);
  return LayoutAttr::get(layout.getMesh(), result);
}

namespace {

/// Gives every value a type with a layout and converts values where the layout
/// an operation needs is not the one its operand has.
class Inserter : public OpBuilder::Listener {
public:
  Inserter(func::FuncOp function, dist::MeshAttr mesh)
      : function(function), mesh(mesh) {
    if (auto axis = function->getAttrOfType<StringAttr>(kPipelineAxisAttr))
      pipelineAxis = *mesh.getAxisIndex(axis.getValue());
  }

  LogicalResult run();

private:
  LogicalResult visit(Block &block);
  LogicalResult visitKernel(IterationSpaceOpInterface op);
  LogicalResult visitRepeat(nn::RepeatOp repeat);
  LogicalResult visitRecompute(nn::RecomputeOp recompute);
  LogicalResult visitReturn(Operation *op);
  LogicalResult decompose(nn::DecomposableOpInterface op);

  /// `value` in layout `target`, converted in front of `reader`. Null after an
  /// error.
  Value convert(Value value, LayoutAttr target, Operation *reader,
                Purpose purpose);
  FailureOr<Value> reshard(OpBuilder &builder, Value value, LayoutAttr target,
                           Operation *reader, Purpose purpose);
  /// The layout in which the result of a repeat or recomputation is first read,
  /// in its own shape; null if no operation reads it.
  LayoutAttr firstReadLayout(Value value);
  /// The layout of the argument that `value` replaces, if it is returned as an
  /// update.
  LayoutAttr updatedLayout(Value value);

  LayoutAttr onStage(LayoutAttr layout, Operation *op) {
    if (!pipelineAxis)
      return layout;
    return layout.withFixed({{*pipelineAxis, getStage(op).value_or(0)}});
  }
  void setLayout(Value value, LayoutAttr layout) {
    value.setType(dist::withLayout(tensorType(value), layout));
  }
  /// Gives the initial value of `operand` the layout of the result that is
  /// computed into it.
  LogicalResult initialise(OpOperand &operand, LayoutAttr layout);
  /// What moving `operand` is for.
  Purpose purposeOf(OpOperand &operand);
  bool isParameter(Value value);

  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    setPhase(op, insertedPhase);
    if (insertedStage)
      setStage(op, *insertedStage);
    if (isa_and_nonnull<dist::DistDialect>(op->getDialect()))
      op->setDiscardableAttr(ProteusDialect::pathAttrName,
                             StringAttr::get(op->getContext(), insertedPath));
  }

  func::FuncOp function;
  dist::MeshAttr mesh;
  std::optional<Axis> pipelineAxis;
  /// Conversions made so far: by value, layout and the phase they serve.
  DenseMap<std::tuple<Value, Attribute, unsigned>, SmallVector<Value, 1>>
      converted;
  static constexpr unsigned anyPhase = 0;
  /// Values that were moved, by the stage they have arrived on.
  DenseMap<std::pair<Value, int64_t>, Value> arrived;
  /// What was last inserted behind an operation whose results leave the step.
  DenseMap<Operation *, Operation *> insertedBehind;
  Phase insertedPhase = Phase::Forward;
  std::optional<int64_t> insertedStage;
  /// Path of what is converted: of its producer, else of its reader.
  std::string insertedPath;
};

} // namespace

bool Inserter::isParameter(Value value) {
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

Purpose Inserter::purposeOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (getPhase(op) == Phase::Update)
    return operand.getOperandNumber() == 1 ? Purpose::Gradient
                                           : Purpose::Parameter;
  return isParameter(operand.get()) ? Purpose::Parameter : Purpose::Activation;
}

/// Whether `value` is a stack of slices, whose leading dimension stays whole.
static bool isStack(Value value) {
  if (auto accumulate = value.getDefiningOp<dist::AccumulateOp>())
    return isStack(accumulate.getInput());
  auto result = dyn_cast<OpResult>(value);
  auto repeat =
      result ? dyn_cast<nn::RepeatOp>(result.getOwner()) : nn::RepeatOp();
  return repeat && result.getResultNumber() >= repeat.getNumCarried();
}

/// Plans the conversion of a stack of type `type` slice by slice.
static FailureOr<SmallVector<dist::ReshardStep>>
planStackReshard(RankedTensorType type, LayoutAttr from, LayoutAttr to,
                 std::string &reason) {
  auto slice = RankedTensorType::get(type.getShape().drop_front(),
                                     type.getElementType());
  auto plan = dist::planReshard(withoutLeading(from), withoutLeading(to), slice,
                                dist::defaultStepCost, &reason);
  if (succeeded(plan))
    for (dist::ReshardStep &step : *plan) {
      step.result = withLeading(step.result);
      for (std::optional<unsigned> *dim :
           {&step.step.fromDim, &step.step.toDim})
        if (*dim)
          ++**dim;
    }
  return plan;
}

/// The layout in which a repeat takes the partial stack `value`, of which its
/// body reads slices in the layout of `wanted`: summed over micro-batches, and
/// reduced if that comes first on the way; the rest is done layer by layer.
static LayoutAttr stackLayout(Value value, LayoutAttr wanted) {
  dist::Layout accumulated = layoutOf(value).getValue();
  llvm::erase(accumulated.getPartial(ReductionKind::Sum), dist::microAxis);
  auto from = LayoutAttr::get(wanted.getMesh(), accumulated);
  std::string reason;
  auto plan = planStackReshard(tensorType(value), from, wanted, reason);
  if (failed(plan) || plan->empty() ||
      !(plan->front().step.kind == dist::StepKind::AllReduce ||
        plan->front().step.kind == dist::StepKind::ReduceScatter))
    return from;
  return plan->front().result;
}

FailureOr<Value> Inserter::reshard(OpBuilder &builder, Value value,
                                   LayoutAttr target, Operation *reader,
                                   Purpose purpose) {
  std::string reason;
  auto plan =
      isStack(value)
          ? planStackReshard(tensorType(value), layoutOf(value), target, reason)
          : dist::planReshard(layoutOf(value), target, tensorType(value),
                              dist::defaultStepCost, &reason);
  if (failed(plan)) {
    InFlightDiagnostic diagnostic =
        reader->emitOpError("needs an operand of layout ")
        << target << ", but it has " << layoutOf(value) << ": " << reason;
    diagnostic.attachNote(value.getLoc()) << "the operand comes from here";
    return diagnostic;
  }
  return dist::buildReshard(builder, reader->getLoc(), value, *plan, purpose);
}

LayoutAttr Inserter::firstReadLayout(Value value) {
  for (Operation &op : *value.getParentBlock()) {
    for (OpOperand &operand : op.getOpOperands()) {
      if (operand.get() != value)
        continue;
      unsigned number = operand.getOperandNumber();
      if (auto kernel = dyn_cast<IterationSpaceOpInterface>(op))
        return onStage(Partitioning::fromAnnotation(kernel, mesh.getValue())
                           .getOperandLayout(number, mesh),
                       &op);
      if (auto repeat = dyn_cast<nn::RepeatOp>(op)) {
        LayoutAttr inside =
            firstReadLayout(repeat.getBody().getArgument(number));
        if (inside && number >= repeat.getNumCarried())
          inside = withLeading(inside);
        if (inside)
          return inside;
      }
      if (auto recompute = dyn_cast<nn::RecomputeOp>(op))
        if (LayoutAttr inside =
                firstReadLayout(recompute.getBody().getArgument(number)))
          return inside;
    }
  }
  return {};
}

LayoutAttr Inserter::updatedLayout(Value value) {
  for (OpOperand &use : value.getUses())
    if (isa<func::ReturnOp>(use.getOwner()))
      if (auto updates = function.getResultAttrOfType<IntegerAttr>(
              use.getOperandNumber(), nn::kUpdatesAttr))
        return layoutOf(function.getArgument(updates.getInt()));
  return {};
}

Value Inserter::convert(Value value, LayoutAttr target, Operation *reader,
                        Purpose purpose) {
  if (layoutOf(value) == target)
    return value;
  Phase phase = getPhase(reader);
  auto find = [&](Attribute layout, unsigned phaseKey) -> Value {
    for (Value candidate : converted.lookup({value, layout, phaseKey}))
      if (candidate.getParentRegion()->isAncestor(reader->getParentRegion()))
        return candidate;
    return {};
  };
  // A value moves to another stage once, in the layout of its first reader
  // there; the others convert what has arrived.
  bool moves = layoutOf(value).getValue().fixed != target.getValue().fixed;
  std::pair<Value, int64_t> arrival = {value, getStage(reader).value_or(0)};
  if (moves && arrived.count(arrival))
    return convert(arrived.lookup(arrival), target, reader, purpose);
  // A conversion serves the readers of its phase; the backward pass converts
  // again rather than keep a larger form alive. A reduction serves all.
  LayoutAttr whole = reduced(layoutOf(value));
  unsigned phaseKey =
      target == whole ? anyPhase : 1 + static_cast<unsigned>(phase);
  if (Value found = find(target, phaseKey))
    return found;
  if (Value found = find(whole, anyPhase);
      found && target != whole && !target.isPartial())
    return convert(found, target, reader, purpose);
  auto &candidates = converted[{value, target, phaseKey}];

  OpBuilder builder(reader);
  builder.setListener(this);
  // What leaves the step is converted as soon as it is there.
  Operation *origin = value.getDefiningOp();
  bool leaves = isa<func::ReturnOp>(reader) && origin;
  if (leaves) {
    Operation *&last = insertedBehind[origin];
    builder.setInsertionPointAfter(last ? last : origin);
  }
  Value result = value;
  insertedPhase = phase;
  insertedStage = getStage(reader);
  insertedPath = nn::getOwnPath(
      origin && isa<IterationSpaceOpInterface>(origin) ? origin : reader);

  // The sum over micro-batches comes first: it is an addition in place.
  if (layoutOf(result).isPartialOverMicro() && !target.isPartialOverMicro()) {
    if (phase != Phase::Update && !reader->hasTrait<OpTrait::IsTerminator>()) {
      reader->emitOpError("reads a value that is complete only after the last "
                          "micro-batch; use one micro-batch, or do not read "
                          "sums over the batch within the step");
      return {};
    }
    dist::Layout sum = layoutOf(result).getValue();
    llvm::erase(sum.getPartial(ReductionKind::Sum), dist::microAxis);
    result = dist::AccumulateOp::create(
        builder, reader->getLoc(),
        dist::withLayout(tensorType(result), LayoutAttr::get(mesh, sum)),
        result);
  }
  // Values move to another stage in the layout that is needed there, right
  // after their own stage has computed them.
  if (moves) {
    Operation *top = function.front().findAncestorOpInBlock(*reader);
    builder.setInsertionPoint(top);
    if (Operation *producer = value.getDefiningOp()) {
      insertedPhase = getPhase(producer);
      insertedStage = getStage(producer);
    }
    LayoutAttr source = target.withFixed(layoutOf(result).getValue().fixed);
    FailureOr<Value> moved = reshard(builder, result, source, reader, purpose);
    if (failed(moved))
      return {};
    insertedStage = getStage(reader);
    result = dist::TransferOp::create(
        builder, reader->getLoc(), dist::withLayout(tensorType(result), target),
        *moved);
    arrived[arrival] = result;
    return result;
  }
  FailureOr<Value> moved = reshard(builder, result, target, reader, purpose);
  if (failed(moved))
    return {};
  if (leaves)
    insertedBehind[origin] = moved->getDefiningOp();
  candidates.push_back(*moved);
  return *moved;
}

LogicalResult Inserter::decompose(nn::DecomposableOpInterface op) {
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
  op->erase();
  for (Operation *piece : pieces)
    if (failed(visitKernel(cast<IterationSpaceOpInterface>(piece))))
      return failure();
  return success();
}

/// Whether adding `value` changes nothing: then every part of a partial sum may
/// start from it.
static bool isZero(Value value) {
  Operation *op = value.getDefiningOp();
  return op && llvm::any_of(op->getOperands(), [](Value operand) {
           return matchPattern(operand, m_AnyZeroFloat());
         });
}

LogicalResult Inserter::initialise(OpOperand &operand, LayoutAttr layout) {
  Value value = operand.get();
  if (layoutOf(value) == layout)
    return success();
  if (layout.isPartial() && !isZero(value) &&
      value.getDefiningOp()->getNumOperands() > 0)
    return operand.getOwner()->emitOpError(
        "computes partial sums, so its initial value must be zero; fill it "
        "with 0 and add the value afterwards");
  // Others may start from the same initial value in another layout.
  OpBuilder builder(operand.getOwner());
  builder.setListener(this);
  insertedPhase = getPhase(operand.getOwner());
  insertedStage = getStage(operand.getOwner());
  Operation *copy = builder.clone(*value.getDefiningOp());
  for (OpOperand &inner : copy->getOpOperands())
    if (isa<RankedTensorType>(inner.get().getType()) &&
        failed(initialise(inner, layout)))
      return failure();
  setLayout(copy->getResult(0), layout);
  Operation *original = value.getDefiningOp();
  operand.set(copy->getResult(0));
  if (original->use_empty())
    original->erase();
  return success();
}

LogicalResult Inserter::visitKernel(IterationSpaceOpInterface op) {
  Partitioning part = Partitioning::fromAnnotation(op, mesh.getValue());
  for (auto [i, iterator] : llvm::enumerate(part.getSpace().iterators))
    if (iterator.kind == nn::IteratorKind::LogSumExp &&
        !part.getAxes(i).empty())
      return decompose(cast<nn::DecomposableOpInterface>(op.getOperation()));

  // Sums that are pending in all operands pass through linear operations.
  AxisList through;
  if (op.isLinear() && op->getNumOperands() > 0) {
    // What has come from another stage may have been reduced before.
    int64_t stage = getStage(op).value_or(0);
    auto layoutHere = [&](Value operand) {
      Value here = arrived.lookup({operand, stage});
      return layoutOf(here ? here : operand);
    };
    through =
        layoutHere(op->getOperand(0)).getValue().getPartial(ReductionKind::Sum);
    for (Value operand : op->getOperands()) {
      const dist::Layout &layout = layoutHere(operand).getValue();
      if (!layout.getPartial(ReductionKind::Max).empty())
        through.clear();
      llvm::erase_if(through, [&](Axis axis) {
        return !llvm::is_contained(layout.getPartial(ReductionKind::Sum), axis);
      });
    }
    if (llvm::any_of(through, [&](Axis axis) { return part.uses(axis); }))
      through.clear();
  }

  auto resultLayout = [&](unsigned number) {
    return onStage(withPartialSum(part.getResultLayout(number, mesh), through),
                   op);
  };
  auto destinations = dyn_cast<DestinationStyleOpInterface>(op.getOperation());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    if (destinations && destinations.isDpsInit(&operand) &&
        isInitialValue(operand.get())) {
      OpResult result = destinations.getTiedOpResult(&operand);
      if (failed(initialise(operand, resultLayout(result.getResultNumber()))))
        return failure();
      continue;
    }
    LayoutAttr target = onStage(
        withPartialSum(part.getOperandLayout(operand.getOperandNumber(), mesh),
                       through),
        op);
    Value value = convert(operand.get(), target, op, purposeOf(operand));
    if (!value)
      return failure();
    operand.set(value);
  }
  for (OpResult result : op->getResults())
    setLayout(result, resultLayout(result.getResultNumber()));
  return success();
}

LogicalResult Inserter::visitRepeat(nn::RepeatOp repeat) {
  unsigned numCarried = repeat.getNumCarried();
  for (OpOperand &operand : repeat->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    BlockArgument argument = repeat.getBody().getArgument(number);
    bool carried = number < numCarried;
    LayoutAttr layout = layoutOf(operand.get());
    LayoutAttr target = onStage(layout, repeat);
    if (carried)
      target = onStage(reduced(layout), repeat);
    else if (layout.isPartial()) {
      LayoutAttr wanted = firstReadLayout(argument);
      target = onStage(reduced(layout), repeat);
      if (wanted && isStack(operand.get()))
        target = stackLayout(operand.get(), withLeading(wanted));
    }
    Purpose purpose = getPhase(repeat) == Phase::Update ? Purpose::Gradient
                                                        : Purpose::Activation;
    Value value = convert(operand.get(), target, repeat, purpose);
    if (!value)
      return failure();
    operand.set(value);
    setLayout(argument, carried ? target : withoutLeading(target));
  }
  if (failed(visit(repeat.getBody().front())))
    return failure();

  Operation *yield = repeat.getYield();
  if (auto stage = getStage(repeat))
    setStage(yield, *stage);
  setPhase(yield, getPhase(repeat));
  for (OpOperand &operand : yield->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    LayoutAttr target = layoutOf(operand.get());
    Purpose purpose = Purpose::Activation;
    if (number < numCarried) {
      // Every iteration must find what the first one found; a single one may
      // leave what it carries as it likes.
      target = repeat.getCount() == 1
                   ? reduced(target)
                   : layoutOf(repeat.getBody().getArgument(number));
    } else if (getPhase(repeat) == Phase::Forward) {
      // What is saved for the backward pass is saved reduced.
      target = reduced(target);
    } else if (LayoutAttr updated = updatedLayout(repeat.getResult(number))) {
      // Layers go back into the layout of their parameter one by one.
      target = withoutLeading(updated);
      purpose = Purpose::Parameter;
    }
    Value value = convert(operand.get(), target, yield, purpose);
    if (!value)
      return failure();
    operand.set(value);
    setLayout(repeat.getResult(number),
              number < numCarried ? target : withLeading(target));
  }
  yield->removeDiscardableAttr(kStageAttr);
  yield->removeDiscardableAttr(kPhaseAttr);
  return success();
}

LogicalResult Inserter::visitRecompute(nn::RecomputeOp recompute) {
  for (OpOperand &operand : recompute->getOpOperands()) {
    LayoutAttr target = onStage(reduced(layoutOf(operand.get())), recompute);
    Purpose purpose =
        isParameter(operand.get()) ? Purpose::Parameter : Purpose::Activation;
    Value value = convert(operand.get(), target, recompute, purpose);
    if (!value)
      return failure();
    operand.set(value);
    recompute.getBody()
        .getArgument(operand.getOperandNumber())
        .setType(value.getType());
  }
  if (failed(visit(recompute.getBody().front())))
    return failure();
  Operation *yield = recompute.getYield();
  if (auto stage = getStage(recompute))
    setStage(yield, *stage);
  setPhase(yield, getPhase(recompute));
  for (OpOperand &operand : yield->getOpOperands()) {
    Value value = convert(operand.get(), reduced(layoutOf(operand.get())),
                          yield, Purpose::Activation);
    if (!value)
      return failure();
    operand.set(value);
    recompute.getResult(operand.getOperandNumber()).setType(value.getType());
  }
  yield->removeDiscardableAttr(kStageAttr);
  yield->removeDiscardableAttr(kPhaseAttr);
  return success();
}

/// Updated values return in the layout of the argument they replace; others as
/// they are, summed over micro-batches.
LogicalResult Inserter::visitReturn(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    LayoutAttr target = layoutOf(operand.get());
    auto updates = function.getResultAttrOfType<IntegerAttr>(
        operand.getOperandNumber(), nn::kUpdatesAttr);
    if (updates) {
      target = layoutOf(function.getArgument(updates.getInt()));
    } else if (target.isPartialOverMicro()) {
      dist::Layout sum = target.getValue();
      llvm::erase(sum.getPartial(ReductionKind::Sum), dist::microAxis);
      target = LayoutAttr::get(mesh, sum);
    }
    if (Operation *producer = operand.get().getDefiningOp()) {
      if (auto stage = getStage(producer))
        setStage(op, *stage);
      setPhase(op, Phase::Update);
    }
    Value value = convert(operand.get(), target, op, Purpose::Parameter);
    if (!value)
      return failure();
    operand.set(value);
  }
  op->removeDiscardableAttr(kStageAttr);
  op->removeDiscardableAttr(kPhaseAttr);
  return success();
}

LogicalResult Inserter::visit(Block &block) {
  SmallVector<Operation *> operations;
  for (Operation &op : block)
    operations.push_back(&op);
  for (Operation *op : operations) {
    LogicalResult result = success();
    if (auto repeat = dyn_cast<nn::RepeatOp>(op))
      result = visitRepeat(repeat);
    else if (auto recompute = dyn_cast<nn::RecomputeOp>(op))
      result = visitRecompute(recompute);
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

LogicalResult Inserter::run() {
  for (BlockArgument argument : function.getArguments()) {
    auto layout =
        dyn_cast_if_present<LayoutAttr>(getArgumentAttr(argument, kLayoutAttr));
    if (!layout)
      return function.emitOpError("argument ")
             << argument.getArgNumber()
             << " has no layout; run propagate-strategy first";
    if (pipelineAxis)
      layout =
          layout.withFixed({{*pipelineAxis, getStage(argument).value_or(0)}});
    setLayout(argument, layout);
  }
  if (failed(visit(function.front())))
    return failure();
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.front().getArgumentTypes(),
      function.front().getTerminator()->getOperandTypes()));
  return success();
}

namespace {
class InsertCollectives
    : public proteus::impl::InsertCollectivesBase<InsertCollectives> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto mesh = function->getAttrOfType<dist::MeshAttr>(kMeshAttr);
    if (!mesh)
      return;
    if (failed(Inserter(function, mesh).run()))
      signalPassFailure();
  }
};
} // namespace
