//===- SplitPlan.h - splits of operations for given degrees -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass apply-strategy: derives the splits and other settings of
// each operation of a model from the degrees.
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
  /// Splits of the operation itself and of its tensors, by item. The item
  /// `Input` always means operand 0.
  std::map<strategy::ItemKind, llvm::SmallVector<strategy::PartAttr, 2>> splits;
  /// True if the backward pass recomputes the operations.
  bool recompute = false;
  /// If set, only devices with this coordinate on `dp` run the operations.
  std::optional<int64_t> device;
  /// Stage of the operations. If not set, they run in the stage of the values
  /// that they read.
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

  /// Returns the paths, relative to their layers, of the modules that are
  /// recomputed as a whole.
  const llvm::SetVector<llvm::StringRef> &getRecomputedModules() const {
    return recomputedModules;
  }

  /// Returns the splits that the tree sets for all operations, such as that of
  /// the batch over `dp`, and the flat cut in which ZeRO stores all parameters.
  OperationSettings getEverywhere() const;

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
  /// the sizes of these axes.
  std::pair<llvm::SmallVector<llvm::StringRef>, int64_t>
  placesOfExperts() const;
  llvm::LogicalResult placeExperts();
  void splitSlots();
  llvm::LogicalResult recomputeAttention();
  llvm::LogicalResult placeTables();
  /// Splits parameters, gradients and states as the ZeRO stage requires, except
  /// for the splits of `getEverywhere`.
  void splitStorage();
  /// Splits parameters, gradients and states over `parts`, as far as the ZeRO
  /// stage splits them.
  void store(OperationSettings &list, const Parts &parts) const;
  /// Returns true if ZeRO cuts parameters flat, instead of one dimension.
  bool cutsFlat() const {
    return decisions.zero != plan::ZeroStage::None &&
           decisions.zeroShards != plan::ZeroShards::Dimensions;
  }
  /// Returns the flat cut over `axes`.
  strategy::PartAttr flatPart(Axes axes) const;

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
  /// Returns the axes along which devices would hold copies of the parameters
  /// of `op`, or of parameters of any operation but experts if `op` is null,
  /// without ZeRO, and the product of their sizes. ZeRO splits over
  /// these axes. If `zero-group` is smaller than dp, a sub-axis of dp replaces
  /// dp.
  std::pair<llvm::SmallVector<llvm::StringRef>, int64_t>
  copiesOf(mlir::Operation *op) const;
  /// Returns the splits by dimension with which ZeRO stores the parameters
  /// `operands` of `op`, their gradients and their states: the splits with
  /// which `op` reads the parameters, and a further split over the axes of
  /// `copiesOf`. Returns an empty list if there are no such axes, or if the
  /// parameters are too small.
  Parts storageOf(nn::IterationSpaceOpInterface op,
                  llvm::ArrayRef<mlir::OpOperand *> operands) const;

  llvm::SetVector<llvm::StringRef> recomputedModules;
  /// Sub-axis of dp over which ZeRO splits if `zero-group` is smaller than dp;
  /// empty if ZeRO splits over the whole axis.
  std::string dataGroup;
  const ModelShape &model;
  mlir::MLIRContext *context;
  const plan::ResolvedPlan &decisions;
  llvm::DenseMap<mlir::Operation *, OperationSettings> settings;
  /// Operations with an iterator that `splitOver` has split over tp.
  llvm::DenseSet<mlir::Operation *> tensorSplit;
  /// Linears that propagation later splits by rows, because the linear or
  /// attention before them is split by columns or heads.
  llvm::DenseSet<mlir::Operation *> rowLinears;
  /// True if each device of cp gets two chunks of a sequence, one from each end
  /// (a zigzag). False if each device gets one contiguous part.
  bool zigzag = false;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_APPLY_SPLITPLAN_H
