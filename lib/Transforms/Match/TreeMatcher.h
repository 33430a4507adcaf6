//===- TreeMatcher.h - matching of a tree with its model --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TreeMatcher is the core of match-strategy. Its implementation has three
// parts: the settings of a path (TreeMatcher.cpp), the annotation of operations
// and arguments (TreeAnnotations.cpp), and the settings of the whole step
// (MatchStrategy.cpp, which also contains the pass).
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

/// A node of the tree, or the tree itself, which selects every operation, with
/// its settings.
struct Node {
  mlir::Operation *op = nullptr;
  /// Pattern of the node; absent for the tree.
  std::optional<PathPattern> pattern;
  llvm::SmallVector<strategy::SplitOp> splits;
  strategy::AtOp at;
  strategy::StagesOp stages;
  strategy::RecomputeOp recompute;
  strategy::PrefetchOp prefetch;
  strategy::OffloadOp offload;
  /// True if an operation was selected.
  bool selects = false;
  /// Iterators that the node splits and no operation selected so far has.
  llvm::SetVector<llvm::StringRef> unusedKeys;
  /// Virtual stage of each module that the node selects, if it has `stages`.
  llvm::MapVector<mlir::StringAttr, int64_t> moduleStage;

  /// Returns the number of leading components of `path` that name the selected
  /// module, or nullopt if the node does not select `path`.
  std::optional<size_t> select(const proteus::Path &path) const {
    return pattern ? pattern->matchLength(path) : std::optional<size_t>(0);
  }
};

/// Stage that the tree sets for an operation: a virtual stage, or a stage whose
/// chunk follows from the data flow.
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
  /// Splits of memory items, by item and key (iterator or dimension), each with
  /// the setting that states it.
  llvm::MapVector<std::pair<strategy::ItemAttr, mlir::Attribute>,
                  std::pair<strategy::PartAttr, strategy::SplitOp>>
      items;
  std::optional<Place> place;
  /// Coordinates on axes other than the pipeline axis, by axis.
  llvm::MapVector<llvm::StringRef, strategy::CoordinateAttr> fixed;
  /// Number of leading components of the path that name the recomputed module,
  /// and the setting that states the recomputation.
  std::optional<size_t> recompute;
  strategy::RecomputeOp recomputeOp;
  /// Number of layers by which gathers may precede their use.
  std::optional<int64_t> prefetchDepth;
  bool keepGathered = false, gatherOnce = false;
  /// The setting that states `prefetchDepth`, and the one that states
  /// `keepGathered` or `gatherOnce`.
  strategy::PrefetchOp prefetchDepthOp, keepGatheredOp;
  /// The innermost `offload`; null if there is none or it is `none`.
  strategy::OffloadOp offload;

  /// Returns the splits of one item.
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
  /// Appends `op`, a node or the tree, and its nodes to `nodes` in pre-order.
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
  /// Returns the settings for a path; inner nodes override outer ones.
  Settings settingsOf(const proteus::Path &path);
  /// Returns the stage that the innermost `at` or `stages` sets for a path, or
  /// nullopt.
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
  /// Splits of memory items (setting, entry) that concern no tensor so far.
  llvm::SetVector<std::pair<mlir::Operation *, mlir::Attribute>> unusedItems;
  /// Uses of `prefetch` and `offload`, to find those without effect.
  UnusedSettings idle;
  /// Results with a layout of their own, each an operation and the axes of each
  /// dimension of its first result.
  llvm::SmallVector<std::pair<mlir::Operation *, strategy::PartitionAttr>>
      outputs;
  /// Annotations of function arguments, written at the end.
  ArgumentAttrChanges argumentAttrs;
  /// Axis along which stages lie; empty without a pipeline.
  std::string pipelineAxis;
  /// Axes over which a split divides work. On these, `at` assigns single
  /// operations to some of the devices that otherwise share the work. On any
  /// other axis, `at` sets a stage.
  llvm::SmallDenseSet<llvm::StringRef> splitAxes;
};

/// Returns the path of `op`. The indices of the repeats around it are their
/// first indices plus `iterations`, outermost repeat first. A path that does
/// not parse (a foreign name) becomes one component.
proteus::Path pathOf(mlir::Operation *op, llvm::ArrayRef<int64_t> iterations);

/// Returns iteration 0 for each repeat around `op`.
llvm::SmallVector<int64_t> firstIterations(mlir::Operation *op);

/// Returns true if a tree can have settings for `op`, which is then an
/// operation with an iteration space.
bool isModelOp(mlir::Operation *op);

} // namespace proteus::match

#endif // PROTEUS_LIB_TRANSFORMS_MATCH_TREEMATCHER_H
