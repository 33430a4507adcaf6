//===- SplitPlan.h - splits of operations for given degrees -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of apply-strategy: the splits and other settings that the degrees imply
// for each operation of a model.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_APPLY_SPLITPLAN_H
#define PROTEUS_LIB_TRANSFORMS_APPLY_SPLITPLAN_H

#include "ModelShape.h"

#include "Proteus/Dialect/Strategy/Strategy.h"

#include "llvm/ADT/SetVector.h"

#include <map>
#include <optional>

namespace proteus {

/// Names of the axes of the mesh.
inline constexpr llvm::StringLiteral kData = "dp";
inline constexpr llvm::StringLiteral kPipeline = "pp";
inline constexpr llvm::StringLiteral kContext = "cp";
inline constexpr llvm::StringLiteral kExpert = "ep";
inline constexpr llvm::StringLiteral kTensor = "tp";

/// Settings of the tree for the operations of one path.
struct OperationSettings {
  /// Splits by item. An item `Input` is operand 0.
  std::map<strategy::ItemKind, llvm::SmallVector<strategy::PartAttr, 2>> splits;
  /// True if the backward pass recomputes the operations.
  bool recompute = false;
  /// Coordinate on `dp` of the only devices that run the operations.
  std::optional<int64_t> device;
  /// Stage of the operations, if it is not that of the values they read.
  std::optional<int64_t> stage;
  bool operator==(const OperationSettings &other) const {
    return splits == other.splits && recompute == other.recompute &&
           device == other.device && stage == other.stage;
  }
};

/// Decides the settings of the tree for each operation of one model.
class SplitPlan {
public:
  SplitPlan(const ModelShape &model, const plan::ResolvedPlan &plan)
      : model(model), context(model.getFunction().getContext()),
        decisions(plan) {
    if (int64_t group = plan.zeroGroup.value_or(0);
        group > 0 && group < plan.dataReplicas())
      dataGroup = (kData + ":(" + llvm::Twine(plan.dataReplicas() / group) +
                   ")" + llvm::Twine(group))
                      .str();
  }

  /// Decides all settings. Emits an error if a degree does not fit the model or
  /// has nothing to split.
  llvm::LogicalResult decide();

  /// Returns the settings for `op`, or null if there are none.
  const OperationSettings *get(mlir::Operation *op) const;

  /// Returns the modules that are recomputed as a whole, by their paths inside
  /// layers.
  const llvm::SetVector<llvm::StringRef> &getRecomputedModules() const {
    return recomputedModules;
  }

  /// Returns the partition that the tree sets for all operations.
  llvm::SmallVector<strategy::PartAttr, 2> getEverywhere() const;

private:
  using Parts = llvm::SmallVector<strategy::PartAttr, 2>;
  using Axes = llvm::ArrayRef<llvm::StringRef>;

  llvm::LogicalResult splitTensors();
  llvm::LogicalResult splitAttention(nn::AttentionOp attention);
  void splitHeadProduct(nn::MatmulOp product);
  void splitLinear(nn::LinearOp linear);
  void splitExperts(nn::ExpertLinearOp linear);
  llvm::LogicalResult checkSequence();
  void splitSequence();
  llvm::LogicalResult splitContext();
  /// Returns the axes over which experts are distributed, and the product of
  /// their sizes.
  std::pair<llvm::SmallVector<llvm::StringRef>, int64_t>
  placesOfExperts() const;
  llvm::LogicalResult placeExperts();
  void splitSlots();
  llvm::LogicalResult recomputeAttention();
  llvm::LogicalResult placeTables();
  /// Splits parameters, gradients and states as the ZeRO stage requires.
  void splitStorage();

  /// Builds the split of an iterator or a dimension over `axes`.
  strategy::PartAttr part(mlir::Attribute key, Axes axes) const;
  strategy::PartAttr part(llvm::StringRef iterator, Axes axes,
                          bool zigzag = false, bool ring = false) const;
  /// Adds a split to the partition of `op`.
  void addPart(mlir::Operation *op, strategy::PartAttr part);
  /// Splits an iterator of `op` over tp, unless tp splits `op` already.
  void splitOver(mlir::Operation *op, llvm::StringRef iterator);
  /// Returns true if `splitOver` has split `op` over tp.
  bool isTensorSplit(mlir::Operation *op) const {
    return tensorSplit.contains(op);
  }
  /// Returns the axes over which the parameters of `op` are replicated, and the
  /// number of copies.
  std::pair<llvm::SmallVector<llvm::StringRef>, int64_t>
  copiesOf(mlir::Operation *op) const;
  /// Returns the storage of the parameters of `op` in `operands`: split as `op`
  /// reads them, and further over the devices that hold copies. Returns an
  /// empty list if the parameters are too small.
  Parts storageOf(nn::IterationSpaceOpInterface op,
                  llvm::ArrayRef<mlir::OpOperand *> operands) const;

  llvm::SetVector<llvm::StringRef> recomputedModules;
  /// Part of the axis dp over which ZeRO splits (`zero-group`); empty for the
  /// whole axis.
  std::string dataGroup;
  const ModelShape &model;
  mlir::MLIRContext *context;
  const plan::ResolvedPlan &decisions;
  llvm::DenseMap<mlir::Operation *, OperationSettings> settings;
  /// Operations with an iterator that `splitOver` has split over tp.
  llvm::DenseSet<mlir::Operation *> tensorSplit;
  /// Linears that propagation splits by rows, because the linears or heads
  /// before them are split by columns.
  llvm::DenseSet<mlir::Operation *> rowLinears;
  /// True if each device of cp gets one chunk from each end of a sequence
  /// (zigzag), not one contiguous part.
  bool zigzag = false;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_APPLY_SPLITPLAN_H
