//===- TreeMatcher.h - a strategy tree against its model --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matching has three parts, a file each: what the tree says of a path
// (TreeMatcher.cpp), writing it onto operations and arguments
// (TreeAnnotations.cpp), and what the tree says of the whole step
// (MatchStrategy.cpp, which runs them).
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

/// A node of the tree (or the tree itself, which selects everything) with what
/// it sets.
struct Node {
  mlir::Operation *op = nullptr;
  /// Absent for the tree.
  std::optional<PathPattern> pattern;
  llvm::SmallVector<strategy::SplitOp> splits;
  strategy::AtOp at;
  strategy::StagesOp stages;
  strategy::RecomputeOp recompute;
  strategy::PrefetchOp prefetch;
  strategy::OffloadOp offload;
  /// Whether any operation was selected.
  bool selects = false;
  /// Iterator names that no selected operation has so far.
  llvm::SetVector<llvm::StringRef> unusedKeys;
  /// Stage of each matched module, for `stages`.
  llvm::MapVector<mlir::StringAttr, int64_t> moduleStage;

  /// Components of `path` that name the selected module; none if not selected.
  std::optional<size_t> select(const proteus::Path &path) const {
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
  llvm::MapVector<llvm::StringRef, strategy::PartAttr> op;
  /// Memory items: by item and key (iterator or dimension), the axes and who
  /// set them.
  llvm::MapVector<std::pair<strategy::ItemAttr, mlir::Attribute>,
                  std::pair<strategy::PartAttr, strategy::SplitOp>>
      items;
  std::optional<Place> place;
  /// Positions on axes other than that of the pipeline, by axis.
  llvm::MapVector<llvm::StringRef, strategy::CoordinateAttr> fixed;
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
  llvm::SmallVector<strategy::PartAttr> partsOf(strategy::ItemAttr item) const {
    llvm::SmallVector<strategy::PartAttr> parts;
    for (auto &[key, setting] : items)
      if (key.first == item)
        parts.push_back(setting.first);
    return parts;
  }
};

/// Matches a tree against its model.
class TreeMatcher {
public:
  TreeMatcher(strategy::TreeOp tree, mlir::func::FuncOp function)
      : tree(tree), function(function), context(tree.getContext()) {}

  mlir::LogicalResult run();

private:
  mlir::LogicalResult checkModel();
  mlir::LogicalResult collect(mlir::Operation *op);
  mlir::LogicalResult findPipelineAxis();
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
  Settings settingsOf(const proteus::Path &path);
  /// Where the tree puts an operation; nearest wins.
  std::optional<Place> placeOf(const proteus::Path &path);
  mlir::FailureOr<dist::ScheduleRequestAttr> readSchedule();
  mlir::FailureOr<dist::StepAttr> readStep();
  mlir::FailureOr<mlir::ArrayAttr> readOrders(int64_t numStages);
  /// The number of chunks per stage.
  int64_t getNumChunks() {
    strategy::ScheduleOp schedule = tree.getSchedule();
    return schedule ? schedule.getVirtualStages().value_or(1) : 1;
  }
  /// The number of stages; 1 without a pipeline.
  int64_t getNumStages() {
    return pipelineAxis.empty() ? 1 : *tree.getMesh().getAxisSize(pipelineAxis);
  }
  llvm::SmallVector<std::pair<proteus::Path, mlir::Operation *>> modulePaths();

  strategy::TreeOp tree;
  mlir::func::FuncOp function;
  mlir::MLIRContext *context;
  std::vector<Node> nodes;
  /// Memory items, part by part, that concern no tensor so far.
  llvm::SetVector<std::pair<mlir::Operation *, mlir::Attribute>> unusedItems;
  /// Prefetches and offloads, and what they are about.
  UnusedSettings idle;
  /// Results that are kept in a layout of their own.
  llvm::SmallVector<std::pair<mlir::Operation *, strategy::PartitionAttr>>
      outputs;
  /// What the tree says about arguments of the function.
  ArgumentAttrChanges argumentAttrs;
  /// Axis along which stages lie; empty without a pipeline.
  std::string pipelineAxis;
  /// Axes that splits name. On them `at` places single operations among
  /// devices that otherwise share the work; on others it names a stage.
  llvm::SmallDenseSet<llvm::StringRef> splitAxes;
};

/// Path of `op` with the iterations of the repeats around it, outermost first,
/// filled in. Paths that don't parse (foreign names) are one component.
proteus::Path pathOf(mlir::Operation *op, llvm::ArrayRef<int64_t> iterations);

/// Iterations 0 of all repeats around `op`.
llvm::SmallVector<int64_t> firstIterations(mlir::Operation *op);

/// Whether the tree speaks of `op`.
bool isModelOp(mlir::Operation *op);

} // namespace proteus::match

#endif // PROTEUS_LIB_TRANSFORMS_MATCH_TREEMATCHER_H
