//===- TreeMatcher.h - matching of a tree with its model --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares TreeMatcher, the core of the pass match-strategy. Its implementation
// has three parts: TreeMatcher.cpp finds the settings of a path,
// TreeAnnotations.cpp annotates operations and arguments, and MatchStrategy.cpp
// reads the settings of the whole step and contains the pass.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_MATCH_TREEMATCHER_H
#define PROTEUS_LIB_TRANSFORMS_MATCH_TREEMATCHER_H

#include "UnusedSettings.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Support/PathPattern.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/BatchAnalysis.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace proteus::match {

//===----------------------------------------------------------------------===//
// The tree as a list
//===----------------------------------------------------------------------===//

/// A node of the tree with its settings. The tree itself is the outermost node,
/// which selects every operation.
struct Node {
  mlir::Operation *op = nullptr;
  /// Pattern of the node; absent for the tree itself.
  std::optional<PathPattern> pattern;
  llvm::SmallVector<strategy::SplitOp> splits;
  strategy::AtOp at;
  strategy::StagesOp stages;
  strategy::RecomputeOp recompute;
  strategy::PrefetchOp prefetch;
  strategy::OffloadOp offload;
  /// True after the node has selected an operation.
  bool selects = false;
  /// Iterators that the node splits, but that no operation selected so far has.
  llvm::SetVector<llvm::StringRef> unusedKeys;
  /// Virtual stage of each module that the node selects. Empty if the node has
  /// no `stages`.
  llvm::MapVector<mlir::StringAttr, int64_t> moduleStage;

  /// Returns the number of leading components of `path` that name the selected
  /// module, or nullopt if the node does not select `path`.
  std::optional<size_t> select(const proteus::Path &path) const {
    return pattern ? pattern->matchLength(path) : std::optional<size_t>(0);
  }
};

/// Stage that the tree sets for an operation. If `anyChunk`, the tree sets no
/// chunk, and the chunk follows from the data flow. Otherwise `stage` is a
/// virtual stage, which includes the chunk.
struct Place {
  int64_t stage;
  bool anyChunk;

  bool operator==(const Place &other) const {
    return stage == other.stage && anyChunk == other.anyChunk;
  }
  bool operator!=(const Place &other) const { return !(*this == other); }
};

/// Settings of the tree for one operation.
struct Settings {
  /// Splits of the operation itself, by iterator.
  llvm::MapVector<llvm::StringRef, strategy::PartAttr> op;
  /// Splits of tensors of the operation, such as its weight or output, by item
  /// and key (iterator or dimension). Each split is stored with the setting
  /// that contains it.
  llvm::MapVector<std::pair<strategy::ItemAttr, mlir::Attribute>,
                  std::pair<strategy::PartAttr, strategy::SplitOp>>
      items;
  std::optional<Place> place;
  /// Coordinates to which the operation is restricted, by axis. The pipeline
  /// axis is not included.
  llvm::MapVector<llvm::StringRef, strategy::CoordinateAttr> fixed;
  /// Number of leading components of the path that name the recomputed module;
  /// absent if the operation is not recomputed. `recomputeOp` is the setting
  /// that requests the recomputation.
  std::optional<size_t> recompute;
  strategy::RecomputeOp recomputeOp;
  /// Number of layers by which gathers of parameters may precede the layer that
  /// reads them.
  std::optional<int64_t> prefetchDepth;
  bool keepGathered = false, gatherOnce = false;
  /// The setting that contains `prefetchDepth`, and the one that contains
  /// `keepGathered` or `gatherOnce`.
  strategy::PrefetchOp prefetchDepthOp, keepGatheredOp;
  /// The innermost `offload` setting. Null if there is no such setting, or if
  /// it is `offload none`.
  strategy::OffloadOp offload;

  /// Returns the splits of `item`.
  llvm::SmallVector<strategy::PartAttr> partsOf(strategy::ItemAttr item) const {
    llvm::SmallVector<strategy::PartAttr> parts;
    for (auto &[key, setting] : items)
      if (key.first == item)
        parts.push_back(setting.first);
    return parts;
  }
};

/// Matches a tree with its model and annotates the model.
class TreeMatcher {
public:
  TreeMatcher(strategy::TreeOp tree, mlir::func::FuncOp function)
      : tree(tree), function(function), context(tree.getContext()) {}

  /// Annotates the model. Emits errors for settings without effect.
  mlir::LogicalResult run();

private:
  mlir::LogicalResult checkModel();
  /// Appends `op`, which is the tree or one of its nodes, and all nodes inside
  /// `op` to `nodes`, in pre-order.
  mlir::LogicalResult collect(mlir::Operation *op);
  mlir::LogicalResult findPipelineAxis();
  /// Computes `moduleStage` of every node with `stages`.
  mlir::LogicalResult assignModulesToStages();
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  runLengths(strategy::StagesOp stages, int64_t count);
  mlir::LogicalResult splitRepeats();
  mlir::LogicalResult annotate();
  mlir::LogicalResult placeArguments();
  mlir::LogicalResult annotateOp(mlir::Operation *op,
                                 const BatchAnalysis &batch);
  mlir::LogicalResult annotateParameter(mlir::OpOperand &operand,
                                        const nn::IterationSpace &space,
                                        const Settings &settings);
  mlir::LogicalResult annotateActivations(mlir::Operation *op,
                                          const nn::IterationSpace &space,
                                          const Settings &settings);
  void markUsed(const proteus::Path &path, const nn::IterationSpace &space,
                const nn::TensorIterators &dims,
                llvm::function_ref<bool(strategy::ItemAttr)> isMeant);
  mlir::LogicalResult reportUnused();
  /// Returns the settings for the operation with the path `path`. Inner nodes
  /// override outer ones, and later nodes override earlier ones.
  Settings settingsOf(const proteus::Path &path);
  /// Returns the stage that `stages`, or `at` on the pipeline axis, sets for a
  /// path, or nullopt if there is none. Nodes override each other as in
  /// `settingsOf`.
  std::optional<Place> placeOf(const proteus::Path &path);
  mlir::FailureOr<dist::ScheduleRequestAttr> readSchedule();
  mlir::FailureOr<dist::StepAttr> readStep();
  mlir::FailureOr<mlir::ArrayAttr> readOrders(int64_t numStages);
  /// Returns the number of chunks per stage.
  int64_t getNumChunks() {
    strategy::ScheduleOp schedule = tree.getSchedule();
    return schedule ? schedule.getVirtualStages().value_or(1) : 1;
  }
  /// Returns the number of stages; 1 without a pipeline.
  int64_t getNumStages() {
    return pipelineAxis.empty() ? 1 : *tree.getMesh().getAxisSize(pipelineAxis);
  }
  llvm::SmallVector<std::pair<proteus::Path, mlir::Operation *>> modulePaths();

  strategy::TreeOp tree;
  mlir::func::FuncOp function;
  mlir::MLIRContext *context;
  /// The tree and its nodes, in pre-order.
  std::vector<Node> nodes;
  /// Splits of tensors for which no tensor has been found so far. Each is a
  /// pair: a `split` setting and one entry of its list. A split that is left at
  /// the end is an error.
  llvm::SetVector<std::pair<mlir::Operation *, mlir::Attribute>> unusedItems;
  /// The settings `prefetch` and `offload`, collected to find those without
  /// effect.
  UnusedSettings idle;
  /// Operations for which the tree sets a layout of the first result. Each is
  /// stored with the axes of every dimension of that result.
  llvm::SmallVector<std::pair<mlir::Operation *, strategy::PartitionAttr>>
      outputs;
  /// Annotations of function arguments. `run` writes them to the function at
  /// once.
  ArgumentAttrChanges argumentAttrs;
  /// Axis over which stages are distributed; empty without a pipeline.
  std::string pipelineAxis;
  /// Axes over which at least one `split` setting divides work or tensors. A
  /// setting `at` on such an axis assigns operations to one of the devices that
  /// otherwise share the work. A setting `at` on any other axis sets a stage.
  llvm::SmallDenseSet<llvm::StringRef> splitAxes;
};

/// Returns the path of `op` in the given iterations of the repeats around it,
/// outermost repeat first. In iteration i of a repeat, the index in the path is
/// i plus the first index of the repeat. A path that cannot be parsed becomes
/// one component.
proteus::Path pathOf(mlir::Operation *op, llvm::ArrayRef<int64_t> iterations);

/// Returns one 0 for each repeat around `op`. With this list, `pathOf` returns
/// the path of `op` in the first iterations.
llvm::SmallVector<int64_t> firstIterations(mlir::Operation *op);

/// Returns true if a tree can have settings for `op`, which is the case for
/// operations with an iteration space.
bool isModelOp(mlir::Operation *op);

} // namespace proteus::match

#endif // PROTEUS_LIB_TRANSFORMS_MATCH_TREEMATCHER_H
