//===- TreeAnnotations.cpp - annotations from settings of a tree ----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TreeMatcher.h"

#include "Proteus/Transforms/Common/KeepLayout.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Proteus/Proteus.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::match;
using proteus::Path;

/// Returns true if `item` belongs to a parameter: its weight, gradient or
/// state.
static bool isOfParameter(strategy::ItemAttr item) {
  return item.getKind() == strategy::ItemKind::Weight ||
         item.getKind() == strategy::ItemKind::Gradient ||
         item.getKind() == strategy::ItemKind::State;
}

/// Removes from `unusedItems` the splits that apply to one tensor: an operand
/// or result, with the iterators `dims`, of the operation at `path`. Considers
/// only splits of items for which `isMeant` returns true.
void TreeMatcher::markUsed(
    const Path &path, const nn::IterationSpace &space,
    const nn::TensorIterators &dims,
    llvm::function_ref<bool(strategy::ItemAttr)> isMeant) {
  unusedItems.remove_if([&](std::pair<Operation *, Attribute> entry) {
    auto part = cast<strategy::PartAttr>(entry.second);
    auto split = cast<strategy::SplitOp>(entry.first);
    auto node = llvm::find_if(nodes, [&](const Node &other) {
      return other.op == split->getParentOp();
    });
    if (!isMeant(split.getItem()) || !node->select(path))
      return false;
    if (part.isFlat())
      return !dims.empty();
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      if (isAbout(part, space, dims, dim))
        return true;
    return false;
  });
}

/// Returns the names of `axes` as an array.
static ArrayAttr namesOf(MLIRContext *context, ArrayRef<StringAttr> axes) {
  SmallVector<Attribute> names(axes.begin(), axes.end());
  return ArrayAttr::get(context, names);
}

/// Annotates the parameter that `operand` reads with the layouts in which the
/// parameter, its gradient and its state are stored. A layout is written as
/// axes per dimension and a flat cut, or as a flat cut of the block that
/// operations read. Also annotates whether the parameter or its state is kept
/// in host memory.
LogicalResult TreeMatcher::annotateParameter(OpOperand &operand,
                                             const nn::IterationSpace &space,
                                             const Settings &settings) {
  auto [argument, stacks] = getParameter(operand.get());
  if (!argument)
    return success();
  if (strategy::OffloadOp offload = settings.offload) {
    auto unit = UnitAttr::get(context);
    if (offload.getWeight())
      argumentAttrs.set(argument, getHostAttrName(strategy::ItemKind::Weight),
                        unit);
    if (offload.getState())
      argumentAttrs.set(argument, getHostAttrName(strategy::ItemKind::State),
                        unit);
  }
  const nn::TensorIterators &dims = space.operands[operand.getOperandNumber()];
  llvm::MapVector<strategy::ItemKind, SmallVector<Attribute>> axes;
  llvm::MapVector<strategy::ItemKind, strategy::PartAttr> flats;
  for (auto &[key, setting] : settings.items) {
    if (!isOfParameter(key.first))
      continue;
    auto [part, split] = setting;
    if (part.isFlat()) {
      // An empty list of axes ends the cut of an enclosing node.
      if (!dims.empty() && !part.getAxes().empty()) {
        flats[key.first.getKind()] = part;
        axes[key.first.getKind()];
      }
      continue;
    }
    for (unsigned dim = 0; dim < dims.size(); ++dim) {
      if (!isAbout(part, space, dims, dim))
        continue;
      auto &list = axes[key.first.getKind()];
      list.resize(dims.size());
      if (list[dim])
        return split.emitOpError("dimension ")
               << dim << " of '" << getArgumentPath(argument)
               << "' is set twice, by number and by iterator";
      list[dim] = namesOf(context, part.getAxes());
    }
  }
  for (auto &[kind, list] : axes) {
    for (Attribute &entry : list)
      if (!entry)
        entry = ArrayAttr::get(context, {});
    // The leading dimensions of a stacked parameter are never split, because
    // they count layers.
    if (!list.empty())
      list.insert(list.begin(), stacks, ArrayAttr::get(context, {}));
    if (strategy::PartAttr flat = flats.lookup(kind)) {
      bool hasRows = flat.getIterator() == strategy::kFlatRowsKey;
      list.push_back(strategy::FlatAttr::get(
          context, namesOf(context, flat.getAxes()), stacks,
          hasRows ? std::nullopt : std::optional<int64_t>(1)));
    }
    StringRef name = getStorageAttrName(kind);
    auto storage = ArrayAttr::get(context, list);
    Attribute other = argumentAttrs.get(argument, name);
    if (other && other != storage)
      return operand.getOwner()->emitOpError("stores '")
             << getArgumentPath(argument) << "' as " << storage
             << ", but another reader stores it as " << other
             << "; set one storage for all its readers";
    argumentAttrs.set(argument, name, storage);
  }
  return success();
}

/// Converts splits to axes per dimension: the splits of the first result, of
/// its gradient, and of operands that are kept for the backward pass. Adds the
/// axes of the result to `outputs`, and annotates `op` with the others.
LogicalResult TreeMatcher::annotateActivations(Operation *op,
                                               const nn::IterationSpace &space,
                                               const Settings &settings) {
  auto partitionOf = [&](strategy::ItemAttr item,
                         const nn::TensorIterators &dims) {
    return partitionByDimension(context, settings.partsOf(item), space, dims);
  };
  using strategy::ItemKind;
  if (op->getNumResults() > 0) {
    auto output = strategy::ItemAttr::get(context, ItemKind::Output);
    if (auto partition = partitionOf(output, space.results[0]);
        !partition.getParts().empty())
      outputs.push_back({op, partition});
    auto gradient = strategy::ItemAttr::get(context, ItemKind::OutputGradient);
    if (auto partition = partitionOf(gradient, space.results[0]);
        !partition.getParts().empty())
      op->setDiscardableAttr(kOutputGradientAttr, partition);
  }
  Builder builder(context);
  SmallVector<Attribute> inputs;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    auto item = strategy::ItemAttr::get(context, ItemKind::Input, number);
    auto partition = partitionOf(item, space.operands[number]);
    if (partition.getParts().empty())
      continue;
    Operation *producer = operand.get().getDefiningOp();
    StringAttr group = getRecomputeGroup(op);
    if (group && producer && getRecomputeGroup(producer) == group)
      return op->emitOpError("operand ")
             << number << " is kept for the backward pass by a split of 'input "
             << number << "', but it is computed again with '"
             << group.getValue() << "'; remove the split or recompute less";
    inputs.push_back(
        builder.getArrayAttr({builder.getI64IntegerAttr(number), partition}));
  }
  if (!inputs.empty())
    op->setDiscardableAttr(kInputsAttr, builder.getArrayAttr(inputs));
  return success();
}

/// Returns the name of the recompute group of `op`: the module named by the
/// first `length` components of its path. Repeated layers inside that module
/// are recomputed one by one: each iteration of a repeat is a group, and so is
/// each layer that is written out, such as `layers[3]`.
static std::string recomputeGroup(Operation *op, const Path &path,
                                  size_t length, StringRef model) {
  size_t own = 1;
  if (llvm::Expected<Path> parsed = parsePath(nn::getOwnPath(op)))
    own = parsed->size();
  else
    llvm::consumeError(parsed.takeError());
  if (auto repeat = op->getParentOfType<nn::RepeatOp>()) {
    std::string group = (repeat.getPath() + "[*]").str();
    size_t outside = path.size() - own;
    if (length > outside)
      group += "." + proteus::toString(
                         ArrayRef(path).slice(outside, length - outside));
    return group;
  }
  for (size_t i = length; i < path.size(); ++i)
    if (path[i].index)
      length = i + 1;
  return length == 0 ? model.str()
                     : proteus::toString(ArrayRef(path).take_front(length));
}

LogicalResult TreeMatcher::annotateOp(Operation *op,
                                      const BatchAnalysis &batch) {
  Path path = pathOf(op, firstIterations(op));
  Settings settings = settingsOf(path);
  nn::IterationSpace space =
      cast<nn::IterationSpaceOpInterface>(op).getIterationSpace();

  SmallVector<strategy::PartAttr> parts;
  for (auto &[key, part] : settings.op) {
    // The key `batch` selects the iterator over the batch of the inputs, even
    // if that iterator has another name.
    std::optional<unsigned> iterator =
        key == "batch" ? batch.getIterator(op) : space.find(key);
    if (!iterator)
      continue;
    for (Node &node : nodes)
      if (node.unusedKeys.contains(key) && node.select(path))
        node.unusedKeys.remove(key);
    // A split by the name of the iterator overrides a split by `batch`.
    StringRef name = space.iterators[*iterator].name;
    if (key == "batch" && name != key && settings.op.count(name))
      continue;
    parts.push_back(strategy::PartAttr::get(
        context, StringAttr::get(context, name), part.getAxes(),
        part.getZigzag(), part.getRing()));
  }
  if (!parts.empty())
    op->setDiscardableAttr(kOpAttr,
                           strategy::PartitionAttr::get(context, parts));
  if (settings.place)
    op->setDiscardableAttr(
        settings.place->anyChunk ? kPositionAttr : kStageAttr,
        Builder(context).getI64IntegerAttr(settings.place->stage));
  if (!settings.fixed.empty()) {
    SmallVector<Attribute> place;
    for (auto &[axis, coordinate] : settings.fixed)
      if (*tree.getMesh().getAxisSize(axis) > 1)
        place.push_back(coordinate);
    if (!place.empty())
      op->setDiscardableAttr(kPlaceAttr, ArrayAttr::get(context, place));
  }
  if (settings.recompute) {
    if (!isMemoryEffectFree(op)) {
      InFlightDiagnostic diagnostic =
          op->emitOpError("has side effects, so it can't be recomputed: they "
                          "would happen twice; select modules without it");
      diagnostic.attachNote(settings.recomputeOp.getLoc())
          << "it is recomputed because of this";
      return diagnostic;
    }
    op->setDiscardableAttr(
        kRecomputeAttr,
        StringAttr::get(context, recomputeGroup(op, path, *settings.recompute,
                                                function.getName())));
  }
  Builder builder(context);
  if (settings.prefetchDepth)
    op->setDiscardableAttr(kPrefetchAttr,
                           builder.getI64IntegerAttr(*settings.prefetchDepth));
  if (settings.keepGathered)
    op->setDiscardableAttr(kKeepGatheredAttr, builder.getUnitAttr());
  if (settings.gatherOnce)
    op->setDiscardableAttr(kGatherOnceAttr, builder.getUnitAttr());
  idle.read(op);
  for (Operation *setting : {settings.prefetchDepthOp.getOperation(),
                             settings.keepGatheredOp.getOperation(),
                             settings.offload.getOperation()})
    if (setting)
      idle.hold(setting, op);
  if (settings.offload && settings.offload.getActivation())
    op->setDiscardableAttr(kOffloadAttr, builder.getUnitAttr());
  if (failed(annotateActivations(op, space, settings)))
    return failure();
  if (op->getNumResults() > 0)
    markUsed(path, space, space.results[0], [](strategy::ItemAttr item) {
      return item.getKind() == strategy::ItemKind::Output ||
             item.getKind() == strategy::ItemKind::OutputGradient;
    });
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    markUsed(path, space, space.operands[number], [&](strategy::ItemAttr item) {
      return item.getOperand() == static_cast<int64_t>(number);
    });
    if (failed(annotateParameter(operand, space, settings)))
      return failure();
    if (!getParameter(operand.get()).first)
      continue;
    markUsed(path, space, space.operands[number], isOfParameter);
  }
  return success();
}

/// Traces `value` out of the repeats around it to a function argument: `value`
/// itself, the stack of which it is a slice, or the initial value of a carried
/// value. Returns null if this does not lead to a function argument.
static BlockArgument argumentBehind(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto repeat = dyn_cast<nn::RepeatOp>(argument.getOwner()->getParentOp());
    if (!repeat)
      return argument;
    value = repeat->getOperand(argument.getArgNumber());
  }
  return {};
}

/// Annotates each argument with the coordinates of its readers if all readers
/// have the same ones. Emits an error if the readers of a parameter have
/// different coordinates. Any other argument, such as an input, is held by all
/// devices if its readers have different coordinates.
LogicalResult TreeMatcher::placeArguments() {
  struct Readers {
    Operation *first;
    bool agree = true;
  };
  llvm::MapVector<Value, Readers> readers;
  WalkResult result = function.walk([&](nn::IterationSpaceOpInterface op) {
    for (Value operand : op->getOperands()) {
      BlockArgument argument = argumentBehind(operand);
      if (!argument)
        continue;
      Readers &known = readers.insert({argument, {op}}).first->second;
      if (known.first->getAttr(kPlaceAttr) == op->getAttr(kPlaceAttr))
        continue;
      known.agree = false;
      if (getRole(argument) != nn::Role::Parameter)
        continue;
      InFlightDiagnostic diagnostic =
          op->emitOpError("reads '")
          << getArgumentPath(argument)
          << "' at other coordinates than its first reader; give every "
             "coordinate its own copy";
      diagnostic.attachNote(known.first->getLoc()) << "first read here";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (auto &[argument, known] : readers)
    if (Attribute place = known.first->getAttr(kPlaceAttr);
        place && known.agree)
      argumentAttrs.set(cast<BlockArgument>(argument), kPlaceAttr, place);
  return success();
}

LogicalResult TreeMatcher::annotate() {
  BatchAnalysis batch(function);
  WalkResult result = function.walk([&](Operation *op) {
    if (isModelOp(op) && failed(annotateOp(op, batch)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (auto [op, partition] : outputs) {
    OpBuilder builder(context);
    builder.setInsertionPointAfter(op);
    nn::KeepOp keep = buildKeep(builder, op, op->getResult(0), partition);
    for (StringRef name : {kRecomputeAttr, kOffloadAttr})
      if (Attribute value = op->getAttr(name))
        keep->setDiscardableAttr(name, value);
    op->getResult(0).replaceAllUsesExcept(keep.getResult(), keep);
  }
  return success();
}

LogicalResult TreeMatcher::reportUnused() {
  bool failed = mlir::failed(idle.report(function));
  for (auto [op, part] : unusedItems) {
    strategy::ItemAttr item = cast<strategy::SplitOp>(op).getItem();
    op->emitOpError("no ")
        << (isOfParameter(item) ? "parameter"
            : item.getOperand() ? "operand of that number"
                                : "first result")
        << " of the operations it selects has the dimension or iterator of "
        << part;
    failed = true;
  }
  // If a node selects nothing, the nodes inside it select nothing either. Only
  // the outer node is reported. It is visited first, because `nodes` is in
  // pre-order.
  DenseSet<Operation *> withoutOperations;
  for (Node &node : nodes) {
    if (!node.selects && node.pattern) {
      withoutOperations.insert(node.op);
      if (withoutOperations.contains(node.op->getParentOp()))
        continue;
      InFlightDiagnostic diagnostic = node.op->emitOpError("the pattern '")
                                      << node.pattern->str()
                                      << "' selects no operation of @"
                                      << function.getName();
      std::string known;
      llvm::SetVector<StringRef> names;
      SmallVector<std::string> texts;
      function.walk([&](Operation *op) {
        if (isModelOp(op))
          texts.push_back(nn::getPath(op));
      });
      for (StringRef text : texts)
        names.insert(text.split('.').first);
      for (StringRef name : names.getArrayRef().take_front(12))
        known += (known.empty() ? "" : ", ") + name.str();
      diagnostic.attachNote(function.getLoc())
          << "the modules of the model are: " << known
          << (names.size() > 12 ? ", ..." : "");
      failed = true;
      continue;
    }
    for (StringRef key : node.unusedKeys) {
      InFlightDiagnostic diagnostic =
          node.op->emitOpError("no operation it selects has an iterator '")
          << key << "'";
      if (key == "batch")
        diagnostic << ": the batch of the inputs reaches none of them";
      SetVector<StringAttr> names;
      function.walk([&](Operation *op) {
        if (isModelOp(op) && node.select(pathOf(op, firstIterations(op))))
          for (const nn::Iterator &iterator :
               cast<nn::IterationSpaceOpInterface>(op)
                   .getIterationSpace()
                   .iterators)
            if (iterator.isSplittable())
              names.insert(StringAttr::get(context, iterator.name));
      });
      std::string known;
      for (StringAttr name : names)
        known += (known.empty() ? "" : ", ") + name.str();
      diagnostic.attachNote() << "iterators that can be split: " << known;
      failed = true;
    }
  }
  return failure(failed);
}
