//===- Annotations.h - facts passes leave for each other --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Phases of the lowering hand facts to each other as discardable attributes.
// Their names and their readers are here and nowhere else.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_ANNOTATIONS_H
#define PROTEUS_TRANSFORMS_ANNOTATIONS_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/Strategy.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace proteus {

/// On an op: the part of the step it belongs to.
constexpr llvm::StringLiteral kPhaseAttr = "strategy.phase";
/// On an op or argument: its pipeline stage.
constexpr llvm::StringLiteral kStageAttr = "strategy.stage";
/// On a forward op: the group it is recomputed with.
constexpr llvm::StringLiteral kRecomputeAttr = "strategy.recompute";
/// On an op: axes per iterator (#strategy.partition).
constexpr llvm::StringLiteral kOpAttr = "strategy.op";
/// On an op of a ring: the number of its step. The parts of its ring iterators
/// have been shifted as often.
constexpr llvm::StringLiteral kRingStepAttr = "strategy.ring_step";

/// On the function: the mesh (#dist.mesh), the tree it was matched with, and
/// the axis along which pipeline stages lie.
constexpr llvm::StringLiteral kMeshAttr = "strategy.mesh";
constexpr llvm::StringLiteral kTreeAttr = "strategy.tree";
constexpr llvm::StringLiteral kPipelineAxisAttr = "strategy.pipeline_axis";
/// On the function and its programs: what the tree says about the order of
/// micro-batches (`order`, `max_ongoing`) and the sizes of gradient buckets
/// (`size`, `first`, in bytes).
constexpr llvm::StringLiteral kScheduleAttr = "strategy.schedule";
constexpr llvm::StringLiteral kBucketAttr = "strategy.bucket";
/// On an argument: its layout (#dist.layout).
constexpr llvm::StringLiteral kLayoutAttr = "strategy.layout";

/// On a parameter: axes per dimension of itself or its state.
llvm::StringRef getStorageAttrName(strategy::ItemKind item);

/// Part of a training step.
enum class Phase { Forward, Backward, Update };

llvm::StringRef stringify(Phase phase);
void setPhase(mlir::Operation *op, Phase phase);
/// Phase of `op`; forward when it has none (forward-only programs).
Phase getPhase(mlir::Operation *op);

/// Role of a function argument, if it has one.
std::optional<nn::Role> getRole(mlir::BlockArgument argument);
/// Path of a function argument, or `arg<k>`.
std::string getArgumentPath(mlir::BlockArgument argument);
/// Attribute of a function argument.
mlir::Attribute getArgumentAttr(mlir::BlockArgument argument,
                                llvm::StringRef name);
void setArgumentAttr(mlir::BlockArgument argument, llvm::StringRef name,
                     mlir::Attribute attribute);

/// The parameter behind `value`, through the slices of repeats, and how many
/// stacks it is in; null if there is none.
std::pair<mlir::BlockArgument, unsigned> getParameter(mlir::Value value);

/// The recompute group of `op`, or null.
mlir::StringAttr getRecomputeGroup(mlir::Operation *op);

std::optional<int64_t> getStage(mlir::Operation *op);
std::optional<int64_t> getStage(mlir::BlockArgument argument);
void setStage(mlir::Operation *op, int64_t stage);

/// Gives `to` the stage of `from`, and what `from` says about iterators that
/// `to` has under the same name.
void inheritAnnotations(mlir::Operation *from, mlir::Operation *to);
/// Replaces what `to` says about its iterators by what `from` says, for the
/// pairs (name in `from`, name in `to`) alone.
void inheritPartition(
    mlir::Operation *from, mlir::Operation *to,
    llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> names);
/// Gives an op and the ops inside it the stage of a function argument.
void inheritStage(mlir::BlockArgument from, mlir::Operation *to);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_ANNOTATIONS_H
