//===- MatchStrategy.cpp - the strategy tree, op by op ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/PathPattern.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/BatchAnalysis.h"
#include "Proteus/Transforms/ClusterAttr.h"
#include "Proteus/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
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
  /// Memory items that concern parameters, with the node that set them.
  llvm::MapVector<strategy::ItemAttr, strategy::SplitOp> items;
  std::optional<int64_t> stage;
  std::optional<std::string> recompute;
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
  LogicalResult splitRepeat(nn::RepeatOp repeat, ArrayRef<int64_t> cuts);
  LogicalResult annotate();
  LogicalResult annotateOp(Operation *op, const BatchAnalysis &batch);
  LogicalResult annotateParameter(Operation *op, OpOperand &operand,
                                  const nn::IterationSpace &space,
                                  strategy::SplitOp split);
  LogicalResult inferStages();
  void duplicateInputs();
  LogicalResult reportUnused();
  Settings settingsOf(const Path &path);
  SmallVector<std::pair<Path, Operation *>> modulePaths();

  strategy::TreeOp tree;
  func::FuncOp function;
  MLIRContext *context;
  std::vector<Node> nodes;
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
      if (split.getItem().getKind() == strategy::ItemKind::Op)
        for (strategy::PartAttr part : split.getPartition().getParts())
          node.unusedKeys.insert(part.getIterator());
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
          iterations.push_back(i);
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

Settings Matcher::settingsOf(const Path &path) {
  Settings settings;
  // Nodes are in pre-order: what is further in, or written later, overrides.
  for (Node &node : nodes) {
    std::optional<size_t> length = node.select(path);
    if (!length)
      continue;
    node.selects = true;
    std::string module = strategy::toString(ArrayRef(path).take_front(*length));
    for (strategy::SplitOp split : node.splits) {
      if (split.getItem().getKind() != strategy::ItemKind::Op) {
        settings.items[split.getItem()] = split;
        continue;
      }
      for (strategy::PartAttr part : split.getPartition().getParts())
        settings.op[part.getIterator()] = part;
    }
    if (node.at)
      settings.stage =
          cast<strategy::CoordinateAttr>(node.at.getCoordinates()[0])
              .getPosition();
    if (node.stages)
      settings.stage =
          node.moduleStage.lookup(StringAttr::get(context, module));
    if (node.recompute)
      settings.recompute = module.empty() ? function.getName().str() : module;
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
  for (auto repeat : function.getOps<nn::RepeatOp>())
    repeats.push_back(repeat);
  for (nn::RepeatOp repeat : repeats) {
    Path path = pathOf(repeat, {});
    int64_t count = repeat.getCount(), first = repeat.getFirst();
    llvm::SetVector<int64_t> cuts;
    for (Node &node : nodes) {
      if (!node.pattern)
        continue;
      for (strategy::IndexRange range :
           node.pattern->getUniformRanges(path, first + count))
        if (range.lo > first)
          cuts.insert(range.lo - first);
      if (!node.stages)
        continue;
      // Stages cut where the module of an iteration changes its stage.
      Operation *inside = nullptr;
      repeat.getBody().walk([&](Operation *op) {
        if (isModelOp(op)) {
          inside = op;
          return WalkResult::interrupt();
        }
        return WalkResult::advance();
      });
      if (!inside || inside->getParentOfType<nn::RepeatOp>() != repeat)
        continue;
      std::optional<int64_t> previous;
      for (int64_t i = 0; i < count; ++i) {
        Path iteration = pathOf(inside, {i});
        auto length = node.select(iteration);
        std::optional<int64_t> stage;
        if (length)
          stage = node.moduleStage.lookup(StringAttr::get(
              context,
              strategy::toString(ArrayRef(iteration).take_front(*length))));
        if (i > 0 && stage != previous)
          cuts.insert(i);
        previous = stage;
      }
    }
    SmallVector<int64_t> sorted(cuts.begin(), cuts.end());
    llvm::sort(sorted);
    if (!sorted.empty() && failed(splitRepeat(repeat, sorted)))
      return failure();
  }
  return success();
}

/// Replaces a repeat by one per piece, and every stacked argument it slices by
/// one argument per piece.
LogicalResult Matcher::splitRepeat(nn::RepeatOp repeat,
                                   ArrayRef<int64_t> cuts) {
  if (!repeat.getStackedResults().empty())
    return repeat.emitOpError("stacks results, but the strategy treats its "
                              "iterations differently; carry them instead");
  SmallVector<int64_t> bounds = {0};
  llvm::append_range(bounds, cuts);
  bounds.push_back(repeat.getCount());
  size_t pieces = bounds.size() - 1;

  // Pieces of the stacked arguments.
  SmallVector<SmallVector<Value>> sliced(pieces);
  for (Value stack : repeat.getSliced()) {
    auto argument = dyn_cast<BlockArgument>(stack);
    if (!argument || argument.getOwner() != &function.front() ||
        !argument.hasOneUse())
      return repeat.emitOpError(
          "the strategy treats its iterations differently, so its sliced "
          "operands must be function arguments that nothing else reads");
  }
  SmallVector<unsigned> oldArguments;
  for (Value stack : repeat.getSliced()) {
    auto argument = cast<BlockArgument>(stack);
    unsigned number = argument.getArgNumber();
    auto type = cast<RankedTensorType>(argument.getType());
    DictionaryAttr attributes = function.getArgAttrDict(number);
    std::string path = getArgumentPath(argument);
    for (size_t piece = 0; piece < pieces; ++piece) {
      SmallVector<int64_t> shape(type.getShape());
      shape[0] = bounds[piece + 1] - bounds[piece];
      // The indices of the layers replace the star.
      std::string piecePath = path;
      size_t star = piecePath.find("[*]");
      std::string indices =
          ("[" + Twine(repeat.getFirst() + bounds[piece]) + ":" +
           Twine(repeat.getFirst() + bounds[piece + 1]) + "]")
              .str();
      if (star != std::string::npos)
        piecePath.replace(star, 3, indices);
      NamedAttrList list(attributes);
      list.set(nn::kPathAttr, StringAttr::get(context, piecePath));
      unsigned position = number + 1 + piece;
      if (failed(function.insertArgument(
              position, RankedTensorType::get(shape, type.getElementType()),
              list.getDictionary(context), argument.getLoc())))
        return failure();
      sliced[piece].push_back(function.getArgument(position));
    }
  }

  OpBuilder builder(repeat);
  SmallVector<Value> carried(repeat.getCarried());
  for (size_t piece = 0; piece < pieces; ++piece) {
    auto copy = nn::RepeatOp::create(
        builder, repeat.getLoc(), repeat.getPath(),
        repeat.getFirst() + bounds[piece], bounds[piece + 1] - bounds[piece],
        repeat.getReverse(), carried, sliced[piece], repeat.getResultTypes());
    copy->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
    IRMapping mapping;
    repeat.getBody().cloneInto(&copy.getBody(), mapping);
    carried.assign(copy.getResults().begin(), copy.getResults().end());
  }
  repeat.replaceAllUsesWith(carried);
  SmallVector<Value> stacks(repeat.getSliced());
  repeat.erase();
  llvm::BitVector erased(function.getNumArguments());
  for (Value stack : stacks)
    erased.set(cast<BlockArgument>(stack).getArgNumber());
  return function.eraseArguments(erased);
}

//===----------------------------------------------------------------------===//
// Annotation
//===----------------------------------------------------------------------===//

/// Turns a split of a parameter, its gradient or its state into axes per
/// dimension of the function argument behind the operand.
LogicalResult Matcher::annotateParameter(Operation *op, OpOperand &operand,
                                         const nn::IterationSpace &space,
                                         strategy::SplitOp split) {
  Value value = operand.get();
  bool stacked = false;
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument)
    if (auto repeat =
            dyn_cast<nn::RepeatOp>(argument.getOwner()->getParentOp())) {
      unsigned carried = repeat.getNumCarried();
      if (argument.getArgNumber() < carried)
        return success();
      argument = dyn_cast<BlockArgument>(
          repeat.getSliced()[argument.getArgNumber() - carried]);
      stacked = true;
    }
  if (!argument || getRole(argument) != nn::Role::Parameter)
    return success();
  const nn::TensorIterators &dims = space.operands[operand.getOperandNumber()];
  SmallVector<Attribute> axes(dims.size(), ArrayAttr::get(context, {}));
  bool any = false;
  for (strategy::PartAttr part : split.getPartition().getParts()) {
    SmallVector<Attribute> names(part.getAxes().begin(), part.getAxes().end());
    for (auto [dim, iterators] : llvm::enumerate(dims)) {
      bool selected =
          part.isDimension()
              ? part.getDimension() == static_cast<int64_t>(dim)
              : !iterators.empty() && space.iterators[iterators.front()].name ==
                                          part.getIterator();
      if (selected) {
        axes[dim] = ArrayAttr::get(context, names);
        any = true;
      }
    }
  }
  if (!any)
    return success();
  if (stacked)
    axes.insert(axes.begin(), ArrayAttr::get(context, {}));
  setArgumentAttr(argument, getStorageAttrName(split.getItem().getKind()),
                  ArrayAttr::get(context, axes));
  return success();
}

LogicalResult Matcher::annotateOp(Operation *op, const BatchAnalysis &batch) {
  Settings settings = settingsOf(pathOf(op, firstIterations(op)));
  nn::IterationSpace space =
      cast<nn::IterationSpaceOpInterface>(op).getIterationSpace();

  // `batch` names the iterator that the batch of the inputs reaches, whatever
  // the operation calls it.
  SmallVector<strategy::PartAttr> parts;
  for (auto &[key, part] : settings.op) {
    std::optional<unsigned> iterator = space.find(key);
    if (!iterator && key == "batch")
      iterator = batch.getIterator(op);
    if (!iterator)
      continue;
    parts.push_back(strategy::PartAttr::get(
        context, StringAttr::get(context, space.iterators[*iterator].name),
        part.getAxes()));
    for (Node &node : nodes)
      if (node.unusedKeys.contains(key) &&
          node.select(pathOf(op, firstIterations(op))))
        node.unusedKeys.remove(key);
  }
  if (!parts.empty())
    op->setDiscardableAttr(kOpAttr,
                           strategy::PartitionAttr::get(context, parts));
  if (settings.stage)
    setStage(op, *settings.stage);
  if (settings.recompute) {
    // Inside a repeat every iteration is a module of its own.
    auto repeat = op->getParentOfType<nn::RepeatOp>();
    std::string group =
        repeat ? (repeat.getPath() + "[*]").str() : *settings.recompute;
    op->setDiscardableAttr(kRecomputeAttr, StringAttr::get(context, group));
  }
  for (auto &[item, split] : settings.items) {
    switch (item.getKind()) {
    case strategy::ItemKind::Weight:
    case strategy::ItemKind::Gradient:
    case strategy::ItemKind::State:
      for (OpOperand &operand : op->getOpOperands())
        if (failed(annotateParameter(op, operand, space, split)))
          return failure();
      break;
    default:
      return split.emitOpError("the item '")
             << strategy::stringifyItemKind(item.getKind())
             << "' can't be lowered yet; split the computation ('op') of the "
                "operations around it instead";
    }
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

/// Gives every stage that reads an input an argument of its own: each stage
/// loads what it needs.
void Matcher::duplicateInputs() {
  Block &block = function.front();
  auto stageOfUse = [&](OpOperand &use) {
    return *getStage(block.findAncestorOpInBlock(*use.getOwner()));
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    BlockArgument argument = function.getArgument(i);
    if (getRole(argument) != nn::Role::Input || argument.use_empty())
      continue;
    int64_t first = stageOfUse(*argument.use_begin());
    for (OpOperand &use : argument.getUses())
      first = std::min(first, stageOfUse(use));
    if (llvm::all_of(argument.getUses(),
                     [&](OpOperand &use) { return stageOfUse(use) == first; }))
      continue;
    // The copy takes the readers of later stages and is looked at next.
    LogicalResult inserted =
        function.insertArgument(i + 1, argument.getType(),
                                function.getArgAttrDict(i), argument.getLoc());
    assert(succeeded(inserted) && "a function takes any argument");
    (void)inserted;
    argument = function.getArgument(i);
    argument.replaceUsesWithIf(
        function.getArgument(i + 1),
        [&](OpOperand &use) { return stageOfUse(use) != first; });
  }
}

/// Operations without a stage join the producers of their operands, else their
/// first user; a repeat is where its body is; parameters are where they are
/// used.
LogicalResult Matcher::inferStages() {
  function.walk<WalkOrder::PostOrder>([&](nn::RepeatOp repeat) {
    for (Operation &op : repeat.getBody().front())
      if (auto stage = getStage(&op))
        setStage(repeat, *stage);
  });
  auto stageOf = [&](Value value) -> std::optional<int64_t> {
    Operation *op = value.getDefiningOp();
    return op ? getStage(op) : std::nullopt;
  };
  Block &block = function.front();
  for (Operation &op : block.without_terminator()) {
    if (getStage(&op))
      continue;
    std::optional<int64_t> stage;
    for (Value operand : op.getOperands())
      if (auto other = stageOf(operand))
        stage = std::max(stage.value_or(0), *other);
    if (stage)
      setStage(&op, *stage);
  }
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (getStage(&op))
      continue;
    std::optional<int64_t> stage;
    for (Operation *user : op.getUsers())
      if (auto other = getStage(user))
        stage = std::min(stage.value_or(*other), *other);
    setStage(&op, stage.value_or(0));
  }
  for (Operation &op : block.without_terminator()) {
    int64_t stage = *getStage(&op);
    op.walk([&](Operation *inner) {
      if (!inner->hasTrait<OpTrait::IsTerminator>())
        setStage(inner, stage);
    });
    for (Value operand : op.getOperands())
      if (auto producer = stageOf(operand); producer && *producer > stage)
        return op.emitOpError("runs in stage ")
               << stage << " but reads a result of stage " << *producer
               << "; stages must follow the order of the model";
  }
  duplicateInputs();
  for (BlockArgument argument : function.getArguments()) {
    std::optional<int64_t> stage;
    for (Operation *user : argument.getUsers()) {
      Operation *top = block.findAncestorOpInBlock(*user);
      int64_t other = *getStage(top);
      if (stage && *stage != other)
        return user->emitOpError("reads '")
               << getArgumentPath(argument) << "' in stage " << other
               << ", but it is also read in stage " << *stage
               << "; give every stage its own copy";
      stage = other;
    }
    if (stage)
      setArgumentAttr(argument, kStageAttr,
                      Builder(context).getI64IntegerAttr(*stage));
  }
  return success();
}

LogicalResult Matcher::reportUnused() {
  bool failed = false;
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
  return inferStages();
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
