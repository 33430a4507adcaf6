//===- MatchStrategy.cpp - the strategy tree, op by op ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InferStages.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/PathPattern.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/BatchAnalysis.h"
#include "Proteus/Transforms/ClusterAttr.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/SplitRepeat.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
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
static constexpr int64_t maxMicroBatches = 1000000;

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

/// What the tree says about one operation.
struct Settings {
  llvm::MapVector<StringRef, strategy::PartAttr> op;
  /// Memory items of parameters: by kind and key (iterator or dimension), the
  /// axes and who set them.
  llvm::MapVector<std::pair<unsigned, Attribute>,
                  std::pair<strategy::PartAttr, strategy::SplitOp>>
      items;
  std::optional<int64_t> stage;
  /// How many leading components of the path name the recomputed module.
  std::optional<size_t> recompute;
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
  LogicalResult splitRepeats();
  LogicalResult annotate();
  LogicalResult annotateOp(Operation *op, const BatchAnalysis &batch);
  LogicalResult annotateParameter(OpOperand &operand,
                                  const nn::IterationSpace &space,
                                  const Settings &settings);
  LogicalResult reportUnused();
  Settings settingsOf(const Path &path);
  /// The stage that the tree sets for an operation; nearest wins.
  std::optional<int64_t> stageOf(const Path &path);
  SmallVector<std::pair<Path, Operation *>> modulePaths();

  strategy::TreeOp tree;
  func::FuncOp function;
  MLIRContext *context;
  std::vector<Node> nodes;
  /// Memory items, part by part, that concern no parameter so far.
  llvm::SetVector<std::pair<Operation *, Attribute>> unusedItems;
  /// Axis along which stages lie; empty without a pipeline.
  std::string pipelineAxis;
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
      for (strategy::PartAttr part : split.getPartition().getParts()) {
        switch (split.getItem().getKind()) {
        case strategy::ItemKind::Op:
          node.unusedKeys.insert(part.getIterator());
          break;
        case strategy::ItemKind::Weight:
        case strategy::ItemKind::State:
          unusedItems.insert({split, part});
          break;
        default:
          return split.emitOpError("the item '")
                 << strategy::stringifyItemKind(split.getItem().getKind())
                 << "' can't be lowered yet; split 'op', 'weight' or 'state'";
        }
      }
    } else if (auto at = dyn_cast<strategy::AtOp>(child)) {
      node.at = at;
    } else if (auto stages = dyn_cast<strategy::StagesOp>(child)) {
      node.stages = stages;
    } else if (auto recompute = dyn_cast<strategy::RecomputeOp>(child)) {
      node.recompute = recompute;
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
    if (node.at) {
      if (node.at.getCoordinates().size() != 1)
        return node.at.emitOpError("places work along ")
               << node.at.getCoordinates().size()
               << " axes; a pipeline lies along one";
      for (auto coordinate :
           node.at.getCoordinates().getAsRange<strategy::CoordinateAttr>())
        if (failed(use(node.at, coordinate.getAxis())))
          return failure();
    }
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
    int64_t stages = *tree.getMesh().getAxisSize(node.stages.getAxis());
    int64_t count = modules.size();
    if (count == 0)
      continue; // Reported as a pattern that selects nothing.
    if (count < stages)
      return node.stages.emitOpError("cuts ")
             << count << " modules into " << stages << " stages along '"
             << node.stages.getAxis()
             << "'; use an axis of at most that size, or select more modules";
    for (auto [i, module] : llvm::enumerate(modules)) {
      // The remainder goes to the first stages.
      int64_t longer = count % stages, length = count / stages;
      int64_t index = i;
      int64_t boundary = longer * (length + 1);
      node.moduleStage[module] = index < boundary
                                     ? index / (length + 1)
                                     : longer + (index - boundary) / length;
    }
  }
  return success();
}

std::optional<int64_t> Matcher::stageOf(const Path &path) {
  std::optional<int64_t> stage;
  for (Node &node : nodes) {
    if (!node.at && !node.stages)
      continue;
    std::optional<size_t> length = node.select(path);
    if (!length)
      continue;
    if (node.at)
      stage = cast<strategy::CoordinateAttr>(node.at.getCoordinates()[0])
                  .getPosition();
    else
      stage = node.moduleStage.lookup(StringAttr::get(
          context, strategy::toString(ArrayRef(path).take_front(*length))));
  }
  return stage;
}

Settings Matcher::settingsOf(const Path &path) {
  Settings settings;
  settings.stage = stageOf(path);
  // Nodes are in pre-order: what is further in, or written later, overrides.
  for (Node &node : nodes) {
    std::optional<size_t> length = node.select(path);
    if (!length)
      continue;
    node.selects = true;
    for (strategy::SplitOp split : node.splits)
      for (strategy::PartAttr part : split.getPartition().getParts()) {
        strategy::ItemKind kind = split.getItem().getKind();
        if (kind == strategy::ItemKind::Op)
          settings.op[part.getIterator()] = part;
        else
          settings.items[{static_cast<unsigned>(kind), part.getKey()}] = {
              part, split};
      }
    if (node.recompute)
      settings.recompute = length;
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
        std::optional<int64_t> previous;
        for (int64_t i = 0; i < count; ++i) {
          iterations[depth] = i;
          std::optional<int64_t> stage = stageOf(pathOf(op, iterations));
          if (i > 0 && stage != previous)
            cuts.insert(i);
          previous = stage;
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

/// Whether `part` is about dimension `dim` of a tensor.
static bool isAbout(strategy::PartAttr part, const nn::IterationSpace &space,
                    const nn::TensorIterators &dims, unsigned dim) {
  if (part.isDimension())
    return part.getDimension() == dim;
  return !dims[dim].empty() &&
         space.iterators[dims[dim].front()].name == part.getIterator();
}

/// Turns splits of a parameter or its state into axes per dimension of the
/// function argument behind the operand.
LogicalResult Matcher::annotateParameter(OpOperand &operand,
                                         const nn::IterationSpace &space,
                                         const Settings &settings) {
  auto [argument, stacks] = getParameter(operand.get());
  if (!argument)
    return success();
  const nn::TensorIterators &dims = space.operands[operand.getOperandNumber()];
  llvm::MapVector<unsigned, SmallVector<Attribute>> axes;
  for (auto &[key, setting] : settings.items) {
    auto [part, split] = setting;
    for (unsigned dim = 0; dim < dims.size(); ++dim) {
      if (!isAbout(part, space, dims, dim))
        continue;
      auto &list = axes[key.first];
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
    StringRef name = getStorageAttrName(static_cast<strategy::ItemKind>(kind));
    auto storage = ArrayAttr::get(context, list);
    Attribute other = getArgumentAttr(argument, name);
    if (other && other != storage)
      return operand.getOwner()->emitOpError("stores '")
             << getArgumentPath(argument) << "' as " << storage
             << ", but another reader stores it as " << other
             << "; set one storage for all its readers";
    setArgumentAttr(argument, name, storage);
  }
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
    // Its own name says more than `batch`.
    StringRef name = space.iterators[*iterator].name;
    if (key == "batch" && name != key && settings.op.count(name))
      continue;
    parts.push_back(strategy::PartAttr::get(
        context, StringAttr::get(context, space.iterators[*iterator].name),
        part.getAxes()));
    for (Node &node : nodes)
      if (node.unusedKeys.contains(key) && node.select(path))
        node.unusedKeys.remove(key);
  }
  if (!parts.empty())
    op->setDiscardableAttr(kOpAttr,
                           strategy::PartitionAttr::get(context, parts));
  if (settings.stage)
    setStage(op, *settings.stage);
  if (settings.recompute)
    op->setDiscardableAttr(
        kRecomputeAttr,
        StringAttr::get(context, recomputeGroup(op, path, *settings.recompute,
                                                function.getName())));
  for (OpOperand &operand : op->getOpOperands()) {
    if (failed(annotateParameter(operand, space, settings)))
      return failure();
    if (!getParameter(operand.get()).first)
      continue;
    const nn::TensorIterators &dims =
        space.operands[operand.getOperandNumber()];
    unusedItems.remove_if([&](std::pair<Operation *, Attribute> item) {
      auto part = cast<strategy::PartAttr>(item.second);
      Operation *owner = item.first->getParentOp();
      auto node = llvm::find_if(
          nodes, [&](const Node &other) { return other.op == owner; });
      if (!node->select(path))
        return false;
      for (unsigned dim = 0; dim < dims.size(); ++dim)
        if (isAbout(part, space, dims, dim))
          return true;
      return false;
    });
  }
  return success();
}

LogicalResult Matcher::annotate() {
  BatchAnalysis batch(function);
  WalkResult result = function.walk([&](Operation *op) {
    if (isModelOp(op) && failed(annotateOp(op, batch)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Matcher::reportUnused() {
  bool failed = false;
  for (auto [split, part] : unusedItems) {
    split->emitOpError("no parameter of the operations it selects has the "
                       "dimension or iterator of ")
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

LogicalResult Matcher::run() {
  if (failed(checkModel()) || failed(collect(tree)) ||
      failed(findPipelineAxis()) || failed(assignModulesToStages()) ||
      failed(splitRepeats()) || failed(annotate()) || failed(reportUnused()))
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
  NamedAttrList schedule, bucket;
  Builder builder(context);
  if (strategy::ScheduleOp op = tree.getSchedule()) {
    if (static_cast<int64_t>(op.getMicroBatches()) > maxMicroBatches)
      return op.emitOpError("micro_batches = ")
             << op.getMicroBatches() << " is more than " << maxMicroBatches
             << ", the most that can be scheduled";
    schedule.set("order",
                 builder.getStringAttr(
                     strategy::stringifyScheduleOrder(op.getOrderKind())));
    if (op.getMaxOngoingAttr())
      schedule.set("max_ongoing", op.getMaxOngoingAttr());
    if (op.getVirtualStages().value_or(1) != 1)
      return op.emitOpError("virtual_stages = ")
             << *op.getVirtualStages()
             << " can't be lowered yet; use one chunk per stage";
  }
  if (strategy::BucketOp op = tree.getBucket()) {
    if (op.getSizeAttr())
      bucket.set("size", op.getSizeAttr());
    if (op.getFirstAttr())
      bucket.set("first", op.getFirstAttr());
  }
  if (!schedule.empty())
    function->setAttr(kScheduleAttr, schedule.getDictionary(context));
  if (!bucket.empty())
    function->setAttr(kBucketAttr, bucket.getDictionary(context));
  function->setAttr(kMeshAttr, dist::MeshAttr::get(context, mesh));
  function->setAttr(kTreeAttr, FlatSymbolRefAttr::get(tree));
  if (pipelineAxis.empty())
    return success();
  function->setAttr(kPipelineAxisAttr, StringAttr::get(context, pipelineAxis));
  return inferStages(function);
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
                                  const cost::Cluster &cluster) {
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
  FailureOr<cost::Cluster> machine = resolveCluster(getOperation(), cluster);
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
  if (failed(Matcher(tree, function).run()))
    signalPassFailure();
}
