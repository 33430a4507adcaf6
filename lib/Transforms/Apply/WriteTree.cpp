//===- WriteTree.cpp - writer of strategy trees ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriteTree.h"

#include "Proteus/Transforms/Common/TreeSettings.h"

using namespace mlir;
using namespace proteus;

namespace {

class TreeWriter {
public:
  TreeWriter(const ModelShape &model, const SplitPlan &splits,
             const StagePlan &stages, const plan::ParallelPlan &plan)
      : model(model), splits(splits), stages(stages), stated(plan),
        decisions(plan::resolve(plan)), function(model.getFunction()),
        context(function.getContext()) {}

  void write(StringRef name);

private:
  void writeSettings(OpBuilder &builder, const OperationSettings &list);
  plan::ParallelPlan stepSettings() const;
  void writeNode(OpBuilder &builder, StringRef pattern,
                 const OperationSettings &list);
  void writeLayers(OpBuilder &builder, StringRef pattern);
  std::optional<OperationSettings> settingsOf(Operation *op) const;

  const ModelShape &model;
  const SplitPlan &splits;
  const StagePlan &stages;
  const plan::ParallelPlan &stated;
  const plan::ResolvedPlan decisions;
  func::FuncOp function;
  MLIRContext *context;
};

} // namespace

void TreeWriter::writeSettings(OpBuilder &builder,
                               const OperationSettings &list) {
  if (list.recompute)
    strategy::RecomputeOp::create(builder, function.getLoc());
  SmallVector<Attribute> places;
  auto addPlace = [&](StringRef axis, std::optional<int64_t> position) {
    if (position)
      places.push_back(strategy::CoordinateAttr::get(
          context, StringAttr::get(context, axis), *position));
  };
  addPlace(kPipeline, list.stage);
  addPlace(kData, list.device);
  if (!places.empty())
    strategy::AtOp::create(builder, function.getLoc(),
                           ArrayAttr::get(context, places));
  for (auto &[kind, parts] : list.splits) {
    std::optional<int64_t> operand;
    if (kind == strategy::ItemKind::Input)
      operand = 0;
    strategy::SplitOp::create(builder, function.getLoc(),
                              strategy::ItemAttr::get(context, kind, operand),
                              strategy::PartitionAttr::get(context, parts));
  }
}

void TreeWriter::writeNode(OpBuilder &builder, StringRef pattern,
                           const OperationSettings &list) {
  OpBuilder::InsertionGuard guard(builder);
  auto node = strategy::NodeOp::create(builder, function.getLoc(), pattern);
  builder.setInsertionPointToStart(&node.getBody().front());
  writeSettings(builder, list);
}

void TreeWriter::writeLayers(OpBuilder &builder, StringRef pattern) {
  const ModelShape::Layers &group = model.getLayers(pattern);
  // Settings that all layers have in common are written once. Other settings
  // are written layer by layer.
  llvm::MapVector<StringRef, OperationSettings> common;
  SmallVector<Operation *> single;
  for (auto &[path, members] : group.operations) {
    SmallVector<Operation *> set = llvm::filter_to_vector(
        members, [&](Operation *op) { return splits.get(op); });
    if (set.empty())
      continue;
    // An operation of another kind may have the same path. It does not count,
    // because it lacks the iterators that the settings split.
    StringRef kind = set.front()->getName().getStringRef();
    bool alike = llvm::all_of(members, [&](Operation *op) {
      return op->getName().getStringRef() != kind ||
             (splits.get(op) && *splits.get(op) == *splits.get(set.front()));
    });
    if (alike)
      common[path] = *splits.get(set.front());
    else
      llvm::append_range(single, set);
  }
  bool isCut =
      decisions.pp > 1 && llvm::is_contained(model.getStageLayers(), pattern);
  bool again = decisions.recompute == plan::Recompute::Full &&
               model.isRecomputed(pattern);
  SmallVector<StringRef> modules;
  for (StringRef module : splits.getRecomputedModules())
    if (llvm::any_of(group.operations, [&](const auto &entry) {
          return entry.first.starts_with((module + ".").str());
        }))
      modules.push_back(module);
  if (isCut || again || !common.empty() || !modules.empty()) {
    OpBuilder::InsertionGuard guard(builder);
    Location loc = function.getLoc();
    auto node = strategy::NodeOp::create(builder, loc, pattern);
    builder.setInsertionPointToStart(&node.getBody().front());
    if (isCut)
      strategy::StagesOp::create(
          builder, loc, builder.getStringAttr(kPipeline),
          stages.counts.empty()
              ? DenseI64ArrayAttr()
              : builder.getDenseI64ArrayAttr(stages.counts.lookup(pattern)));
    if (again)
      strategy::RecomputeOp::create(builder, loc);
    OperationSettings recomputed;
    recomputed.recompute = true;
    for (StringRef module : modules)
      writeNode(builder, module, recomputed);
    for (auto &[path, list] : common)
      if (path.empty())
        writeSettings(builder, list);
      else
        writeNode(builder, path, list);
  }
  for (Operation *op : single)
    writeNode(builder, nn::getPath(op), *splits.get(op));
}

/// Returns the plan from which the settings of the step are written into the
/// tree. The fields of the schedule are set only if there are several
/// micro-batches or stages.
plan::ParallelPlan TreeWriter::stepSettings() const {
  plan::ParallelPlan step = stated;
  bool hasSchedule = decisions.accumulation > 1 || decisions.pp > 1;
  step.accumulation.reset();
  step.schedule.reset();
  step.virtualStages.reset();
  if (hasSchedule) {
    step.accumulation = decisions.accumulation;
    step.schedule = decisions.scheduleOrder();
    if (decisions.virtualStages > 1)
      step.virtualStages = decisions.virtualStages;
  }
  // With `overlap-parameters`, `write` adds a prefetch operation of its own,
  // which also contains the prefetch depth.
  if (decisions.overlapParameters)
    step.prefetch.reset();
  // `all-reduce-gradients` always reduces after the backward pass. The tree
  // states this even if the job leaves the reduction open.
  if (decisions.allReduceGradients && !stated.gradientReduction)
    step.gradientReduction = plan::GradientReduction::AfterBackward;
  return step;
}

/// Returns the settings of an operation outside of layers, or nullopt if it has
/// none.
std::optional<OperationSettings> TreeWriter::settingsOf(Operation *op) const {
  std::optional<OperationSettings> list;
  if (const OperationSettings *given = splits.get(op))
    list = *given;
  auto place = stages.afterLayers.find(op);
  if (place == stages.afterLayers.end())
    return list;
  if (!list)
    list.emplace();
  list->stage = place->second;
  return list;
}

void TreeWriter::write(StringRef name) {
  Location loc = function.getLoc();
  OpBuilder builder(context);
  builder.setInsertionPointAfter(function);
  auto tree = strategy::TreeOp::create(builder, loc, name, function.getName());
  builder.setInsertionPointToStart(&tree.getBody().front());

  SmallVector<Attribute> axes;
  auto addAxis = [&](StringRef axis, int64_t size) {
    axes.push_back(
        strategy::AxisAttr::get(context, StringAttr::get(context, axis), size));
  };
  // Outermost axis first, as in Megatron-LM and DeepSpeed. The devices along an
  // outer axis are farther apart, and the outer axes communicate least.
  std::pair<StringRef, int64_t> degrees[] = {{kPipeline, decisions.pp},
                                             {kData, decisions.dataReplicas()},
                                             {kContext, decisions.cp},
                                             {kExpert, decisions.expertRanks()},
                                             {kTensor, decisions.tp}};
  for (auto [axis, size] : degrees)
    if (size > 1)
      addAxis(axis, size);
  // A mesh has at least one axis.
  if (axes.empty())
    addAxis(kData, 1);
  strategy::MeshOp::create(builder, loc, ArrayAttr::get(context, axes),
                           DenseI64ArrayAttr());
  writeSettings(builder, splits.getEverywhere());
  writeStepSettings(tree, stepSettings(), getGradientBytes(function));
  builder.setInsertionPointToEnd(&tree.getBody().front());
  if (decisions.overlapParameters)
    strategy::PrefetchOp::create(
        builder, loc,
        stated.prefetch ? builder.getI64IntegerAttr(*stated.prefetch)
                        : IntegerAttr(),
        BoolAttr(), /*once=*/true);

  llvm::SetVector<StringRef> written;
  for (Operation *op : model.getOperations()) {
    const ModelShape::Position *position = model.getPosition(op);
    if (!position)
      continue;
    StringRef pattern = position->layers;
    if (!pattern.empty()) {
      if (written.insert(pattern))
        writeLayers(builder, pattern);
    } else if (std::optional<OperationSettings> list = settingsOf(op);
               list && written.insert(position->path)) {
      writeNode(builder, position->path, *list);
    }
  }
}

void proteus::writeTree(const ModelShape &model, const SplitPlan &splits,
                        const StagePlan &stages, const plan::ParallelPlan &plan,
                        StringRef name) {
  TreeWriter(model, splits, stages, plan).write(name);
}
