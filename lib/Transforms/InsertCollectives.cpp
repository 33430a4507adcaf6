//===- InsertCollectives.cpp - layouts in types, conversions as ops -------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildRing.h"
#include "SavedForms.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/ClusterAttr.h"
#include "Proteus/Transforms/Partitioning.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/StepCosts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

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

/// The layout of a gradient that comes as `computed` and is stored over the
/// axes of `dims`: sums over those are formed, others stay pending.
static LayoutAttr storedGradient(LayoutAttr computed, const DimAxes &dims) {
  dist::Layout result = computed.getValue();
  result.dims.assign(dims.begin(), dims.end());
  llvm::erase_if(result.getPartial(ReductionKind::Sum), [&](Axis axis) {
    return llvm::any_of(dims, [&](const AxisList &axes) {
      return llvm::is_contained(axes, axis);
    });
  });
  return LayoutAttr::get(computed.getMesh(), result);
}

namespace {

/// Gives every value a type with a layout and converts values where the layout
/// an operation needs is not the one its operand has.
class Inserter : public OpBuilder::Listener {
public:
  Inserter(func::FuncOp function, dist::MeshAttr mesh,
           const machine::Cluster &cluster)
      : function(function), mesh(mesh), costs(mesh.getValue(), cluster) {
    if (auto axis = function->getAttrOfType<StringAttr>(kPipelineAxisAttr)) {
      pipelineAxis = *mesh.getAxisIndex(axis.getValue());
      numStages = mesh.getValue().getSize(*pipelineAxis);
    }
  }

  LogicalResult run();

private:
  LogicalResult visit(Block &block);
  LogicalResult visitKernel(IterationSpaceOpInterface op);
  LogicalResult visitRepeat(nn::RepeatOp repeat);
  LogicalResult visitRecompute(nn::RecomputeOp recompute);
  LogicalResult visitReturn(Operation *op);
  LogicalResult visitTotal(nn::TotalOp total);
  LogicalResult decompose(nn::DecomposableOpInterface op);
  LogicalResult joinTiedGradients(Operation *reader);
  LogicalResult joinTiedGradient(Operation *update, Operation *reader);
  LayoutAttr gradientLayout(Operation *update);
  /// The sums over device axes and micro-batches that are pending in `value`
  /// when its block is visited; none where that is not known before.
  AxisList pendingSums(Value value, BlockArgument neutral);
  /// The layout in which a repeat sums up into `operand`, which it carries and
  /// which is zero; null if it does something else with it.
  LayoutAttr accumulationLayout(nn::RepeatOp repeat, OpOperand &operand);

  void findGradients();
  LogicalResult storeGradient(OpResult gradient);
  /// The copy of a value of the forward pass in host memory, if the backward
  /// pass is to read that; else the value.
  Value onHost(Value value, Operation *reader);
  /// Whether the tree moves a value that is kept for the backward pass to the
  /// host: whether it does so with the results of its producer.
  bool isOffloaded(Value value);
  void replaceByRing(nn::RingOpInterface op);

  /// `value` in layout `target`, converted in front of `reader`. Null after an
  /// error.
  Value convert(Value value, LayoutAttr target, Operation *reader,
                Purpose purpose);
  FailureOr<Value> reshard(OpBuilder &builder, Value value, LayoutAttr target,
                           Operation *reader, Purpose purpose);
  using Plan = SmallVector<dist::ReshardStep>;
  /// The cheapest steps on the cluster, found once for equal questions.
  FailureOr<Plan> plan(LayoutAttr from, LayoutAttr to, RankedTensorType type,
                       std::string &reason);
  /// Plans the conversion of a value of type `type`, whose leading dimensions
  /// are those of `stacks` stacks, slice by slice.
  FailureOr<Plan> planStack(RankedTensorType type, LayoutAttr from,
                            LayoutAttr to, unsigned stacks,
                            std::string &reason);
  /// The layout in which a repeat takes the partial stack `value`, of which its
  /// body reads slices in the layout of `wanted`: summed over micro-batches,
  /// and reduced if that comes first on the way; the rest is done layer by
  /// layer.
  LayoutAttr stackLayout(Value value, LayoutAttr wanted);
  /// The time that steps take from layout `from` on.
  uint64_t costOf(RankedTensorType type, LayoutAttr from,
                  ArrayRef<dist::ReshardStep> steps);
  /// The layout in which `value` goes to another stage to be `target` there:
  /// sliced further than that if the tree allows it and it pays.
  LayoutAttr transferLayout(Value value, LayoutAttr target);
  /// `value` brought to a place where it is not yet: collected there if it is
  /// sharded, kept there if it is everywhere.
  FailureOr<Value> bringTo(OpBuilder &builder, Value value, LayoutAttr target,
                           Operation *reader, Purpose purpose);
  /// The layout in which the result of a repeat or recomputation is first read,
  /// in its own shape; null if no operation reads it.
  LayoutAttr firstReadLayout(Value value);
  /// The layout of the argument that `value` replaces, if it is returned as an
  /// update.
  LayoutAttr updatedLayout(Value value);

  LayoutAttr onStage(LayoutAttr layout, Operation *op) {
    return onStage(layout, getStage(op).value_or(0));
  }
  /// The layout on the devices of that stage; its place within them stays.
  LayoutAttr onStage(LayoutAttr layout, int64_t stage) {
    if (!pipelineAxis)
      return layout;
    Place place(layout.getValue().fixed);
    llvm::erase_if(place,
                   [&](auto entry) { return entry.first == *pipelineAxis; });
    place.push_back({*pipelineAxis, stage % numStages});
    llvm::sort(place);
    return layout.withFixed(place);
  }
  /// The stage whose devices hold `value`.
  int64_t positionOf(Value value) {
    return pipelineAxis ? layoutOf(value)
                              .getValue()
                              .getFixedCoordinate(*pipelineAxis)
                              .value_or(0)
                        : 0;
  }
  /// The stage whose devices run `op`, in whichever chunk.
  int64_t positionOf(Operation *op) {
    return getStage(op).value_or(0) % numStages;
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
  /// Whether `value` is an argument of the step, or a slice of one.
  bool isStored(Value value);

  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    setPhase(op, insertedPhase);
    if (insertedStage)
      setStage(op, *insertedStage);
    if (isa_and_nonnull<dist::DistDialect>(op->getDialect()))
      op->setDiscardableAttr(ProteusDialect::pathAttrName,
                             StringAttr::get(op->getContext(), insertedPath));
    if (insertedPrefetch && isa<dist::AllGatherOp, dist::FetchOp>(op))
      op->setDiscardableAttr(ProteusDialect::prefetchAttrName,
                             insertedPrefetch);
  }

  func::FuncOp function;
  dist::MeshAttr mesh;
  std::optional<Axis> pipelineAxis;
  int64_t numStages = 1;
  StepCosts costs;
  DenseMap<std::tuple<Attribute, Attribute, Type>, Plan> plans;
  /// Conversions made so far: by value, layout and the section they serve.
  DenseMap<std::tuple<Value, Attribute, int64_t>, SmallVector<Value, 1>>
      converted;
  static constexpr int64_t anySection = 0;
  /// The key of what the forward and the backward pass of a stage share.
  static int64_t bothPasses(int64_t stage) { return -1 - stage; }
  /// Tied parameters by their path: the tag of their reduction and the layout
  /// in which the first copy needs its gradient.
  llvm::StringMap<std::pair<int64_t, LayoutAttr>> tied;
  /// Values that were moved, by the stage they have arrived on.
  DenseMap<std::pair<Value, int64_t>, Value> arrived;
  /// What was last inserted behind an operation whose results leave the step.
  DenseMap<Operation *, Operation *> insertedBehind;
  Phase insertedPhase = Phase::Forward;
  std::optional<int64_t> insertedStage;
  /// Path of what is converted: of its producer, else of its reader.
  std::string insertedPath;
  /// How far ahead parameters are gathered for the reader; null if the tree
  /// does not say, or if it is no parameter that is converted.
  Attribute insertedPrefetch;
  /// How gradients of parameters are stored where the tree sets it, by the
  /// value that the backward pass hands to the update.
  DenseMap<Value, DimAxes> gradientDims;
  /// Copies in host memory.
  DenseMap<Value, Value> hostCopies;
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

bool Inserter::isStored(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  Operation *parent = argument.getOwner()->getParentOp();
  return parent == function ||
         isStored(parent->getOperand(argument.getArgNumber()));
}

Purpose Inserter::purposeOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (getPhase(op) == Phase::Update)
    return isStored(operand.get()) ? Purpose::Parameter : Purpose::Gradient;
  return isParameter(operand.get()) ? Purpose::Parameter : Purpose::Activation;
}

/// How many leading dimensions of `value` are those of stacks, which stay
/// whole: one per repeat that it collects the slices of.
static unsigned countStacks(Value value) {
  // A conversion leaves the shape as it is.
  Operation *producer = value.getDefiningOp();
  if (producer && isa<dist::DistDialect>(producer->getDialect()) &&
      producer->getNumOperands() == 1)
    return countStacks(producer->getOperand(0));
  auto result = dyn_cast<OpResult>(value);
  auto repeat =
      result ? dyn_cast<nn::RepeatOp>(result.getOwner()) : nn::RepeatOp();
  if (!repeat || result.getResultNumber() < repeat.getNumCarried())
    return 0;
  return 1 +
         countStacks(repeat.getYield()->getOperand(result.getResultNumber()));
}

FailureOr<Inserter::Plan> Inserter::plan(LayoutAttr from, LayoutAttr to,
                                         RankedTensorType type,
                                         std::string &reason) {
  auto bare = RankedTensorType::get(type.getShape(), type.getElementType());
  std::tuple<Attribute, Attribute, Type> key(from, to, bare);
  if (auto known = plans.find(key); known != plans.end())
    return known->second;
  auto cost = [&](const dist::Step &step, const dist::StepVolume &volume) {
    return costs.getCost(step, volume);
  };
  auto steps = dist::planReshard(from, to, bare, cost, &reason);
  if (succeeded(steps))
    plans[key] = *steps;
  return steps;
}

FailureOr<Inserter::Plan> Inserter::planStack(RankedTensorType type,
                                              LayoutAttr from, LayoutAttr to,
                                              unsigned stacks,
                                              std::string &reason) {
  if (stacks == 0)
    return plan(from, to, type, reason);
  auto slice = RankedTensorType::get(type.getShape().drop_front(),
                                     type.getElementType());
  auto steps = planStack(slice, withoutLeading(from), withoutLeading(to),
                         stacks - 1, reason);
  if (succeeded(steps))
    for (dist::ReshardStep &step : *steps) {
      step.result = withLeading(step.result);
      for (std::optional<unsigned> *dim :
           {&step.step.fromDim, &step.step.toDim})
        if (*dim)
          ++**dim;
      if (step.step.kind == dist::StepKind::Permute)
        step.step.placed.insert(step.step.placed.begin(), AxisList());
    }
  return steps;
}

LayoutAttr Inserter::stackLayout(Value value, LayoutAttr wanted) {
  dist::Layout accumulated = layoutOf(value).getValue();
  llvm::erase(accumulated.getPartial(ReductionKind::Sum), dist::microAxis);
  auto from = LayoutAttr::get(wanted.getMesh(), accumulated);
  std::string reason;
  auto steps =
      planStack(tensorType(value), from, wanted, countStacks(value), reason);
  if (failed(steps) || steps->empty() ||
      !(steps->front().step.kind == dist::StepKind::AllReduce ||
        steps->front().step.kind == dist::StepKind::ReduceScatter))
    return from;
  return steps->front().result;
}

uint64_t Inserter::costOf(RankedTensorType type, LayoutAttr from,
                          ArrayRef<dist::ReshardStep> steps) {
  uint64_t total = 0;
  for (const dist::ReshardStep &step : steps) {
    total += costs.getCost(
        step.step,
        dist::stepVolume(mesh.getValue(), type.getShape(),
                         dist::elementBits(type.getElementType()),
                         from.getValue(), step.result.getValue(), step.step));
    from = step.result;
  }
  return total;
}

LayoutAttr Inserter::transferLayout(Value value, LayoutAttr target) {
  const dist::Layout &own = layoutOf(value).getValue();
  if (!function->hasAttr(kScatterGatherAttr) || target.isPartial())
    return target;
  RankedTensorType type = tensorType(value);
  int64_t from = *own.getFixedCoordinate(*pipelineAxis);
  int64_t to = *target.getValue().getFixedCoordinate(*pipelineAxis);
  // The time from the value as it is to the value as it is needed.
  auto costThrough = [&](LayoutAttr there) -> std::optional<uint64_t> {
    LayoutAttr here = onStage(there, from);
    std::string reason;
    auto before = plan(layoutOf(value), here, type, reason);
    auto after = plan(there, target, type, reason);
    if (failed(before) || failed(after))
      return std::nullopt;
    int64_t bytes = dist::localBytes(dist::withLayout(type, there));
    return costOf(type, layoutOf(value), *before) +
           costs.getTransferCost(*pipelineAxis, from, to, bytes) +
           costOf(type, there, *after);
  };
  AxisList replicas;
  for (Axis axis = 1; axis < mesh.getValue().getNumAxes(); ++axis)
    if (mesh.getValue().getSize(axis) > 1 &&
        target.getValue().isReplicated(axis))
      replicas.push_back(axis);
  LayoutAttr best = target;
  std::optional<uint64_t> least = costThrough(target);
  // The leading dimension of a stack stays whole.
  for (int64_t dim = countStacks(value); dim < type.getRank(); ++dim)
    for (unsigned chosen = 1; chosen < (1u << replicas.size()); ++chosen) {
      dist::Layout sliced = target.getValue();
      for (auto [i, axis] : llvm::enumerate(replicas))
        if (chosen & (1u << i))
          sliced.dims[dim].push_back(axis);
      if (sliced.checkShape(mesh.getValue(), type.getShape()))
        continue;
      auto candidate = LayoutAttr::get(mesh, sliced);
      std::optional<uint64_t> cost = costThrough(candidate);
      if (cost && (!least || *cost < *least)) {
        least = cost;
        best = candidate;
      }
    }
  return best;
}

/// The axes at a coordinate of which `to` is, but `from` is not.
static AxisList newlyFixed(const dist::Layout &from, const dist::Layout &to) {
  AxisList axes;
  for (auto entry : to.fixed)
    if (!llvm::is_contained(from.fixed, entry))
      axes.push_back(entry.first);
  return axes;
}

FailureOr<Value> Inserter::bringTo(OpBuilder &builder, Value value,
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
    return Value(
        dist::KeepOp::create(builder, reader->getLoc(), type, *result, names));
  return Value(dist::GatherOp::create(
      builder, reader->getLoc(), type, *result, *dim, names,
      dist::PurposeAttr::get(builder.getContext(), purpose)));
}

FailureOr<Value> Inserter::reshard(OpBuilder &builder, Value value,
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
  auto steps = planStack(tensorType(value), layoutOf(value), onDevice,
                         countStacks(value), reason);
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

//===----------------------------------------------------------------------===//
// Memory items
//===----------------------------------------------------------------------===//

/// Finds what the backward pass hands to the update of each parameter whose
/// gradient the tree stores in a layout of its own.
void Inserter::findGradients() {
  for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
    auto updates = function.getResultAttrOfType<IntegerAttr>(
        operand.getOperandNumber(), nn::kUpdatesAttr);
    if (!updates)
      continue;
    BlockArgument argument = function.getArgument(updates.getInt());
    auto axes = dyn_cast_if_present<ArrayAttr>(getArgumentAttr(
        argument, getStorageAttrName(strategy::ItemKind::Gradient)));
    if (!axes || getRole(argument) != nn::Role::Parameter)
      continue;
    // An update, and the repeat of one, reads the gradient as operand 1; what
    // is done to it before is part of the update.
    Value gradient = operand.get().getDefiningOp()->getOperand(1);
    while (Operation *op = gradient.getDefiningOp()) {
      if (getPhase(op) != Phase::Update || op->getNumOperands() == 0)
        break;
      gradient = op->getOperand(0);
    }
    gradientDims[gradient] = getStoredDims(axes, mesh.getValue());
  }
}

/// Puts a gradient that has just been computed into the layout it is stored in.
LogicalResult Inserter::storeGradient(OpResult gradient) {
  auto found = gradientDims.find(gradient);
  if (found == gradientDims.end())
    return success();
  LayoutAttr target = storedGradient(layoutOf(gradient), found->second);
  if (target == layoutOf(gradient))
    return success();
  Operation *producer = gradient.getOwner();
  SmallVector<OpOperand *> readers;
  for (OpOperand &use : gradient.getUses())
    readers.push_back(&use);
  OpBuilder builder(function.getContext());
  builder.setListener(this);
  builder.setInsertionPointAfter(producer);
  insertedPhase = getPhase(producer);
  insertedStage = getStage(producer);
  insertedPath = nn::getOwnPath(producer);
  insertedPrefetch = {};
  FailureOr<Value> stored =
      reshard(builder, gradient, target, producer, Purpose::Gradient);
  if (failed(stored))
    return failure();
  for (OpOperand *reader : readers)
    reader->set(*stored);
  return success();
}

bool Inserter::isOffloaded(Value value) {
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

Value Inserter::onHost(Value value, Operation *reader) {
  Operation *producer = value.getDefiningOp();
  if (getPhase(reader) != Phase::Backward || !producer ||
      getPhase(producer) != Phase::Forward || layoutOf(value).isOnHost() ||
      layoutOf(value).isPartial() || getStage(producer) != getStage(reader) ||
      producer->getParentOp() != function || !isOffloaded(value))
    return value;
  Value &copy = hostCopies[value];
  if (copy)
    return copy;
  OpBuilder builder(function.getContext());
  builder.setListener(this);
  builder.setInsertionPointAfter(producer);
  insertedPhase = Phase::Forward;
  insertedStage = getStage(producer);
  insertedPath = nn::getOwnPath(producer);
  insertedPrefetch = {};
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

/// How far ahead the tree gathers the parameters that `reader` reads.
static Attribute prefetchOf(Operation *reader) {
  Attribute depth = reader->getAttr(kPrefetchAttr);
  if (!depth)
    reader->walk([&](Operation *inner) {
      depth = inner->getAttr(kPrefetchAttr);
      return depth ? WalkResult::interrupt() : WalkResult::advance();
    });
  return depth;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

LayoutAttr Inserter::firstReadLayout(Value value) {
  // In the order of the block, without a walk over it for each value.
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (use.getOwner()->getBlock() == value.getParentBlock())
      uses.push_back(&use);
  llvm::sort(uses, [](OpOperand *a, OpOperand *b) {
    return a->getOwner() == b->getOwner()
               ? a->getOperandNumber() < b->getOperandNumber()
               : a->getOwner()->isBeforeInBlock(b->getOwner());
  });
  for (OpOperand *use : uses) {
    Operation *op = use->getOwner();
    unsigned number = use->getOperandNumber();
    if (auto kernel = dyn_cast<IterationSpaceOpInterface>(op))
      return onStage(Partitioning::fromAnnotation(kernel, mesh.getValue())
                         .getOperandLayout(number, mesh),
                     op);
    if (auto repeat = dyn_cast<nn::RepeatOp>(op)) {
      LayoutAttr inside = firstReadLayout(repeat.getBody().getArgument(number));
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
  if (Value copy = onHost(value, reader); copy != value)
    return convert(copy, target, reader, purpose);
  if (layoutOf(value) == target)
    return value;
  Phase phase = getPhase(reader);
  auto find = [&](Attribute layout, int64_t section) -> Value {
    for (Value candidate : converted.lookup({value, layout, section}))
      if (candidate.getParentRegion()->isAncestor(reader->getParentRegion()))
        return candidate;
    return {};
  };
  // A value moves to another stage once, in the layout of its first reader
  // there; the others convert what has arrived.
  bool moves = pipelineAxis &&
               target.getValue().getFixedCoordinate(*pipelineAxis) !=
                   layoutOf(value).getValue().getFixedCoordinate(*pipelineAxis);
  std::pair<Value, int64_t> arrival = {value, positionOf(reader)};
  if (moves && arrived.count(arrival))
    return convert(arrived.lookup(arrival), target, reader, purpose);
  // A conversion serves the readers of its section; the backward pass and other
  // chunks convert again rather than keep a larger form alive. A reduction
  // serves all.
  LayoutAttr whole = reduced(layoutOf(value));
  int64_t stage = getStage(reader).value_or(0);
  int64_t ownSection = 1 + static_cast<int64_t>(phase) +
                       (static_cast<int64_t>(Phase::Update) + 1) * stage;
  bool keeps = phase != Phase::Update && value.getDefiningOp() &&
               isNoLarger(tensorType(value), target, layoutOf(value));
  int64_t section = target == whole ? anySection
                    : keeps         ? bothPasses(stage)
                                    : ownSection;
  if (Value found = find(target, section))
    return found;
  if (Value found = find(whole, anySection);
      found && target != whole && !target.isPartial())
    return convert(found, target, reader, purpose);
  // The backward pass reads a reduced value from the host, where it is kept.
  if (phase == Phase::Backward && layoutOf(value).isPartial() &&
      !target.isPartial() && !moves && target != whole && isOffloaded(value)) {
    Value reducedValue = convert(value, whole, reader, purpose);
    return reducedValue ? convert(reducedValue, target, reader, purpose)
                        : Value();
  }

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
  insertedPath = nn::getOwnPath(namingOp(value, reader));
  insertedPrefetch = purpose == Purpose::Parameter && phase != Phase::Update
                         ? prefetchOf(reader)
                         : Attribute();

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
    LayoutAttr travelling = transferLayout(result, target);
    LayoutAttr source = onStage(travelling, positionOf(result));
    FailureOr<Value> moved = reshard(builder, result, source, reader, purpose);
    if (failed(moved))
      return {};
    insertedStage = getStage(reader);
    result = dist::TransferOp::create(
        builder, reader->getLoc(),
        dist::withLayout(tensorType(result), travelling), *moved);
    moved = reshard(builder, result, target, reader, purpose);
    if (failed(moved))
      return {};
    arrived[arrival] = *moved;
    return *moved;
  }
  FailureOr<Value> moved = reshard(builder, result, target, reader, purpose);
  if (failed(moved))
    return {};
  if (leaves)
    insertedBehind[origin] = moved->getDefiningOp();
  converted[{value, target, section}].push_back(*moved);
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
    if (iterator.isCompound() && !part.getAxes(i).empty() &&
        part.getRing() != i)
      return decompose(cast<nn::DecomposableOpInterface>(op.getOperation()));

  // Sums that are pending in all operands pass through linear operations.
  AxisList through;
  if (op.isLinear() && op->getNumOperands() > 0) {
    // What has come from another stage may have been reduced before.
    int64_t stage = positionOf(op);
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
  if (part.getRing()) {
    replaceByRing(cast<nn::RingOpInterface>(op.getOperation()));
    return success();
  }
  for (OpResult result : op->getResults())
    setLayout(result, resultLayout(result.getResultNumber()));
  for (OpResult result : op->getResults())
    if (failed(storeGradient(result)))
      return failure();
  return success();
}

/// Whether a result of the forward pass is there for the backward pass alone.
static bool isReadByBackwardOnly(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return getPhase(user) == Phase::Backward;
  });
}

void Inserter::replaceByRing(nn::RingOpInterface op) {
  OpBuilder builder(op);
  builder.setListener(this);
  insertedPhase = getPhase(op);
  insertedStage = getStage(op);
  insertedPath = nn::getOwnPath(op);
  insertedPrefetch = {};
  op->replaceAllUsesWith(buildRing(builder, op, mesh, [&](LayoutAttr layout) {
    return onStage(layout, op);
  }));
  op->erase();
}

AxisList Inserter::pendingSums(Value value, BlockArgument neutral) {
  auto kernel = value.getDefiningOp<IterationSpaceOpInterface>();
  if (!kernel)
    return {};
  Partitioning part = Partitioning::fromAnnotation(kernel, mesh.getValue());
  const dist::Layout &own =
      part.getResultLayout(cast<OpResult>(value).getResultNumber(), mesh)
          .getValue();
  if (!own.getPartial(ReductionKind::Max).empty())
    return {};
  AxisList sums = own.getPartial(ReductionKind::Sum);
  if (!kernel.isLinear())
    return sums;
  // As in visitKernel: what is pending in all operands passes through.
  std::optional<AxisList> through;
  for (Value operand : kernel->getOperands()) {
    if (operand == neutral)
      continue;
    AxisList pending = pendingSums(operand, neutral);
    if (!through)
      through = pending;
    llvm::erase_if(*through, [&](Axis axis) {
      return !llvm::is_contained(pending, axis);
    });
  }
  if (through &&
      llvm::none_of(*through, [&](Axis axis) { return part.uses(axis); }))
    llvm::append_range(sums, *through);
  return sums;
}

LayoutAttr Inserter::accumulationLayout(nn::RepeatOp repeat,
                                        OpOperand &operand) {
  auto fill = operand.get().getDefiningOp<nn::FillOp>();
  unsigned number = operand.getOperandNumber();
  if (!fill || !fill.getValue().isZero() || number >= repeat.getNumCarried())
    return {};
  BlockArgument argument = repeat.getBody().getArgument(number);
  auto sum = repeat.getYield()->getOperand(number).getDefiningOp<nn::AddOp>();
  if (!sum || !argument.hasOneUse() ||
      !llvm::is_contained(sum->getOperands(), argument))
    return {};
  AxisList pending = pendingSums(sum.getResult(), argument);
  if (pending.empty())
    return {};
  LayoutAttr layout = Partitioning::fromAnnotation(sum, mesh.getValue())
                          .getResultLayout(0, mesh);
  return onStage(withPartialSum(layout, pending), repeat);
}

LogicalResult Inserter::visitRepeat(nn::RepeatOp repeat) {
  unsigned numCarried = repeat.getNumCarried();
  for (OpOperand &operand : repeat->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    BlockArgument argument = repeat.getBody().getArgument(number);
    bool carried = number < numCarried;
    LayoutAttr layout = layoutOf(operand.get());
    LayoutAttr target = onStage(layout, repeat);
    if (LayoutAttr sums = accumulationLayout(repeat, operand)) {
      // Zero is the start of a sum in every layout: it is formed once, behind
      // the last iteration.
      OpBuilder builder(repeat);
      builder.setListener(this);
      insertedPhase = getPhase(repeat);
      insertedStage = getStage(repeat);
      Operation *zero = builder.clone(*operand.get().getDefiningOp());
      setLayout(zero->getResult(0), sums);
      operand.set(zero->getResult(0));
      setLayout(argument, sums);
      continue;
    }
    if (carried)
      target = onStage(reduced(layout), repeat).withHost(false);
    else if (layout.isPartial()) {
      LayoutAttr wanted = firstReadLayout(argument);
      target = onStage(reduced(layout), repeat);
      if (wanted && countStacks(operand.get()) > 0)
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
      LayoutAttr entered = layoutOf(repeat.getBody().getArgument(number));
      bool accumulates = entered != reduced(entered);
      target =
          repeat.getCount() == 1 && !accumulates ? reduced(target) : entered;
    } else if (getPhase(repeat) == Phase::Forward) {
      // What is saved for the backward pass is saved reduced, or in the form
      // in which it is read there if that was made anyhow and is no larger.
      LayoutAttr wanted = firstReadLayout(repeat.getResult(number));
      if (wanted && converted.count({operand.get(), withoutLeading(wanted),
                                     bothPasses(getStage(repeat).value_or(0))}))
        target = withoutLeading(wanted);
      else
        target = reduced(target);
      if (isReadByBackwardOnly(repeat.getResult(number)))
        target =
            target.withHost(target.isOnHost() || isOffloaded(operand.get()));
    } else if (auto found = gradientDims.find(repeat.getResult(number));
               found != gradientDims.end()) {
      target = storedGradient(
          target, DimAxes(found->second.begin() + 1, found->second.end()));
      purpose = Purpose::Gradient;
    } else if (LayoutAttr updated = updatedLayout(repeat.getResult(number));
               updated && updated.isOnHost()) {
      // Layers go back to the host one by one. On the device, all that changes
      // their layout can be done together.
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
  for (OpResult result : repeat.getCarriedResults())
    if (failed(storeGradient(result)))
      return failure();
  return success();
}

/// Whether kernels alone read `argument`, not the bodies of repeats.
static bool isReadByKernels(BlockArgument argument) {
  return llvm::all_of(argument.getUsers(), [](Operation *user) {
    return isa<IterationSpaceOpInterface>(user);
  });
}

LogicalResult Inserter::visitRecompute(nn::RecomputeOp recompute) {
  for (OpOperand &operand : recompute->getOpOperands()) {
    BlockArgument argument =
        recompute.getBody().getArgument(operand.getOperandNumber());
    LayoutAttr target =
        onStage(reduced(layoutOf(operand.get())), recompute).withHost(false);
    Purpose purpose = Purpose::Activation;
    if (isParameter(operand.get())) {
      purpose = Purpose::Parameter;
      // A parameter is gathered once, for the recomputation and for the
      // gradients behind it.
      if (isReadByKernels(argument))
        if (LayoutAttr wanted = firstReadLayout(argument))
          target = wanted;
    }
    Value value = convert(operand.get(), target, recompute, purpose);
    if (!value)
      return failure();
    operand.set(value);
    argument.setType(value.getType());
  }
  if (failed(visit(recompute.getBody().front())))
    return failure();
  Operation *yield = recompute.getYield();
  if (auto stage = getStage(recompute))
    setStage(yield, *stage);
  setPhase(yield, getPhase(recompute));
  for (OpOperand &operand : yield->getOpOperands()) {
    Value result = recompute.getResult(operand.getOperandNumber());
    // As what repeats save: in the form in which it is read, if that was made
    // anyhow and is no larger.
    LayoutAttr wanted = firstReadLayout(result);
    bool made = wanted &&
                converted.count({operand.get(), wanted,
                                 bothPasses(getStage(recompute).value_or(0))});
    Value value =
        convert(operand.get(), made ? wanted : reduced(layoutOf(operand.get())),
                yield, Purpose::Activation);
    if (!value)
      return failure();
    operand.set(value);
    result.setType(value.getType());
  }
  yield->removeDiscardableAttr(kStageAttr);
  yield->removeDiscardableAttr(kPhaseAttr);
  return success();
}

/// The layout in which an update, or the repeat of one, reads its gradient.
LayoutAttr Inserter::gradientLayout(Operation *update) {
  if (auto kernel = dyn_cast<IterationSpaceOpInterface>(update))
    return Partitioning::fromAnnotation(kernel, mesh.getValue())
        .getOperandLayout(1, mesh);
  LayoutAttr inside =
      firstReadLayout(cast<nn::RepeatOp>(update).getBody().getArgument(1));
  return withLeading(inside);
}

/// The tied parameter that `op` updates, none if it does something else.
static BlockArgument updatedTiedParameter(Operation *op) {
  if (getPhase(op) != Phase::Update || op->getNumOperands() < 2)
    return {};
  auto parameter = dyn_cast<BlockArgument>(op->getOperand(0));
  return parameter && getArgumentAttr(parameter, kTiedAttr) ? parameter
                                                            : BlockArgument();
}

/// Every copy of a tied parameter is updated with the sum of the gradients of
/// all copies. What looks at the gradients before that, to scale them, sees the
/// sum too: all stages form all sums before the first one looks, since they
/// wait for each other's numbers afterwards.
LogicalResult Inserter::joinTiedGradients(Operation *reader) {
  if (getPhase(reader) != Phase::Update ||
      reader->getBlock() != &function.front())
    return success();
  if (updatedTiedParameter(reader))
    return joinTiedGradient(reader, reader);
  SmallVector<Operation *> updates;
  for (Operation &op : function.front())
    if (updatedTiedParameter(&op))
      updates.push_back(&op);
  if (llvm::none_of(updates, [&](Operation *update) {
        return llvm::is_contained(reader->getOperands(), update->getOperand(1));
      }))
    return success();
  for (Operation *update : updates)
    if (failed(joinTiedGradient(update, reader)))
      return failure();
  return success();
}

/// Forms the sum of the gradients of a tied parameter on the stage of `update`,
/// in front of `reader`. They are added in the layout that the first copy
/// needs.
LogicalResult Inserter::joinTiedGradient(Operation *update, Operation *reader) {
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
    tie->second.second = gradientLayout(update);
  LayoutAttr target = onStage(tie->second.second, update);
  OpBuilder builder(reader);
  builder.setListener(this);
  insertedPhase = Phase::Update;
  insertedStage = getStage(update);
  insertedPath = path;
  insertedPrefetch = {};
  auto sum = dist::StageReduceOp::create(
      builder, update->getLoc(), dist::withLayout(tensorType(gradient), target),
      gradient, cast<DenseI64ArrayAttr>(getArgumentAttr(parameter, kTiedAttr)),
      builder.getI64IntegerAttr(tie->second.first),
      dist::PurposeAttr::get(update->getContext(), Purpose::Gradient));
  Value converted = convert(gradient, target, sum, Purpose::Gradient);
  if (!converted)
    return failure();
  sum.getInputMutable().assign(converted);
  for (OpOperand *use : readers)
    use->set(sum.getResult());
  return success();
}

/// Terms that are pending over the same axes, or known at the same place only,
/// are put together first, so that one small collective brings all of them.
LogicalResult Inserter::visitTotal(nn::TotalOp total) {
  // Stacks of numbers are split by nothing, like numbers.
  auto asNumber = [&](Value term) {
    dist::Layout layout = layoutOf(term).getValue();
    layout.dims.clear();
    return LayoutAttr::get(mesh, layout);
  };
  llvm::MapVector<LayoutAttr, SmallVector<Value>> groups;
  for (Value term : total.getInputs())
    groups[asNumber(term)].push_back(term);
  SmallVector<Value> terms;
  LayoutAttr everywhere =
      onStage(LayoutAttr::get(mesh, dist::Layout(0)), total);
  for (auto &[layout, group] : groups) {
    bool atOnePlace =
        !newlyFixed(everywhere.getValue(), onStage(layout, total).getValue())
             .empty();
    if (!layout.isPartial() && !atOnePlace) {
      for (Value term : group)
        terms.push_back(convert(term, onStage(layoutOf(term), total), total,
                                Purpose::Gradient));
      continue;
    }
    OpBuilder builder(total);
    builder.setListener(this);
    insertedPhase = getPhase(total);
    insertedStage = getStage(total);
    auto pending = nn::TotalOp::create(builder, total.getLoc(),
                                       total.getResult().getType(),
                                       total.getPath(), group, total.getMax());
    setLayout(pending.getResult(), layout);
    Value whole =
        convert(pending.getResult(), reduced(layout), total, Purpose::Gradient);
    terms.push_back(whole ? convert(whole, everywhere, total, Purpose::Gradient)
                          : Value());
  }
  if (llvm::is_contained(terms, Value()))
    return failure();
  total.getInputsMutable().assign(terms);
  setLayout(total.getResult(), everywhere);
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
    if (failed(joinTiedGradients(op)))
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

/// Whether the tree keeps an argument in host memory.
static bool isKeptOnHost(BlockArgument argument) {
  std::optional<nn::Role> role = getRole(argument);
  if (role == nn::Role::Parameter)
    return static_cast<bool>(
        getArgumentAttr(argument, getHostAttrName(strategy::ItemKind::Weight)));
  if (role == nn::Role::State)
    return static_cast<bool>(
        getArgumentAttr(argument, getHostAttrName(strategy::ItemKind::State)));
  return false;
}

LogicalResult Inserter::run() {
  for (BlockArgument argument : function.getArguments()) {
    auto layout = cast<LayoutAttr>(getArgumentAttr(argument, kLayoutAttr));
    layout = onStage(layout, getStage(argument).value_or(0));
    setLayout(argument, layout.withHost(isKeptOnHost(argument)));
  }
  separateSavedForms(function, mesh);
  findGradients();
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
    for (BlockArgument argument : function.getArguments())
      if (!getArgumentAttr(argument, kLayoutAttr)) {
        function.emitOpError("argument ")
            << argument.getArgNumber()
            << " has no layout; run propagate-strategy first";
        return signalPassFailure();
      }
    // What a conversion costs is a matter of the cluster.
    FailureOr<machine::Cluster> cluster =
        resolveCluster(function->getParentOfType<ModuleOp>(), "");
    if (failed(cluster) || failed(Inserter(function, mesh, *cluster).run()))
      signalPassFailure();
  }
};
} // namespace
