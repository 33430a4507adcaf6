//===- Propagation.cpp - axes along the data flow ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fixed-point iteration: operations take the axes of their operands and readers
// until nothing changes. docs/propagation.md states the order of precedence.
//
//===----------------------------------------------------------------------===//

#include "Propagation.h"

#include "PartitionDiagnostics.h"

#include "Proteus/Transforms/Common/Annotations.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;
using nn::IterationSpaceOpInterface;

namespace {

/// Solver that propagates the partitions of the tree along the data flow until
/// nothing changes. It never overwrites a setting of the tree, nor axes that an
/// operation has taken. The result therefore depends only on the settings and
/// the order of the program. Each nn.keep with `kKeepAsReadAttr` and each
/// observer (`isObserver`) is an exception: it always has the axes of another
/// reader of its operand.
class Propagation {
public:
  Propagation(func::FuncOp function, const dist::Mesh &mesh)
      : function(function), mesh(mesh) {}

  FailureOr<PropagatedPartitions> solve();

private:
  /// Reads the settings of the tree from the annotations of operations and
  /// arguments.
  LogicalResult seed();
  /// Propagates axes from operands to operations and their results, in program
  /// order.
  void forward(Block &block);
  /// Propagates axes from readers to producers, in reverse program order.
  void backward(Block &block);
  void placeArguments();
  void placeObservers();

  /// Lets iterators of `op` take axes from one of its operands or results.
  /// `tensor` holds the iterators that index this operand or result, and `dims`
  /// the axes of each dimension. Only iterators for which `mayTake` returns
  /// true take axes. Records `source` as the origin of these axes.
  void adopt(Operation *op, const nn::TensorIterators &tensor,
             const DimAxes &dims, AxisSource source);
  void followReader(nn::KeepOp keep, Partitioning &part);
  bool mayTake(Operation *op, unsigned iterator, const AxisList &axes);
  /// Records `dims` as the axes of each dimension of `value`. Does nothing if
  /// the tree sets the storage of `value`.
  void know(Value value, DimAxes dims);

  /// Returns the first operation in program order that reads `value`, and the
  /// number of the operand. Also searches the bodies of repeats and
  /// recomputations. Ignores observers, which follow other readers.
  std::optional<std::pair<Operation *, unsigned>> firstReader(Value value);

  func::FuncOp function;
  const dist::Mesh &mesh;
  /// The result so far; `PropagatedPartitions` describes each member.
  DenseMap<Operation *, Partitioning> parts;
  DenseSet<PropagatedPartitions::OpIterator> setByTree;
  DenseMap<PropagatedPartitions::OpIterator, AxisSource> sources;
  DenseMap<Value, DimAxes> known;
  /// Arguments with a storage layout that the tree sets.
  DenseSet<Value> fixedArguments;
  /// Arguments that the tree stores with a flat cut of the block that their
  /// first reader reads.
  DenseMap<Value, Storage> flatArguments;
  /// True once all operations have taken axes for their iterators. Flat cuts
  /// divide the blocks that these axes leave, so they are taken afterwards.
  bool hasDims = false;
  bool changed = false;
};

} // namespace

static bool isObserver(Operation *op) {
  return cast<IterationSpaceOpInterface>(op).isObserver();
}

LogicalResult Propagation::seed() {
  function.walk([&](IterationSpaceOpInterface op) {
    auto [entry, isNew] =
        parts.try_emplace(op, Partitioning::fromAnnotation(op, mesh));
    if (auto annotation = op->getAttrOfType<strategy::PartitionAttr>(kOpAttr))
      for (strategy::PartAttr part : annotation.getParts())
        if (auto iterator = entry->second.getSpace().find(part.getIterator()))
          setByTree.insert({op, *iterator});
  });
  for (BlockArgument argument : function.getArguments()) {
    bool state = nn::isState(getRole(argument));
    auto axes = dyn_cast_if_present<ArrayAttr>(getArgumentAttr(
        argument, getStorageAttrName(state ? strategy::ItemKind::State
                                           : strategy::ItemKind::Weight)));
    auto gradient = dyn_cast_if_present<ArrayAttr>(getArgumentAttr(
        argument, getStorageAttrName(strategy::ItemKind::Gradient)));
    auto type = cast<RankedTensorType>(argument.getType());
    if (gradient)
      if (Storage storage(gradient, mesh);
          storage.hasDims() &&
          failed(checkStorage(function, argument, storage.resolve(type, {}),
                              mesh)))
        return failure();
    if (!axes)
      continue;
    Storage storage(axes, mesh);
    if (!storage.hasDims()) {
      flatArguments.insert({argument, storage});
      continue;
    }
    DimAxes dims = storage.resolve(type, {});
    if (failed(checkStorage(function, argument, dims, mesh)))
      return failure();
    known[argument] = dims;
    fixedArguments.insert(argument);
  }
  return success();
}

/// Returns true if an iterator can take `axes`: it has no axes yet, the tree
/// does not set it, and the split is valid.
bool Propagation::mayTake(Operation *op, unsigned iterator,
                          const AxisList &axes) {
  const Partitioning &part = parts.find(op)->second;
  return !axes.empty() && part.getAxes(iterator).empty() &&
         !setByTree.contains({op, iterator}) &&
         maySplit(op, part, iterator, axes, mesh);
}

void Propagation::adopt(Operation *op, const nn::TensorIterators &tensor,
                        const DimAxes &dims, AxisSource source) {
  // Only updates work on flat parts: other operations need whole blocks.
  Partitioning &part = parts.find(op)->second;
  if (!dims.flat.empty() && !tensor.empty() && part.getFlat().empty() &&
      getPhase(op) == Phase::Update && part.isElementwise() &&
      llvm::none_of(dims.flat.axes,
                    [&](Axis axis) { return part.uses(axis); })) {
    part.setFlat(dims.flat);
    changed = true;
  }
  for (auto [dim, axes] : llvm::zip(tensor, dims))
    if (auto iterator = Partitioning::majorIterator(dim))
      if (mayTake(op, *iterator, axes)) {
        parts.find(op)->second.setAxes(*iterator, axes);
        sources.try_emplace({op, *iterator}, source);
        changed = true;
      }
}

void Propagation::know(Value value, DimAxes dims) {
  if (fixedArguments.contains(value))
    return;
  DimAxes &entry = known[value];
  if (entry != dims) {
    entry = std::move(dims);
    changed = true;
  }
}

/// Gives `keep` the axes with which the nearest preceding operation that is no
/// nn.keep reads the kept value. Does nothing without `kKeepAsReadAttr`.
void Propagation::followReader(nn::KeepOp keep, Partitioning &part) {
  auto number = keep->getAttrOfType<IntegerAttr>(kKeepAsReadAttr);
  if (!number)
    return;
  Operation *reader = keep->getPrevNode();
  while (isa<nn::KeepOp>(reader))
    reader = reader->getPrevNode();
  const Partitioning &other = parts.find(reader)->second;
  DimAxes dims = other.getDimAxes(other.getSpace().operands[number.getInt()]);
  for (auto [iterator, axes] : llvm::enumerate(dims))
    if (part.getAxes(iterator) != ArrayRef<Axis>(axes)) {
      part.setAxes(iterator, axes);
      sources[{keep, iterator}] = {
          AxisSource::Reader, static_cast<unsigned>(number.getInt()), reader};
      changed = true;
    }
}

void Propagation::forward(Block &block) {
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<nn::RepeatOp>(op)) {
      for (auto [init, argument] :
           llvm::zip(repeat.getCarried(), repeat.getCarriedArgs()))
        if (known.count(init))
          know(argument, known[init]);
      for (auto [stack, slice] :
           llvm::zip(repeat.getSliced(), repeat.getSliceArgs()))
        if (known.count(stack))
          know(slice, known[stack].withoutLeading());
      forward(repeat.getBody().front());
      unsigned carried = repeat.getNumCarried();
      for (auto [i, result] : llvm::enumerate(repeat.getResults())) {
        Value yielded = repeat.getYield()->getOperand(i);
        if (i < carried) {
          // With several iterations, the result has the layout in which the
          // value enters the body. With a single iteration, it has the layout
          // that the body yields.
          Value left = repeat.getCount() == 1
                           ? yielded
                           : Value(repeat.getCarriedArgs()[i]);
          if (known.count(left))
            know(result, known[left]);
        } else if (known.count(yielded))
          know(result, known[yielded].withLeading());
      }
      continue;
    }
    if (auto recompute = dyn_cast<nn::RecomputeOp>(op)) {
      for (auto [input, argument] :
           llvm::zip(recompute.getInputs(), recompute.getBody().getArguments()))
        if (known.count(input))
          know(argument, known[input]);
      forward(recompute.getBody().front());
      for (auto [yielded, result] : llvm::zip(
               recompute.getYield()->getOperands(), recompute.getResults()))
        if (known.count(yielded))
          know(result, known[yielded]);
      continue;
    }
    auto found = parts.find(&op);
    if (found == parts.end() || isObserver(&op))
      continue;
    if (auto keep = dyn_cast<nn::KeepOp>(op);
        keep && op.hasAttr(kKeepAsReadAttr)) {
      followReader(keep, found->second);
      know(keep.getResult(),
           found->second.getDimAxes(found->second.getSpace().results[0]));
      continue;
    }
    // In an update, look at the states of the optimizer before the parameter
    // and its gradient, so that a sharded optimizer shards the update.
    SmallVector<unsigned> order;
    bool update = getPhase(&op) == Phase::Update;
    for (unsigned i = 0, e = op.getNumOperands(); i < e; ++i)
      order.push_back(i);
    if (update && order.size() > 2)
      std::rotate(order.begin(), order.begin() + 2, order.end());
    for (unsigned i : order)
      if (known.count(op.getOperand(i)))
        adopt(&op, found->second.getSpace().operands[i],
              known[op.getOperand(i)], {AxisSource::Operand, i});
    for (auto [result, dims] :
         llvm::zip(op.getResults(), found->second.getSpace().results))
      know(result, found->second.getDimAxes(dims));
  }
}

/// Lets each operation take the axes that the first readers of its results
/// need, for iterators that have no axes yet. Ignores a first reader in another
/// phase.
void Propagation::backward(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    for (Region &region : op.getRegions())
      backward(region.front());
    auto found = parts.find(&op);
    if (found == parts.end())
      continue;
    for (auto [result, dims] :
         llvm::zip(op.getResults(), found->second.getSpace().results)) {
      auto reader = firstReader(result);
      if (!reader || getPhase(reader->first) != getPhase(&op))
        continue;
      const Partitioning &other = parts.find(reader->first)->second;
      adopt(&op, dims,
            other.getDimAxes(other.getSpace().operands[reader->second]),
            {AxisSource::Reader, reader->second, reader->first});
    }
  }
}

/// Returns true if `a` precedes `b` in program order. The operations may be in
/// different regions.
static bool runsBefore(Operation *a, Operation *b) {
  for (Operation *outer = a; outer; outer = outer->getParentOp())
    if (Operation *other = outer->getBlock()
                               ? outer->getBlock()->findAncestorOpInBlock(*b)
                               : nullptr)
      return outer != other && outer->isBeforeInBlock(other);
  return false;
}

std::optional<std::pair<Operation *, unsigned>>
Propagation::firstReader(Value value) {
  std::optional<std::pair<Operation *, unsigned>> best;
  for (OpOperand &use : value.getUses()) {
    Operation *owner = use.getOwner();
    std::optional<std::pair<Operation *, unsigned>> candidate;
    if (parts.count(owner)) {
      if (!isObserver(owner))
        candidate = {owner, use.getOperandNumber()};
    } else if (auto repeat = dyn_cast<nn::RepeatOp>(owner))
      candidate =
          firstReader(repeat.getBody().getArgument(use.getOperandNumber()));
    else if (auto recompute = dyn_cast<nn::RecomputeOp>(owner))
      candidate =
          firstReader(recompute.getBody().getArgument(use.getOperandNumber()));
    if (!candidate)
      continue;
    if (!best || runsBefore(candidate->first, best->first) ||
        (candidate->first == best->first && candidate->second < best->second))
      best = candidate;
  }
  return best;
}

/// Gives each argument the axes that its first reader needs, and the flat cut
/// with which the tree stores it.
void Propagation::placeArguments() {
  for (BlockArgument argument : function.getArguments()) {
    auto reader = firstReader(argument);
    if (!reader)
      continue;
    const Partitioning &part = parts.find(reader->first)->second;
    DimAxes dims = part.getDimAxes(part.getSpace().operands[reader->second]);
    auto type = cast<RankedTensorType>(argument.getType());
    while (static_cast<int64_t>(dims.size()) < type.getRank())
      dims = dims.withLeading();
    dims.flat = dist::FlatCut();
    if (auto stored = flatArguments.find(argument);
        hasDims && stored != flatArguments.end())
      dims = stored->second.resolve(type, dims);
    know(argument, dims);
  }
}

/// Gives each observer the axes with which the first reader that is not an
/// observer reads the same value. The value is then converted once for both.
void Propagation::placeObservers() {
  for (auto &[op, part] : parts) {
    if (!isObserver(op))
      continue;
    // If the operand is a slice of a stack, use the first reader of the whole
    // stack.
    Value value = op->getOperand(0);
    while (auto argument = dyn_cast<BlockArgument>(value)) {
      auto repeat = dyn_cast<nn::RepeatOp>(argument.getOwner()->getParentOp());
      if (!repeat)
        break;
      value = repeat.getOperand(argument.getArgNumber());
    }
    auto reader = firstReader(value);
    if (!reader)
      continue;
    const Partitioning &other = parts.find(reader->first)->second;
    DimAxes dims = other.getDimAxes(other.getSpace().operands[reader->second]);
    const nn::TensorIterators &own = part.getSpace().operands[0];
    assert(dims.size() == own.size() && "updates run layer by layer as well");
    for (auto [dim, axes] : llvm::zip(own, dims))
      if (auto iterator = Partitioning::majorIterator(dim)) {
        part.setAxes(*iterator, axes);
        sources.try_emplace(
            {op, *iterator},
            AxisSource{AxisSource::Reader, reader->second, reader->first});
      }
    if (part.isElementwise())
      part.setFlat(dims.flat);
  }
}

FailureOr<PropagatedPartitions> Propagation::solve() {
  if (failed(seed()))
    return failure();
  for (bool withFlat : {false, true}) {
    hasDims = withFlat;
    do {
      changed = false;
      placeArguments();
      forward(function.front());
      backward(function.front());
    } while (changed);
    if (flatArguments.empty())
      break;
  }
  placeObservers();
  return PropagatedPartitions{std::move(parts), std::move(setByTree),
                              std::move(sources), std::move(known)};
}

FailureOr<PropagatedPartitions> proteus::propagate(func::FuncOp function,
                                                   const dist::Mesh &mesh) {
  return Propagation(function, mesh).solve();
}

FailureOr<SmallVector<nn::RepeatOp>>
proteus::findUnsettledRepeats(func::FuncOp function, const dist::Mesh &mesh) {
  FailureOr<PropagatedPartitions> propagated = propagate(function, mesh);
  if (failed(propagated))
    return failure();
  SmallVector<nn::RepeatOp> unsettled;
  for (auto repeat : function.getOps<nn::RepeatOp>()) {
    if (repeat.getCount() == 1)
      continue;
    for (auto [argument, yielded] :
         llvm::zip(repeat.getCarriedArgs(), repeat.getYield()->getOperands()))
      if (propagated->known.lookup(argument) !=
          propagated->known.lookup(yielded)) {
        unsettled.push_back(repeat);
        break;
      }
  }
  return unsettled;
}
