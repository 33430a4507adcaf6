//===- SplitPlan.h - splits of operations for given degrees -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of apply-strategy: what each degree means for the operations of a model.
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

/// What the tree is to say about the operations of one path: a partition per
/// item (of inputs, the first), in the order in which they are written, and
/// whether the backward pass recomputes them.
struct OperationSettings {
  std::map<strategy::ItemKind, llvm::SmallVector<strategy::PartAttr, 2>> splits;
  bool recompute = false;
  /// The data-parallel device that runs them alone.
  std::optional<int64_t> device;
  /// Their stage, where it is not that of what they read.
  std::optional<int64_t> stage;
  bool operator==(const OperationSettings &other) const {
    return splits == other.splits && recompute == other.recompute &&
           device == other.device && stage == other.stage;
  }
};

/// Decides for one model what the tree says about each of its operations.
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

  /// Emits an error if a degree does not fit the model, or has nothing to
  /// split.
  llvm::LogicalResult decide();

  /// What the tree says about `op`; null if it says nothing.
  const OperationSettings *get(mlir::Operation *op) const;

  /// Modules that are recomputed as a whole, by their paths inside layers.
  const llvm::SetVector<llvm::StringRef> &getRecomputedModules() const {
    return recomputedModules;
  }

  /// The parts into which the tree splits all operations.
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
  /// The axes over which experts are dealt out, and the number of places.
  std::pair<llvm::SmallVector<llvm::StringRef>, int64_t>
  placesOfExperts() const;
  llvm::LogicalResult placeExperts();
  void splitSlots();
  llvm::LogicalResult recomputeAttention();
  llvm::LogicalResult placeTables();
  /// Splits what is stored, as ZeRO does.
  void splitStorage();

  strategy::PartAttr part(mlir::Attribute key, Axes axes) const;
  strategy::PartAttr part(llvm::StringRef iterator, Axes axes,
                          bool zigzag = false, bool ring = false) const;
  void addPart(mlir::Operation *op, strategy::PartAttr part);
  /// Splits an iterator of `op` over tp.
  void splitOver(mlir::Operation *op, llvm::StringRef iterator);
  /// Whether tp splits what `op` computes.
  bool isTensorSplit(mlir::Operation *op) const {
    return tensorSplit.contains(op);
  }
  /// The axes over which devices have copies of the parameters of `op`, and
  /// the number of copies.
  std::pair<llvm::SmallVector<llvm::StringRef>, int64_t>
  copiesOf(mlir::Operation *op) const;
  /// How the parameters of `op` in `operands` are stored: as the operation
  /// reads them, and split over the devices that have copies. Empty if they are
  /// too small.
  Parts storageOf(nn::IterationSpaceOpInterface op,
                  llvm::ArrayRef<mlir::OpOperand *> operands) const;

  llvm::SetVector<llvm::StringRef> recomputedModules;
  /// The part of the data axis over which ZeRO splits; empty: all of it.
  std::string dataGroup;
  const ModelShape &model;
  mlir::MLIRContext *context;
  const plan::ResolvedPlan &decisions;
  llvm::DenseMap<mlir::Operation *, OperationSettings> settings;
  llvm::DenseSet<mlir::Operation *> tensorSplit;
  /// Linears whose rows follow the columns, or heads, in front of them.
  llvm::DenseSet<mlir::Operation *> rowLinears;
  /// Whether devices get the two ends of a sequence, not one piece of it.
  bool zigzag = false;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_APPLY_SPLITPLAN_H
