//===- PropagateStrategy.cpp - axes along the data flow ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Propagation.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/BatchAnalysis.h"
#include "Proteus/Transforms/Partitioning.h"
#include "Proteus/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace proteus {
#define GEN_PASS_DEF_PROPAGATESTRATEGY
#include "Proteus/Transforms/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;
using nn::IterationSpaceOpInterface;

namespace {

/// Where the axes of an iterator come from.
struct Source {
  enum Kind { Tree, Operand, Reader } kind;
  /// Number of the operand, or of the operand by which the reader reads.
  unsigned number = 0;
  /// The reader.
  Operation *op = nullptr;
};

/// Spreads the partitions that the tree sets along the data flow until nothing
/// changes. What the tree sets is never overwritten, and what one operation
/// took from its first neighbour is never taken back, so the result does not
/// depend on more than the order of the program.
class Propagation {
public:
  Propagation(func::FuncOp function, dist::MeshAttr mesh)
      : function(function), meshAttr(mesh), mesh(mesh.getValue()) {}

  /// Spreads what the tree sets until nothing changes.
  LogicalResult solve();
  /// Writes the result into the function, or lists what is wrong with it.
  LogicalResult annotate();
  /// Says by remarks where operands of an operation disagree and which one it
  /// follows.
  void remarkConflicts();
  /// Says by one remark per operation how it is split and why.
  void explain();
  /// Repeats whose body leaves a carried value split otherwise than it finds
  /// it, in the order of the program.
  SmallVector<nn::RepeatOp> getUnsettledRepeats();

private:
  LogicalResult seed();
  LogicalResult checkStorage(BlockArgument argument, const DimAxes &dims);
  void forward(Block &block);
  void backward(Block &block);
  void placeArguments();
  void placeObservers();
  LogicalResult checkUse();
  std::string check(IterationSpaceOpInterface op, const Partitioning &part);
  std::string checkRing(IterationSpaceOpInterface op, const Partitioning &part);

  /// Lets iterators of `op` that are still whole take the axes that `dims` of
  /// one of its tensors have.
  void adopt(Operation *op, const nn::TensorIterators &tensor,
             const DimAxes &dims, Source source);
  void followReader(nn::KeepOp keep, Partitioning &part);
  bool mayTake(Operation *op, unsigned iterator, const AxisList &axes);
  void know(Value value, DimAxes dims);

  /// The first operation of the program that reads `value` (through the slices
  /// of repeats) and is no observer, with its operand number.
  std::optional<std::pair<Operation *, unsigned>> firstReader(Value value);

  func::FuncOp function;
  dist::MeshAttr meshAttr;
  const dist::Mesh &mesh;
  DenseMap<Operation *, Partitioning> parts;
  /// Iterators that the tree sets, split or not.
  DenseMap<Operation *, llvm::SmallDenseSet<unsigned>> fixed;
  /// Where an iterator that the tree does not set has its axes from.
  DenseMap<std::pair<Operation *, unsigned>, Source> sources;
  /// Axes per dimension of values, without the time axis.
  DenseMap<Value, DimAxes> known;
  /// Arguments whose storage the tree sets.
  DenseSet<Value> fixedArguments;
  bool changed = false;
};

} // namespace

/// Whether `iterator` shares a dimension with others: then only equal parts of
/// it are contiguous.
static bool isFused(const nn::IterationSpace &space, unsigned iterator) {
  auto inFused = [&](const nn::TensorIterators &dims) {
    return llvm::any_of(dims, [&](const nn::DimIterators &dim) {
      return dim.size() > 1 && llvm::is_contained(dim, iterator);
    });
  };
  return llvm::any_of(space.operands, inFused) ||
         llvm::any_of(space.results, inFused);
}

/// Whether `iterator` is a minor part of a dimension of a result: its parts are
/// not contiguous there.
static bool isMinorInResult(const nn::IterationSpace &space,
                            unsigned iterator) {
  return llvm::any_of(space.results, [&](const nn::TensorIterators &dims) {
    return llvm::any_of(dims, [&](const nn::DimIterators &dim) {
      return llvm::is_contained(llvm::drop_begin(dim, dim.empty() ? 0 : 1),
                                iterator);
    });
  });
}

static bool isObserver(Operation *op) {
  return cast<IterationSpaceOpInterface>(op).isObserver();
}

static bool isSplittable(Operation *op, const nn::Iterator &iterator) {
  return iterator.isSplittable() ||
         (iterator.isCompound() && isa<nn::DecomposableOpInterface>(op));
}

/// Checks a layout that the tree sets for a parameter or what belongs to it.
LogicalResult Propagation::checkStorage(BlockArgument argument,
                                        const DimAxes &dims) {
  llvm::SmallDenseSet<Axis> used;
  auto type = cast<RankedTensorType>(argument.getType());
  for (auto [dim, axes] : llvm::enumerate(dims)) {
    for (Axis axis : axes)
      if (!used.insert(axis).second)
        return function.emitOpError("axis '")
               << mesh.getName(axis) << "' splits two dimensions of '"
               << getArgumentPath(argument)
               << "'; an axis may split one dimension of a tensor";
    if (mesh.getSize(axes) > type.getDimSize(dim))
      return function.emitOpError("dimension ")
             << dim << " of '" << getArgumentPath(argument) << "' has size "
             << type.getDimSize(dim) << " and can't be split into "
             << mesh.getSize(axes) << " parts over " << mesh.format(axes);
  }
  return success();
}

LogicalResult Propagation::seed() {
  function.walk([&](IterationSpaceOpInterface op) {
    auto [entry, isNew] =
        parts.try_emplace(op, Partitioning::fromAnnotation(op, mesh));
    if (auto annotation = op->getAttrOfType<strategy::PartitionAttr>(kOpAttr))
      for (strategy::PartAttr part : annotation.getParts())
        if (auto iterator = entry->second.getSpace().find(part.getIterator()))
          fixed[op].insert(*iterator);
  });
  for (BlockArgument argument : function.getArguments()) {
    bool state = getRole(argument) == nn::Role::State;
    auto axes = dyn_cast_if_present<ArrayAttr>(getArgumentAttr(
        argument, getStorageAttrName(state ? strategy::ItemKind::State
                                           : strategy::ItemKind::Weight)));
    auto gradient = dyn_cast_if_present<ArrayAttr>(getArgumentAttr(
        argument, getStorageAttrName(strategy::ItemKind::Gradient)));
    if (gradient &&
        failed(checkStorage(argument, getStoredDims(gradient, mesh))))
      return failure();
    if (!axes)
      continue;
    DimAxes dims = getStoredDims(axes, mesh);
    if (failed(checkStorage(argument, dims)))
      return failure();
    known[argument] = dims;
    fixedArguments.insert(argument);
  }
  return success();
}

bool Propagation::mayTake(Operation *op, unsigned iterator,
                          const AxisList &axes) {
  const Partitioning &part = parts.find(op)->second;
  const nn::Iterator &info = part.getSpace().iterators[iterator];
  if (axes.empty() || !part.getAxes(iterator).empty() ||
      fixed[op].contains(iterator) || !isSplittable(op, info) ||
      isMinorInResult(part.getSpace(), iterator))
    return false;
  for (auto [axis, position] : part.getPlace())
    if (llvm::is_contained(axes, axis))
      return false;
  for (unsigned other = 0; other < part.getSpace().iterators.size(); ++other)
    for (Axis axis : axes)
      if (llvm::is_contained(part.getAxes(other), axis) &&
          !part.mayShareAxis(iterator, other))
        return false;
  int64_t count = mesh.getSize(axes);
  return count <= info.size && (!axes.zigzag || info.size % (2 * count) == 0) &&
         (!isFused(part.getSpace(), iterator) || info.size % count == 0);
}

void Propagation::adopt(Operation *op, const nn::TensorIterators &tensor,
                        const DimAxes &dims, Source source) {
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

static DimAxes withLeading(DimAxes dims) {
  dims.insert(dims.begin(), AxisList());
  return dims;
}

static DimAxes withoutLeading(const DimAxes &dims) {
  return DimAxes(dims.begin() + 1, dims.end());
}

/// What is kept as an operation reads it takes the partition of its operand.
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
          Source::Reader, static_cast<unsigned>(number.getInt()), reader};
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
          know(slice, withoutLeading(known[stack]));
      forward(repeat.getBody().front());
      unsigned carried = repeat.getNumCarried();
      for (auto [i, result] : llvm::enumerate(repeat.getResults())) {
        Value yielded = repeat.getYield()->getOperand(i);
        if (i < carried) {
          // A single iteration may leave what it carries as it likes.
          Value left = repeat.getCount() == 1
                           ? yielded
                           : Value(repeat.getCarriedArgs()[i]);
          if (known.count(left))
            know(result, known[left]);
        } else if (known.count(yielded))
          know(result, withLeading(known[yielded]));
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
    // States decide over parameters: that is how a sharded optimizer is told
    // from a replicated one.
    SmallVector<unsigned> order;
    bool update = getPhase(&op) == Phase::Update;
    for (unsigned i = 0, e = op.getNumOperands(); i < e; ++i)
      order.push_back(i);
    if (update && order.size() > 2)
      std::rotate(order.begin(), order.begin() + 2, order.end());
    for (unsigned i : order)
      if (known.count(op.getOperand(i)))
        adopt(&op, found->second.getSpace().operands[i],
              known[op.getOperand(i)], {Source::Operand, i});
    for (auto [result, dims] :
         llvm::zip(op.getResults(), found->second.getSpace().results))
      know(result, found->second.getDimAxes(dims));
  }
}

/// Producers take what their readers want, where they are still free.
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
            {Source::Reader, reader->second, reader->first});
    }
  }
}

/// Whether `a` comes before `b` in the text, at any depth of regions.
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

/// A parameter is stored as its first reader uses it, its state likewise.
void Propagation::placeArguments() {
  for (BlockArgument argument : function.getArguments()) {
    auto reader = firstReader(argument);
    if (!reader)
      continue;
    const Partitioning &part = parts.find(reader->first)->second;
    DimAxes dims = part.getDimAxes(part.getSpace().operands[reader->second]);
    auto rank = cast<RankedTensorType>(argument.getType()).getRank();
    while (static_cast<int64_t>(dims.size()) < rank)
      dims = withLeading(dims);
    know(argument, dims);
  }
}

/// What is wrong with the ring of a partition; empty if nothing is.
std::string Propagation::checkRing(IterationSpaceOpInterface op,
                                   const Partitioning &part) {
  ArrayRef<nn::Iterator> iterators = part.getSpace().iterators;
  StringRef name = iterators[*part.getRing()].name;
  auto ring = dyn_cast<nn::RingOpInterface>(op.getOperation());
  if (!ring || ring.getRingIterator() != name)
    return llvm::formatv("the parts of iterator '{0}' can't go round a ring: "
                         "those of the keys of an attention can; drop 'ring'",
                         name);
  // Otherwise every device would do the same work on every part.
  for (Axis axis : part.getAxes(*part.getRing()))
    if (llvm::none_of(llvm::seq<unsigned>(0, iterators.size()), [&](auto i) {
          return i != *part.getRing() &&
                 llvm::is_contained(part.getAxes(i), axis);
        }))
      return llvm::formatv("the parts of iterator '{0}' go round a ring over "
                           "axis '{1}', which splits nothing else; split 'seq' "
                           "over it as well",
                           name, mesh.getName(axis));
  return "";
}

/// An observer takes the partition of the operation for which the value it
/// looks at is meant, so that the value is converted once for both.
void Propagation::placeObservers() {
  for (auto &[op, part] : parts) {
    if (!isObserver(op))
      continue;
    // Layers are looked at one by one: the stack they are in has the reader.
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
            Source{Source::Reader, reader->second, reader->first});
      }
  }
}

/// What is wrong with a partition; empty if nothing is.
std::string Propagation::check(IterationSpaceOpInterface op,
                               const Partitioning &part) {
  ArrayRef<nn::Iterator> iterators = part.getSpace().iterators;
  SmallVector<std::optional<unsigned>> owner(mesh.getNumAxes());
  for (auto [i, iterator] : llvm::enumerate(iterators)) {
    const AxisList &axes = part.getAxes(i);
    if (axes.empty())
      continue;
    StringRef name = iterator.name;
    std::string over = mesh.format(axes);
    for (Axis axis : axes) {
      if (owner[axis] && !part.mayShareAxis(*owner[axis], i))
        return llvm::formatv("axis '{0}' splits both '{1}' and '{2}'; an axis "
                             "may split one iterator of an operation",
                             mesh.getName(axis), iterators[*owner[axis]].name,
                             name);
      owner[axis] = i;
    }
    bool isRing = part.getRing() == i;
    if (std::string problem = isRing ? checkRing(op, part) : "";
        !problem.empty())
      return problem;
    if (!isRing && !isSplittable(op, iterator))
      return llvm::formatv("iterator '{0}' can't be split (over {1}): the "
                           "operation needs it whole; split another iterator",
                           name, over);
    int64_t size = iterator.size, count = mesh.getSize(axes);
    if (count > size)
      return llvm::formatv(
          "iterator '{0}' has size {1} and can't be split into "
          "{2} parts over {3}; use fewer devices there, or split another "
          "iterator",
          name, size, count, over);
    if (axes.zigzag && llvm::is_contained(axes, dist::microAxis))
      return llvm::formatv("iterator '{0}' can't be dealt out in a zigzag: "
                           "micro-batches cut it in order; use one "
                           "micro-batch, or contiguous parts",
                           name);
    if (axes.zigzag && size % (2 * count) != 0)
      return llvm::formatv("iterator '{0}' of size {1} can't be dealt out in a "
                           "zigzag over {2}: that takes {3} equal chunks; "
                           "change its size, or use contiguous parts",
                           name, size, over, 2 * count);
    if (isFused(part.getSpace(), i) && size % count != 0)
      return llvm::formatv(
          "iterator '{0}' of size {1} is part of a fused "
          "dimension and can't be split into {2} unequal parts "
          "over {3}",
          name, size, count, over);
    if (llvm::is_contained(axes, dist::microAxis) && iterator.isCompound())
      return llvm::formatv("iterator '{0}' is reduced within the operation and "
                           "can't span micro-batches; use one micro-batch, or "
                           "statistic groups that are a multiple of "
                           "micro-batches times devices",
                           name);
    if (llvm::is_contained(axes, dist::microAxis) && size % count != 0)
      return llvm::formatv("iterator '{0}' of size {1} can't be cut into {2} "
                           "equal parts: micro-batches times devices over {3}; "
                           "change the batch or the micro-batches",
                           name, size, count, over);
    if (isMinorInResult(part.getSpace(), i))
      return llvm::formatv("iterator '{0}' is a minor part of a fused "
                           "dimension of the result and can't be split",
                           name);
  }
  return "";
}

/// The nn and linalg operations of the forward pass, by path.
static std::string listOperations(func::FuncOp function) {
  constexpr size_t most = 8;
  llvm::SetVector<StringAttr> paths;
  function.walk([&](IterationSpaceOpInterface op) {
    if (getPhase(op) == Phase::Forward)
      paths.insert(StringAttr::get(op->getContext(), nn::getPath(op)));
  });
  std::string list;
  for (StringAttr path : paths.getArrayRef().take_front(most))
    list += (list.empty() ? "'" : ", '") + path.str() + "'";
  if (paths.size() > most)
    list += " and " + std::to_string(paths.size() - most) + " more";
  return list;
}

/// Devices that a strategy gives nothing of their own to do are a mistake: all
/// of them, an error; those along one axis, a warning.
LogicalResult Propagation::checkUse() {
  std::vector<bool> used(mesh.getNumAxes(), false);
  used[dist::microAxis] = true;
  if (auto axis = function->getAttrOfType<StringAttr>(kPipelineAxisAttr))
    used[*mesh.find(axis.getValue())] = true;
  auto mark = [&](ArrayRef<Axis> axes) {
    for (Axis axis : axes)
      used[axis] = true;
  };
  for (auto &[op, part] : parts) {
    for (auto [axis, position] : part.getPlace())
      used[axis] = true;
    for (unsigned i = 0; i < part.getSpace().iterators.size(); ++i)
      mark(part.getAxes(i));
  }
  for (BlockArgument argument : function.getArguments())
    for (const AxisList &axes : known.lookup(argument))
      mark(axes);
  SmallVector<Axis> idle;
  bool anyUsed = false;
  for (Axis axis = 1; axis < mesh.getNumAxes(); ++axis) {
    if (mesh.getSize(axis) == 1)
      continue;
    anyUsed |= used[axis];
    if (!used[axis])
      idle.push_back(axis);
  }
  if (idle.empty())
    return success();
  if (anyUsed) {
    for (Axis axis : idle)
      function.emitWarning("nothing is split over axis '")
          << mesh.getName(axis) << "' of size " << mesh.getSize(axis)
          << ": its devices all do the same; split an iterator over it or "
             "leave it out of the mesh";
    return success();
  }
  InFlightDiagnostic diagnostic =
      function.emitOpError("the strategy splits no operation, so every one of "
                           "the ")
      << mesh.getNumDevices()
      << " devices would do all the work; set a partition, such as "
         "'split op [batch -> "
      << mesh.getName(idle.front()) << "]'";
  diagnostic.attachNote() << "operations without a setting: "
                          << listOperations(function);
  return diagnostic;
}

void Propagation::remarkConflicts() {
  function.walk([&](IterationSpaceOpInterface op) {
    // Gradients repeat what their operations do.
    if (getPhase(op) != Phase::Forward)
      return;
    const Partitioning &part = parts.find(op)->second;
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      // How an argument is stored is not a wish about who reads it.
      if (!operand.get().getDefiningOp() || !known.count(operand.get()))
        continue;
      for (auto [dim, axes] :
           llvm::zip(part.getSpace().operands[number], known[operand.get()])) {
        auto iterator = Partitioning::majorIterator(dim);
        if (!iterator || axes.empty() || fixed[op].contains(*iterator))
          continue;
        ArrayRef<Axis> taken = part.getAxes(*iterator);
        auto found = sources.find({op, *iterator});
        if (taken.empty() || taken == ArrayRef<Axis>(axes) ||
            found == sources.end())
          continue;
        InFlightDiagnostic remark =
            op->emitRemark("operand ")
            << number << " comes split over " << mesh.format(axes) << " along '"
            << part.getSpace().iterators[*iterator].name << "', but ";
        if (found->second.kind == Source::Operand)
          remark << "operand " << found->second.number << " comes first";
        else
          remark << "its reader '" << nn::getPath(found->second.op)
                 << "' comes first";
        remark << " with " << mesh.format(taken) << ": operand " << number
               << " is converted; set the iterator in the tree to decide "
                  "otherwise";
      }
    }
  });
}

void Propagation::explain() {
  function.walk([&](IterationSpaceOpInterface op) {
    const Partitioning &part = parts.find(op)->second;
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (auto [i, iterator] : llvm::enumerate(part.getSpace().iterators)) {
      if (part.getAxes(i).empty())
        continue;
      stream << (text.empty() ? "" : "; ") << iterator.name << " over "
             << mesh.format(part.getAxes(i));
      auto found = sources.find({op, i});
      if (found == sources.end())
        stream << " as the tree says";
      else if (found->second.kind == Source::Operand)
        stream << " like operand " << found->second.number;
      else
        stream << " for its reader '" << nn::getPath(found->second.op) << "'";
    }
    op->emitRemark(text.empty() ? "whole on every device" : text);
  });
}

SmallVector<nn::RepeatOp> Propagation::getUnsettledRepeats() {
  SmallVector<nn::RepeatOp> unsettled;
  for (auto repeat : function.getOps<nn::RepeatOp>()) {
    if (repeat.getCount() == 1)
      continue;
    for (auto [argument, yielded] :
         llvm::zip(repeat.getCarriedArgs(), repeat.getYield()->getOperands()))
      if (known.lookup(argument) != known.lookup(yielded)) {
        unsettled.push_back(repeat);
        break;
      }
  }
  return unsettled;
}

LogicalResult Propagation::annotate() {
  if (failed(checkUse()))
    return failure();
  BatchAnalysis batch(function);
  AxisList micro;
  if (mesh.micro > 1)
    micro.push_back(dist::microAxis);

  // The same mistake shows in many operations, gradients among them: it is
  // reported once, at the first.
  llvm::MapVector<StringAttr, SmallVector<Operation *>> offenders;
  function.walk([&](IterationSpaceOpInterface op) {
    Partitioning &part = parts.find(op)->second;
    if (auto iterator = batch.getIterator(op); iterator && !micro.empty()) {
      AxisList axes = part.getAxes(*iterator);
      axes.insert(axes.begin(), micro.begin(), micro.end());
      part.setAxes(*iterator, axes);
    }
    std::string problem = check(op, part);
    if (problem.empty())
      part.annotate(mesh);
    else
      offenders[StringAttr::get(op->getContext(), problem)].push_back(op);
  });
  for (auto &[problem, operations] : offenders) {
    InFlightDiagnostic diagnostic =
        operations.front()->emitOpError(problem.getValue());
    if (operations.size() > 1)
      diagnostic.attachNote()
          << "and in " << operations.size() - 1 << " other operations";
  }
  if (!offenders.empty())
    return failure();

  ArgumentAttrChanges layouts;
  for (BlockArgument argument : function.getArguments()) {
    unsigned rank = cast<RankedTensorType>(argument.getType()).getRank();
    dist::Layout layout(rank);
    auto found = known.find(argument);
    if (found != known.end())
      layout.dims.assign(found->second.begin(), found->second.end());
    if (auto dim = batch.getDimension(argument); dim && !micro.empty())
      layout.dims[*dim].insert(layout.dims[*dim].begin(), dist::microAxis);
    Place place = getPlace(getArgumentAttr(argument, kPlaceAttr), mesh);
    layout.fixed.assign(place.begin(), place.end());
    layouts.set(argument, kLayoutAttr, dist::LayoutAttr::get(meshAttr, layout));
  }
  layouts.apply(function);
  return success();
}

LogicalResult Propagation::solve() {
  if (failed(seed()))
    return failure();
  do {
    changed = false;
    placeArguments();
    forward(function.front());
    backward(function.front());
  } while (changed);
  placeObservers();
  return success();
}

FailureOr<SmallVector<nn::RepeatOp>>
proteus::findUnsettledRepeats(func::FuncOp function, dist::MeshAttr mesh) {
  Propagation propagation(function, mesh);
  if (failed(propagation.solve()))
    return failure();
  return propagation.getUnsettledRepeats();
}

namespace {
class PropagateStrategy
    : public proteus::impl::PropagateStrategyBase<PropagateStrategy> {
public:
  using PropagateStrategyBase::PropagateStrategyBase;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto mesh = function->getAttrOfType<dist::MeshAttr>(kMeshAttr);
    if (!mesh)
      return;
    Propagation propagation(function, mesh);
    if (failed(propagation.solve()))
      return signalPassFailure();
    if (explain)
      propagation.explain();
    propagation.remarkConflicts();
    if (failed(propagation.annotate()))
      return signalPassFailure();
  }
};
} // namespace
