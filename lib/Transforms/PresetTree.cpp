//===- PresetTree.cpp - writing a strategy tree -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PresetTree.h"

using namespace mlir;
using namespace proteus;

strategy::ScheduleOrder
proteus::getScheduleOrder(const ApplyStrategyOptions &options) {
  bool chunks = options.virtualStages > 1;
  return chunks && options.schedule ==
                       strategy::ScheduleOrder::OneForwardOneBackward
             ? strategy::ScheduleOrder::Interleaved
             : options.schedule;
}

namespace {

class TreeWriter {
public:
  TreeWriter(const PresetModel &model, const PresetSplits &splits,
             const ApplyStrategyOptions &options)
      : model(model), splits(splits), options(options),
        function(model.getFunction()), context(function.getContext()) {}

  void write(StringRef name);

private:
  void writeSettings(OpBuilder &builder, const PresetSettings &list);
  void writeNode(OpBuilder &builder, StringRef pattern,
                 const PresetSettings &list);
  void writeLayers(OpBuilder &builder, StringRef pattern);

  const PresetModel &model;
  const PresetSplits &splits;
  const ApplyStrategyOptions &options;
  func::FuncOp function;
  MLIRContext *context;
};

} // namespace

void TreeWriter::writeSettings(OpBuilder &builder, const PresetSettings &list) {
  if (list.recompute)
    strategy::RecomputeOp::create(builder, function.getLoc());
  if (list.device) {
    Attribute place = strategy::CoordinateAttr::get(
        context, StringAttr::get(context, kData), *list.device);
    strategy::AtOp::create(builder, function.getLoc(),
                           ArrayAttr::get(context, place));
  }
  for (auto &[kind, parts] : list.splits)
    strategy::SplitOp::create(builder, function.getLoc(),
                              strategy::ItemAttr::get(context, kind),
                              strategy::PartitionAttr::get(context, parts));
}

void TreeWriter::writeNode(OpBuilder &builder, StringRef pattern,
                           const PresetSettings &list) {
  OpBuilder::InsertionGuard guard(builder);
  auto node = strategy::NodeOp::create(builder, function.getLoc(), pattern);
  builder.setInsertionPointToStart(&node.getBody().front());
  writeSettings(builder, list);
}

void TreeWriter::writeLayers(OpBuilder &builder, StringRef pattern) {
  const PresetModel::Layers &group = model.getLayers(pattern);
  // What holds for a path in every layer is said once, the rest layer by layer.
  llvm::MapVector<StringRef, PresetSettings> common;
  SmallVector<Operation *> single;
  for (auto &[path, members] : group.operations) {
    SmallVector<Operation *> set = llvm::filter_to_vector(
        members, [&](Operation *op) { return splits.get(op); });
    if (set.empty())
      continue;
    // Operations of other kinds may share the path; they lack the iterators.
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
  bool stages =
      pattern == model.getMainLayers() && options.pipelineParallel > 1;
  bool again =
      pattern == model.getMainLayers() && options.recompute == Recompute::Full;
  if (stages || again || !common.empty()) {
    OpBuilder::InsertionGuard guard(builder);
    Location loc = function.getLoc();
    auto node = strategy::NodeOp::create(builder, loc, pattern);
    builder.setInsertionPointToStart(&node.getBody().front());
    if (stages)
      strategy::StagesOp::create(builder, loc, builder.getStringAttr(kPipeline),
                                 DenseI64ArrayAttr());
    if (again)
      strategy::RecomputeOp::create(builder, loc);
    for (auto &[path, list] : common)
      if (path.empty())
        writeSettings(builder, list);
      else
        writeNode(builder, path, list);
  }
  for (Operation *op : single)
    writeNode(builder, nn::getPath(op), *splits.get(op));
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
  // Outermost first: what communicates least may lie farthest apart.
  std::pair<StringRef, int64_t> degrees[] = {
      {kData, options.dataParallel},
      {kPipeline, options.pipelineParallel},
      {kContext, options.contextParallel},
      {kExpert, options.expertParallel},
      {kTensor, options.tensorParallel}};
  if (options.stagesOutermost)
    std::swap(degrees[0], degrees[1]);
  for (auto [axis, size] : degrees)
    if (size > 1)
      addAxis(axis, size);
  // A mesh has an axis.
  if (axes.empty())
    addAxis(kData, 1);
  strategy::MeshOp::create(builder, loc, ArrayAttr::get(context, axes),
                           DenseI64ArrayAttr());
  if (options.microBatches > 1 || options.pipelineParallel > 1)
    strategy::ScheduleOp::create(
        builder, loc, builder.getI64IntegerAttr(options.microBatches),
        builder.getStringAttr(
            strategy::stringifyScheduleOrder(getScheduleOrder(options))),
        IntegerAttr(),
        options.virtualStages > 1
            ? builder.getI64IntegerAttr(options.virtualStages)
            : IntegerAttr());
  auto given = [&](int64_t bytes) {
    return bytes > 0 ? builder.getI64IntegerAttr(bytes) : IntegerAttr();
  };
  if (options.bucketSize > 0 || options.firstBucketSize > 0)
    strategy::BucketOp::create(builder, loc, given(options.bucketSize),
                               given(options.firstBucketSize),
                               /*gather=*/IntegerAttr(),
                               /*by_operation=*/UnitAttr(),
                               /*all_reduce=*/UnitAttr());
  SmallVector<strategy::PartAttr, 2> everywhere = splits.getEverywhere();
  if (!everywhere.empty()) {
    PresetSettings list;
    list.splits[strategy::ItemKind::Op] = everywhere;
    writeSettings(builder, list);
  }
  if (options.prefetch >= 0 || !options.reshardAfterForward)
    strategy::PrefetchOp::create(
        builder, loc,
        options.prefetch >= 0 ? builder.getI64IntegerAttr(options.prefetch)
                              : IntegerAttr(),
        options.reshardAfterForward ? BoolAttr() : builder.getBoolAttr(false));
  if (options.offloadWeight || options.offloadState ||
      options.offloadActivation)
    strategy::OffloadOp::create(builder, loc, /*none=*/false,
                                options.offloadWeight, options.offloadState,
                                options.offloadActivation);

  llvm::SetVector<StringRef> written;
  for (Operation *op : model.getOperations()) {
    const PresetModel::Position *position = model.getPosition(op);
    if (!position)
      continue;
    StringRef pattern = position->layers;
    if (!pattern.empty()) {
      if (written.insert(pattern))
        writeLayers(builder, pattern);
    } else if (splits.get(op) && written.insert(position->path)) {
      writeNode(builder, position->path, *splits.get(op));
    }
  }
}

void proteus::writePresetTree(const PresetModel &model,
                              const PresetSplits &splits,
                              const ApplyStrategyOptions &options,
                              StringRef name) {
  TreeWriter(model, splits, options).write(name);
}
