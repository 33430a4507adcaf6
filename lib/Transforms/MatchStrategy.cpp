//===- MatchStrategy.cpp - the strategy tree, op by op ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IdleSettings.h"
#include "InferStages.h"
#include "KeepLayout.h"
#include "RefineMesh.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Dialect/Strategy/PathPattern.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/BatchAnalysis.h"
#include "Proteus/Transforms/ClusterAttr.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/Schedules.h"
#include "Proteus/Transforms/SplitRepeat.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace proteus {
#define GEN_PASS_DEF_MATCHSTRATEGY
#include "Proteus/Transforms/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using strategy::Path;
using strategy::PathPattern;

/// Every micro-batch is an entry of a schedule; more than this is a mistake.
static constexpr int64_t maxMicroBatches = 100000;

namespace {

//===----------------------------------------------------------------------===//
// The tree as a list
//===----------------------------------------------------------------------===//

/// A node of the tree (or the tree itself, which selects everything) with what
/// it sets.
struct Node {
  Operation *op = nullptr;
  /// Absent for the tree.
  std::optional<PathPattern> pattern;
  SmallVector<strategy::SplitOp> splits;
  strategy::AtOp at;
  strategy::StagesOp stages;
  strategy::RecomputeOp recompute;
  strategy::PrefetchOp prefetch;
  strategy::OffloadOp offload;
  /// Whether any operation was selected.
  bool selects = false;
  /// Iterator names that no selected operation has so far.
  llvm::SetVector<StringRef> unusedKeys;
  /// Stage of each matched module, for `stages`.
  llvm::MapVector<StringAttr, int64_t> moduleStage;

  /// Components of `path` that name the selected module; none if not selected.
  std::optional<size_t> select(const Path &path) const {
    return pattern ? pattern->matchLength(path) : std::optional<size_t>(0);
  }
};

/// Where the tree puts an operation: at a virtual stage, or at a stage in
/// whichever chunk the data flow allows.
struct Place {
  int64_t stage;
  bool anyChunk;

  bool operator==(const Place &other) const {
    return stage == other.stage && anyChunk == other.anyChunk;
  }
  bool operator!=(const Place &other) const { return !(*this == other); }
};

/// What the tree says about one operation.
struct Settings {
  llvm::MapVector<StringRef, strategy::PartAttr> op;
  /// Memory items: by item and key (iterator or dimension), the axes and who
  /// set them.
  llvm::MapVector<std::pair<strategy::ItemAttr, Attribute>,
                  std::pair<strategy::PartAttr, strategy::SplitOp>>
      items;
  std::optional<Place> place;
  /// Positions on axes other than that of the pipeline, by axis.
  llvm::MapVector<StringRef, strategy::CoordinateAttr> fixed;
  /// How many leading components of the path name the recomputed module, and
  /// who says that it is recomputed.
  std::optional<size_t> recompute;
  strategy::RecomputeOp recomputeOp;
  std::optional<int64_t> prefetchDepth;
  bool keepGathered = false, gatherOnce = false;
  /// Who sets the depth, and who the others.
  strategy::PrefetchOp prefetchDepthOp, keepGatheredOp;
  /// What lies in host memory; null if nothing does.
  strategy::OffloadOp offload;

  /// The parts that are set for one item.
  SmallVector<strategy::PartAttr> partsOf(strategy::ItemAttr item) const {
    SmallVector<strategy::PartAttr> parts;
    for (auto &[key, setting] : items)
      if (key.first == item)
        parts.push_back(setting.first);
    return parts;
  }
};

/// Matches a tree against its model.
class Matcher {
public:
  Matcher(strategy::TreeOp tree, func::FuncOp function)
      : tree(tree), function(function), context(tree.getContext()) {}

  LogicalResult run();

private:
  LogicalResult checkModel();
  LogicalResult collect(Operation *op);
  LogicalResult findPipelineAxis();
  LogicalResult assignModulesToStages();
  FailureOr<SmallVector<int64_t>> runLengths(strategy::StagesOp stages,
                                             int64_t count);
  LogicalResult splitRepeats();
  LogicalResult annotate();
  LogicalResult placeArguments();
  LogicalResult annotateOp(Operation *op, const BatchAnalysis &batch);
  LogicalResult annotateParameter(OpOperand &operand,
                                  const nn::IterationSpace &space,
                                  const Settings &settings);
  LogicalResult annotateActivations(Operation *op,
                                    const nn::IterationSpace &space,
                                    const Settings &settings);
  void markUsed(const Path &path, const nn::IterationSpace &space,
                const nn::TensorIterators &dims,
                llvm::function_ref<bool(strategy::ItemAttr)> isMeant);
  LogicalResult reportUnused();
  Settings settingsOf(const Path &path);
  /// Where the tree puts an operation; nearest wins.
  std::optional<Place> placeOf(const Path &path);
  LogicalResult readSchedule();
  FailureOr<ArrayAttr> readOrders(int64_t numStages);
  /// The number of chunks per stage.
  int64_t getNumChunks() {
    strategy::ScheduleOp schedule = tree.getSchedule();
    return schedule ? schedule.getVirtualStages().value_or(1) : 1;
  }
  /// The number of stages; 1 without a pipeline.
  int64_t getNumStages() {
    return pipelineAxis.empty() ? 1 : *tree.getMesh().getAxisSize(pipelineAxis);
  }
  SmallVector<std::pair<Path, Operation *>> modulePaths();

  strategy::TreeOp tree;
  func::FuncOp function;
  MLIRContext *context;
  std::vector<Node> nodes;
  /// Memory items, part by part, that concern no tensor so far.
  llvm::SetVector<std::pair<Operation *, Attribute>> unusedItems;
  /// Prefetches and offloads, and what they are about.
  IdleSettings idle;
  /// Results that are kept in a layout of their own.
  SmallVector<std::pair<Operation *, strategy::PartitionAttr>> outputs;
  /// What the tree says about arguments of the function.
  ArgumentAttrChanges argumentAttrs;
  /// Axis along which stages lie; empty without a pipeline.
  std::string pipelineAxis;
  /// Axes that splits name. On them `at` places single operations among
  /// devices that otherwise share the work; on others it names a stage.
  llvm::SmallDenseSet<StringRef> splitAxes;
};

} // namespace

//===----------------------------------------------------------------------===//
// Paths of operations
//===----------------------------------------------------------------------===//

/// Path of `op` with the iterations of the repeats around it, outermost first,
/// filled in. Paths that don't parse (foreign names) are one component.
static Path pathOf(Operation *op, ArrayRef<int64_t> iterations) {
  Path path;
  SmallVector<nn::RepeatOp> repeats;
  for (auto repeat = op->getParentOfType<nn::RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<nn::RepeatOp>())
    repeats.push_back(repeat);
  auto append = [&](StringRef text) {
    llvm::Expected<Path> parsed = strategy::parsePath(text);
    if (parsed) {
      path.append(parsed->begin(), parsed->end());
      return;
    }
    llvm::consumeError(parsed.takeError());
    path.push_back({text.str(), std::nullopt});
  };
  for (auto [depth, repeat] : llvm::enumerate(llvm::reverse(repeats))) {
    append(repeat.getPath());
    path.back().index = repeat.getFirst() + iterations[depth];
  }
  append(nn::getOwnPath(op));
  return path;
}

/// Iterations 0 of all repeats around `op`.
static SmallVector<int64_t> firstIterations(Operation *op) {
  SmallVector<int64_t> iterations;
  for (auto repeat = op->getParentOfType<nn::RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<nn::RepeatOp>())
    iterations.push_back(0);
  return iterations;
}

static bool isModelOp(Operation *op) {
  return isa<nn::IterationSpaceOpInterface>(op);
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

LogicalResult Matcher::collect(Operation *op) {
  Node node;
  node.op = op;
  if (auto nodeOp = dyn_cast<strategy::NodeOp>(op))
    node.pattern = nodeOp.getFullPattern();
  for (Operation &child : op->getRegion(0).front()) {
    if (auto split = dyn_cast<strategy::SplitOp>(child)) {
      node.splits.push_back(split);
      for (strategy::PartAttr part : split.getPartition().getParts())
        for (StringAttr axis : part.getAxes())
          splitAxes.insert(axis.getValue());
      for (strategy::PartAttr part : split.getPartition().getParts()) {
        if (split.getItem().getKind() == strategy::ItemKind::Op)
          node.unusedKeys.insert(part.getIterator());
        else
          unusedItems.insert({split, part});
      }
    } else if (auto at = dyn_cast<strategy::AtOp>(child)) {
      node.at = at;
    } else if (auto stages = dyn_cast<strategy::StagesOp>(child)) {
      node.stages = stages;
    } else if (auto recompute = dyn_cast<strategy::RecomputeOp>(child)) {
      node.recompute = recompute;
    } else if (auto prefetch = dyn_cast<strategy::PrefetchOp>(child)) {
      node.prefetch = prefetch;
    } else if (auto offload = dyn_cast<strategy::OffloadOp>(child)) {
      node.offload = offload;
    }
  }
  nodes.push_back(std::move(node));
  for (Operation &child : op->getRegion(0).front())
    if (isa<strategy::NodeOp>(child) && failed(collect(&child)))
      return failure();
  return success();
}

LogicalResult Matcher::findPipelineAxis() {
  Operation *first = nullptr;
  auto use = [&](Operation *op, StringRef axis) -> LogicalResult {
    if (pipelineAxis.empty()) {
      pipelineAxis = axis.str();
      first = op;
      return success();
    }
    if (pipelineAxis == axis)
      return success();
    InFlightDiagnostic diagnostic =
        op->emitOpError("places work along the axis '")
        << axis << "', but the pipeline lies along '" << pipelineAxis
        << "'; use one axis for all stages";
    diagnostic.attachNote(first->getLoc()) << "the pipeline axis is set here";
    return diagnostic;
  };
  for (Node &node : nodes) {
    if (node.at)
      for (auto coordinate :
           node.at.getCoordinates().getAsRange<strategy::CoordinateAttr>())
        if (!splitAxes.contains(coordinate.getAxis().getValue()) &&
            failed(use(node.at, coordinate.getAxis())))
          return failure();
    if (node.stages && failed(use(node.stages, node.stages.getAxis())))
      return failure();
  }
  return success();
}

/// All operations of the model with their paths, in the order in which they
/// run; operations in repeats once per iteration.
SmallVector<std::pair<Path, Operation *>> Matcher::modulePaths() {
  SmallVector<std::pair<Path, Operation *>> paths;
  SmallVector<int64_t> iterations;
  std::function<void(Block &)> visit = [&](Block &block) {
    for (Operation &op : block) {
      if (isModelOp(&op))
        paths.push_back({pathOf(&op, iterations), &op});
      if (auto repeat = dyn_cast<nn::RepeatOp>(op))
        for (int64_t i = 0, e = repeat.getCount(); i < e; ++i) {
          iterations.push_back(repeat.getReverse() ? e - 1 - i : i);
          visit(repeat.getBody().front());
          iterations.pop_back();
        }
    }
  };
  visit(function.front());
  return paths;
}

LogicalResult Matcher::assignModulesToStages() {
  SmallVector<std::pair<Path, Operation *>> paths;
  for (Node &node : nodes) {
    if (!node.stages)
      continue;
    if (paths.empty())
      paths = modulePaths();
    SetVector<StringAttr> modules;
    for (auto &[path, op] : paths)
      if (auto length = node.select(path))
        modules.insert(StringAttr::get(
            context, strategy::toString(ArrayRef(path).take_front(*length))));
    if (modules.empty())
      continue; // Reported as a pattern that selects nothing.
    FailureOr<SmallVector<int64_t>> lengths =
        runLengths(node.stages, modules.size());
    if (failed(lengths))
      return failure();
    size_t next = 0;
    for (auto [run, length] : llvm::enumerate(*lengths))
      for (int64_t i = 0; i < length; ++i)
        node.moduleStage[modules[next++]] = run;
  }
  return success();
}

/// How many of `count` modules each run has that `stages` cuts.
FailureOr<SmallVector<int64_t>> Matcher::runLengths(strategy::StagesOp stages,
                                                    int64_t count) {
  int64_t numStages = getNumStages(), numChunks = getNumChunks();
  int64_t runs = numStages * numChunks;
  std::string what = std::to_string(numStages) + " stages";
  if (numChunks > 1)
    what += " of " + std::to_string(numChunks) + " chunks";
  if (std::optional<ArrayRef<int64_t>> counts = stages.getCounts()) {
    int64_t sum = 0;
    for (int64_t length : *counts)
      sum += length;
    if (static_cast<int64_t>(counts->size()) != runs)
      return stages.emitOpError("gives ")
             << counts->size() << " numbers of modules for " << what
             << " along '" << stages.getAxis() << "'; give " << runs;
    if (sum != count)
      return stages.emitOpError("gives numbers of modules that add up to ")
             << sum << ", but its node selects " << count;
    return SmallVector<int64_t>(*counts);
  }
  if (count < runs)
    return stages.emitOpError("cuts ")
           << count << " modules into " << what << " along '"
           << stages.getAxis()
           << "'; use an axis of at most that size, or select more modules";
  SmallVector<int64_t> lengths(runs, count / runs);
  // The remainder goes to the first runs.
  for (int64_t i = 0; i < count % runs; ++i)
    ++lengths[i];
  return lengths;
}

std::optional<Place> Matcher::placeOf(const Path &path) {
  std::optional<Place> place;
  bool anyChunk = getNumChunks() > 1;
  for (Node &node : nodes) {
    if (!node.at && !node.stages)
      continue;
    std::optional<size_t> length = node.select(path);
    if (!length)
      continue;
    if (node.at) {
      for (auto coordinate :
           node.at.getCoordinates().getAsRange<strategy::CoordinateAttr>())
        if (coordinate.getAxis().getValue() == pipelineAxis)
          place = {coordinate.getPosition(), anyChunk};
    } else
      place = {
          node.moduleStage.lookup(StringAttr::get(
              context, strategy::toString(ArrayRef(path).take_front(*length)))),
          false};
  }
  return place;
}

Settings Matcher::settingsOf(const Path &path) {
  Settings settings;
  settings.place = placeOf(path);
  // Nodes are in pre-order: what is further in, or written later, overrides.
  for (Node &node : nodes) {
    std::optional<size_t> length = node.select(path);
    if (!length)
      continue;
    node.selects = true;
    for (strategy::SplitOp split : node.splits)
      for (strategy::PartAttr part : split.getPartition().getParts()) {
        if (split.getItem().getKind() == strategy::ItemKind::Op)
          settings.op[part.getIterator()] = part;
        else
          settings.items[{split.getItem(), part.getKey()}] = {part, split};
      }
    if (node.recompute) {
      settings.recompute = length;
      settings.recomputeOp = node.recompute;
    }
    if (node.at)
      for (auto coordinate :
           node.at.getCoordinates().getAsRange<strategy::CoordinateAttr>())
        if (coordinate.getAxis().getValue() != pipelineAxis)
          settings.fixed[coordinate.getAxis()] = coordinate;
    if (node.prefetch) {
      if (auto depth = node.prefetch.getDepth()) {
        settings.prefetchDepth = *depth;
        settings.prefetchDepthOp = node.prefetch;
      }
      if (auto reshard = node.prefetch.getReshardAfterForward()) {
        settings.keepGathered = !*reshard;
        settings.gatherOnce = false;
        settings.keepGatheredOp = node.prefetch;
      }
      if (node.prefetch.getOnce()) {
        settings.keepGathered = false;
        settings.gatherOnce = true;
        settings.keepGatheredOp = node.prefetch;
      }
      idle.select(node.prefetch);
    }
    if (node.offload) {
      settings.offload =
          node.offload.getNone() ? strategy::OffloadOp() : node.offload;
      if (!node.offload.getNone())
        idle.select(node.offload);
    }
  }
  // At one position of an axis there is nothing to split over it.
  auto elsewhere = [&](strategy::PartAttr part) {
    SmallVector<StringAttr> axes;
    llvm::copy_if(part.getAxes(), std::back_inserter(axes),
                  [&](StringAttr axis) {
                    return !settings.fixed.contains(axis.getValue());
                  });
    return strategy::PartAttr::get(context, part.getKey(), axes,
                                   part.getZigzag() && !axes.empty(),
                                   part.getRing() && !axes.empty());
  };
  if (!settings.fixed.empty()) {
    for (auto &[key, part] : settings.op)
      part = elsewhere(part);
    for (auto &[key, setting] : settings.items)
      setting.first = elsewhere(setting.first);
  }
  return settings;
}

//===----------------------------------------------------------------------===//
// Splitting repeats
//===----------------------------------------------------------------------===//

/// Cuts every repeat where a pattern treats its iterations differently or a
/// stage ends, so that each remaining repeat is treated as one.
LogicalResult Matcher::splitRepeats() {
  SmallVector<nn::RepeatOp> repeats;
  function.walk([&](nn::RepeatOp repeat) { repeats.push_back(repeat); });
  for (nn::RepeatOp repeat : repeats) {
    Path path = pathOf(repeat, firstIterations(repeat));
    int64_t count = repeat.getCount(), first = repeat.getFirst();
    llvm::SetVector<int64_t> cuts;
    for (Node &node : nodes)
      if (node.pattern)
        for (strategy::IndexRange range :
             node.pattern->getUniformRanges(path, first + count))
          if (range.lo > first)
            cuts.insert(range.lo - first);
    size_t depth = firstIterations(repeat).size();
    if (!pipelineAxis.empty())
      repeat.getBody().walk([&](Operation *op) {
        if (!isModelOp(op))
          return;
        // Stages cut where an operation changes its stage.
        SmallVector<int64_t> iterations = firstIterations(op);
        std::optional<Place> previous;
        for (int64_t i = 0; i < count; ++i) {
          iterations[depth] = i;
          std::optional<Place> place = placeOf(pathOf(op, iterations));
          if (i > 0 && place != previous)
            cuts.insert(i);
          previous = place;
        }
      });
    // Nothing tells the iterations of an inner repeat apart, in whichever
    // iteration of the outer one it runs.
    if (auto outer = repeat->getParentOfType<nn::RepeatOp>()) {
      for (int64_t i = 1, e = outer.getCount(); i < e && cuts.empty(); ++i) {
        SmallVector<int64_t> iterations = firstIterations(repeat);
        iterations.back() = i;
        for (Node &node : nodes)
          if (node.pattern &&
              node.pattern
                      ->getUniformRanges(pathOf(repeat, iterations),
                                         first + count)
                      .size() > 1)
            cuts.insert(0);
      }
      if (!cuts.empty())
        return repeat.emitOpError(
            "is inside another repeat, but the strategy treats its iterations "
            "differently; write it out");
      continue;
    }
    if (cuts.empty())
      continue;
    if (auto reason = whyNotSplittable(function, repeat))
      return repeat.emitOpError("must be cut, because the strategy treats its "
                                "iterations differently, but ")
             << *reason;
    SmallVector<int64_t> sorted(cuts.begin(), cuts.end());
    llvm::sort(sorted);
    splitRepeat(function, repeat, sorted);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Annotation
//===----------------------------------------------------------------------===//

/// Whether an item is stored with a parameter.
static bool isOfParameter(strategy::ItemAttr item) {
  return item.getKind() == strategy::ItemKind::Weight ||
         item.getKind() == strategy::ItemKind::Gradient ||
         item.getKind() == strategy::ItemKind::State;
}

/// Removes the items from the unused ones that are set for an operation at
/// `path` and say something about its tensor indexed by `dims`.
void Matcher::markUsed(const Path &path, const nn::IterationSpace &space,
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
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      if (isAbout(part, space, dims, dim))
        return true;
    return false;
  });
}

/// Turns splits of a parameter, its gradient or its state into axes per
/// dimension of the function argument behind the operand.
LogicalResult Matcher::annotateParameter(OpOperand &operand,
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
  for (auto &[key, setting] : settings.items) {
    if (!isOfParameter(key.first))
      continue;
    auto [part, split] = setting;
    for (unsigned dim = 0; dim < dims.size(); ++dim) {
      if (!isAbout(part, space, dims, dim))
        continue;
      auto &list = axes[key.first.getKind()];
      list.resize(dims.size());
      if (list[dim])
        return split.emitOpError("dimension ")
               << dim << " of '" << getArgumentPath(argument)
               << "' is set twice, by number and by iterator";
      SmallVector<Attribute> names(part.getAxes().begin(),
                                   part.getAxes().end());
      list[dim] = ArrayAttr::get(context, names);
    }
  }
  for (auto &[kind, list] : axes) {
    for (Attribute &entry : list)
      if (!entry)
        entry = ArrayAttr::get(context, {});
    // The dimensions of stacks are never split.
    list.insert(list.begin(), stacks, ArrayAttr::get(context, {}));
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

/// Turns splits of operands and results into annotations that later passes
/// read: all by dimension.
LogicalResult Matcher::annotateActivations(Operation *op,
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

/// The group that `op` is recomputed with: the module that the first `length`
/// components of its path name. Layers that the module repeats are recomputed
/// one by one: inside a repeat every iteration is a group of its own, and so is
/// a layer that is written out, `layers[3]`.
static std::string recomputeGroup(Operation *op, const Path &path,
                                  size_t length, StringRef model) {
  size_t own = 1;
  if (llvm::Expected<Path> parsed = strategy::parsePath(nn::getOwnPath(op)))
    own = parsed->size();
  else
    llvm::consumeError(parsed.takeError());
  if (auto repeat = op->getParentOfType<nn::RepeatOp>()) {
    std::string group = (repeat.getPath() + "[*]").str();
    size_t outside = path.size() - own;
    if (length > outside)
      group += "." + strategy::toString(
                         ArrayRef(path).slice(outside, length - outside));
    return group;
  }
  for (size_t i = length; i < path.size(); ++i)
    if (path[i].index)
      length = i + 1;
  return length == 0 ? model.str()
                     : strategy::toString(ArrayRef(path).take_front(length));
}

LogicalResult Matcher::annotateOp(Operation *op, const BatchAnalysis &batch) {
  Path path = pathOf(op, firstIterations(op));
  Settings settings = settingsOf(path);
  nn::IterationSpace space =
      cast<nn::IterationSpaceOpInterface>(op).getIterationSpace();

  SmallVector<strategy::PartAttr> parts;
  for (auto &[key, part] : settings.op) {
    // `batch` is the iterator that the batch of the inputs reaches, whatever
    // the operation calls it.
    std::optional<unsigned> iterator =
        key == "batch" ? batch.getIterator(op) : space.find(key);
    if (!iterator)
      continue;
    for (Node &node : nodes)
      if (node.unusedKeys.contains(key) && node.select(path))
        node.unusedKeys.remove(key);
    // Its own name says more than `batch`.
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

/// The argument of the function that `value` is, or is a slice of; null if it
/// is neither.
static BlockArgument argumentBehind(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto repeat = dyn_cast<nn::RepeatOp>(argument.getOwner()->getParentOp());
    if (!repeat)
      return argument;
    value = repeat->getOperand(argument.getArgNumber());
  }
  return {};
}

/// An argument is where all its readers are. A parameter that is read at
/// different places has no home; an input may be delivered everywhere.
LogicalResult Matcher::placeArguments() {
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
          << "' at another place than its first reader; give every place its "
             "own copy";
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

LogicalResult Matcher::annotate() {
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

LogicalResult Matcher::reportUnused() {
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
  for (Node &node : nodes) {
    if (!node.selects && node.pattern) {
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

/// What verifiers of nn operations check, for operations of other dialects and
/// for arguments.
LogicalResult Matcher::checkModel() {
  if (function.isDeclaration())
    return function.emitOpError("is the model of @")
           << tree.getSymName() << " but has no body";
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("a model must be a single block");
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !type.hasStaticShape())
      return function.emitOpError("argument ")
             << argument.getArgNumber()
             << " must be a tensor of static shape, got " << argument.getType();
    if (failed(nn::verifyElementCount(argument.getLoc(), type)))
      return failure();
  }
  WalkResult result = function.walk([&](nn::IterationSpaceOpInterface op) {
    return WalkResult(nn::verifyIterationSpace(op, op.getIterationSpace()));
  });
  return failure(result.wasInterrupted());
}

/// The items that the tree lists, stage by stage.
FailureOr<ArrayAttr> Matcher::readOrders(int64_t numStages) {
  SmallVector<Attribute> orders(numStages);
  for (auto order : tree.getBody().getOps<strategy::OrderOp>()) {
    int64_t stage = order.getStage();
    if (stage >= numStages)
      return order.emitOpError("lists the work of stage ")
             << stage << ", but there are " << numStages
             << (pipelineAxis.empty() ? " stages: nothing is placed along an "
                                        "axis"
                                      : " stages");
    orders[stage] = order.getItems();
  }
  for (auto [stage, order] : llvm::enumerate(orders))
    if (!order)
      return tree.getSchedule().emitOpError("is \"explicit\", but stage ")
             << stage << " has no order; add order stage " << stage << " [...]";
  return ArrayAttr::get(context, orders);
}

/// Writes down what the tree says about micro-batches.
LogicalResult Matcher::readSchedule() {
  strategy::ScheduleOp op = tree.getSchedule();
  if (!op)
    return success();
  if (static_cast<int64_t>(op.getMicroBatches()) > maxMicroBatches)
    return op.emitOpError("micro_batches = ")
           << op.getMicroBatches() << " is more than " << maxMicroBatches
           << ", the most that can be scheduled";
  int64_t numStages = getNumStages(), numChunks = getNumChunks();
  if (pipelineAxis.empty() && numChunks > 1)
    return op.emitOpError("virtual_stages = ")
           << numChunks << " without stages; cut layers with stages, or leave "
           << "virtual_stages out";
  NamedAttrList schedule;
  Builder builder(context);
  StringRef name = strategy::stringifyScheduleOrder(op.getOrderKind());
  schedule.set("order", builder.getStringAttr(name));
  if (op.getMaxOngoingAttr())
    schedule.set("max_ongoing", op.getMaxOngoingAttr());
  if (numChunks > 1)
    schedule.set("virtual_stages", op.getVirtualStagesAttr());
  if (const PipelineSchedule *builtIn = findSchedule(name)) {
    StageShape shape{0, numStages, numChunks,
                     static_cast<int64_t>(op.getMicroBatches()),
                     op.getMaxOngoing()};
    if (std::optional<std::string> reason = builtIn->whyNot(shape))
      return op.emitOpError("order \"")
             << name << "\" does not fit: " << *reason;
  } else {
    FailureOr<ArrayAttr> orders = readOrders(numStages);
    if (failed(orders))
      return failure();
    schedule.set("orders", *orders);
  }
  function->setAttr(kScheduleAttr, schedule.getDictionary(context));
  return success();
}

LogicalResult Matcher::run() {
  if (failed(checkModel()) || failed(collect(tree)) ||
      failed(findPipelineAxis()) || failed(assignModulesToStages()) ||
      failed(splitRepeats()) || failed(annotate()) || failed(placeArguments()))
    return failure();
  argumentAttrs.apply(function);
  if (failed(reportUnused()))
    return failure();

  strategy::MeshOp meshOp = tree.getMesh();
  dist::Mesh mesh;
  for (auto axis : meshOp.getAxes().getAsRange<strategy::AxisAttr>()) {
    mesh.names.push_back(axis.getName().str());
    mesh.sizes.push_back(axis.getSize());
  }
  if (strategy::ScheduleOp schedule = tree.getSchedule())
    mesh.micro = schedule.getMicroBatches();
  for (int64_t device : meshOp.getDeviceIds())
    mesh.devices.push_back(device);
  if (failed(readSchedule()))
    return failure();
  if (strategy::BucketOp bucket = tree.getBucket())
    function->setAttr(kBucketAttr, bucket->getPropertiesAsAttribute());
  function->setAttr(kMeshAttr, dist::MeshAttr::get(context, mesh));
  function->setAttr(kTreeAttr, FlatSymbolRefAttr::get(tree));
  if (tree.getScatterGather())
    function->setAttr(kScatterGatherAttr, UnitAttr::get(context));
  if (strategy::OverlapOp op = tree.getOverlap()) {
    NamedAttrList overlap;
    if (op.getTensorAttr())
      overlap.set("tensor", op.getTensorAttr());
    if (op.getMessagesAttr())
      overlap.set("messages", op.getMessagesAttr());
    function->setAttr(ProteusDialect::overlapAttrName,
                      overlap.getDictionary(context));
    if (op.getTensor() == "chunked")
      function->setAttr(kChunksAttr,
                        IntegerAttr::get(IntegerType::get(context, 64),
                                         op.getChunks().value_or(0)));
  }
  if (pipelineAxis.empty())
    return success();
  function->setAttr(kPipelineAxisAttr, StringAttr::get(context, pipelineAxis));
  return inferStages(function, getNumStages(), getNumChunks());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class MatchStrategy : public proteus::impl::MatchStrategyBase<MatchStrategy> {
public:
  using MatchStrategyBase::MatchStrategyBase;
  void runOnOperation() override;

private:
  strategy::TreeOp selectTree();
};
} // namespace

strategy::TreeOp MatchStrategy::selectTree() {
  ModuleOp module = getOperation();
  SmallVector<strategy::TreeOp> trees(module.getOps<strategy::TreeOp>());
  StringRef wanted = StringRef(strategy).ltrim('@');
  if (!wanted.empty()) {
    for (strategy::TreeOp tree : trees)
      if (tree.getSymName() == wanted)
        return tree;
    InFlightDiagnostic diagnostic =
        emitError(module.getLoc(), "there is no strategy tree @") << wanted;
    for (strategy::TreeOp tree : trees)
      diagnostic.attachNote(tree.getLoc()) << "there is @" << tree.getSymName();
    return {};
  }
  if (trees.size() == 1)
    return trees.front();
  InFlightDiagnostic diagnostic =
      trees.empty()
          ? emitError(module.getLoc(),
                      "there is no strategy.tree in the module; write one that "
                      "says how the model is split")
          : emitError(module.getLoc(), "there are ")
                << trees.size()
                << " strategy trees; select one with strategy=@name";
  for (strategy::TreeOp tree : trees)
    diagnostic.attachNote(tree.getLoc()) << "there is @" << tree.getSymName();
  return {};
}

/// Every device of the mesh must exist. Without a list the ids are 0, 1, ...,
/// so their number tells; a list is never longer than what the user wrote.
static LogicalResult checkDevices(strategy::MeshOp mesh,
                                  const machine::Cluster &cluster) {
  int64_t last = mesh.getNumDevices() - 1;
  if (auto devices = mesh.getDevices())
    last = *llvm::max_element(*devices);
  if (last < cluster.numDevices())
    return success();
  return mesh.emitOpError("names device ")
         << last << ", but the cluster '" << cluster.name << "' has "
         << cluster.numDevices() << " devices (0 to "
         << cluster.numDevices() - 1 << "); use a smaller mesh or more nodes";
}

void MatchStrategy::runOnOperation() {
  strategy::TreeOp tree = selectTree();
  if (!tree)
    return signalPassFailure();
  FailureOr<machine::Cluster> machine = resolveCluster(getOperation(), cluster);
  if (failed(machine))
    return signalPassFailure();
  if (failed(checkDevices(tree.getMesh(), *machine)))
    return signalPassFailure();
  auto function =
      getOperation().lookupSymbol<func::FuncOp>(tree.getModelAttr());
  if (function->hasAttr(kMeshAttr)) {
    function.emitOpError("was matched with a strategy before");
    return signalPassFailure();
  }
  if (failed(refineMesh(tree)) || failed(Matcher(tree, function).run()))
    signalPassFailure();
}
