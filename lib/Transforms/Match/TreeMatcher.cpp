//===- TreeMatcher.cpp - settings of paths --------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TreeMatcher.h"

#include "Proteus/Transforms/Common/SplitRepeat.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::match;
using proteus::Path;

//===----------------------------------------------------------------------===//
// Paths of operations
//===----------------------------------------------------------------------===//

Path match::pathOf(Operation *op, ArrayRef<int64_t> iterations) {
  Path path;
  SmallVector<nn::RepeatOp> repeats;
  for (auto repeat = op->getParentOfType<nn::RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<nn::RepeatOp>())
    repeats.push_back(repeat);
  auto append = [&](StringRef text) {
    llvm::Expected<Path> parsed = parsePath(text);
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

SmallVector<int64_t> match::firstIterations(Operation *op) {
  SmallVector<int64_t> iterations;
  for (auto repeat = op->getParentOfType<nn::RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<nn::RepeatOp>())
    iterations.push_back(0);
  return iterations;
}

bool match::isModelOp(Operation *op) {
  return isa<nn::IterationSpaceOpInterface>(op);
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

LogicalResult TreeMatcher::collect(Operation *op) {
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

LogicalResult TreeMatcher::findPipelineAxis() {
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

/// Returns all operations of the model with their paths, in execution order.
/// Operations in repeats occur once per iteration.
SmallVector<std::pair<Path, Operation *>> TreeMatcher::modulePaths() {
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

LogicalResult TreeMatcher::assignModulesToStages() {
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
            context, proteus::toString(ArrayRef(path).take_front(*length))));
    if (modules.empty())
      continue; // `reportUnused` emits the error.
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

/// Cuts `count` modules into runs, one per chunk of a stage, as `stages`
/// requires. Returns the number of modules in each run.
FailureOr<SmallVector<int64_t>>
TreeMatcher::runLengths(strategy::StagesOp stages, int64_t count) {
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
  // If the modules do not divide evenly among the runs, each of the first runs
  // gets one more module.
  for (int64_t i = 0; i < count % runs; ++i)
    ++lengths[i];
  return lengths;
}

std::optional<Place> TreeMatcher::placeOf(const Path &path) {
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
              context, proteus::toString(ArrayRef(path).take_front(*length)))),
          false};
  }
  return place;
}

Settings TreeMatcher::settingsOf(const Path &path) {
  Settings settings;
  settings.place = placeOf(path);
  // Nodes are in pre-order, so an inner node overrides the nodes around it, and
  // a later node overrides earlier ones.
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
  // An operation that is restricted to one coordinate of an axis cannot be
  // split over that axis, so the axis is removed from its splits.
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

/// Cuts every repeat before each iteration in which a pattern selects other
/// operations than in the preceding iteration, or in which a stage begins. All
/// iterations of each resulting repeat then have the same settings.
LogicalResult TreeMatcher::splitRepeats() {
  SmallVector<nn::RepeatOp> repeats;
  function.walk([&](nn::RepeatOp repeat) { repeats.push_back(repeat); });
  for (nn::RepeatOp repeat : repeats) {
    Path path = pathOf(repeat, firstIterations(repeat));
    int64_t count = repeat.getCount(), first = repeat.getFirst();
    llvm::SetVector<int64_t> cuts;
    for (Node &node : nodes)
      if (node.pattern)
        for (IndexRange range :
             node.pattern->getUniformRanges(path, first + count))
          if (range.lo > first)
            cuts.insert(range.lo - first);
    size_t depth = firstIterations(repeat).size();
    if (!pipelineAxis.empty())
      repeat.getBody().walk([&](Operation *op) {
        if (!isModelOp(op))
          return;
        // Cut where the stage of an operation changes.
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
    // A repeat inside another repeat is not cut, so all its iterations must
    // have the same settings in every iteration of the outer repeat.
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
