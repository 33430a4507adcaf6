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

#ifndef PROTEUS_TRANSFORMS_COMMON_ANNOTATIONS_H
#define PROTEUS_TRANSFORMS_COMMON_ANNOTATIONS_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/Strategy.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace proteus {

/// On an op: the part of the step it belongs to.
constexpr llvm::StringLiteral kPhaseAttr = "strategy.phase";
/// On an op or argument: its place in the sequence of virtual stages. With p
/// stages, c * p + s is chunk c of stage s; without chunks it is the stage.
constexpr llvm::StringLiteral kStageAttr = "strategy.stage";
/// On an op or argument: coordinates (#strategy.coordinate) at which alone it
/// is, on axes other than that of the pipeline.
constexpr llvm::StringLiteral kPlaceAttr = "strategy.place";
/// On an op, until its virtual stage is known: the stage that holds it.
constexpr llvm::StringLiteral kPositionAttr = "strategy.position";
/// On a parameter that several stages hold: these stages.
constexpr llvm::StringLiteral kTiedAttr = "strategy.tied";
/// On a forward op: the group it is recomputed with.
constexpr llvm::StringLiteral kRecomputeAttr = "strategy.recompute";
/// On an op: axes per iterator (#strategy.partition).
constexpr llvm::StringLiteral kOpAttr = "strategy.op";
/// On an op: axes per dimension of the gradient of its first result.
constexpr llvm::StringLiteral kOutputGradientAttr = "strategy.output_gradient";
/// On an op: for operands that are kept for the backward pass in a layout of
/// their own, pairs of operand number and axes per dimension.
constexpr llvm::StringLiteral kInputsAttr = "strategy.inputs";
/// On an op: what it has gathered of its parameters in the forward pass is kept
/// for the backward pass.
constexpr llvm::StringLiteral kKeepGatheredAttr = "strategy.keep_gathered";
/// On an nn.keep: it keeps its operand as the operation in front of it reads
/// it, namely as its operand of that number.
constexpr llvm::StringLiteral kKeepAsReadAttr = "strategy.keep_as_read";
/// On an op: how many repeated layers ahead its parameters may be gathered.
constexpr llvm::StringLiteral kPrefetchAttr = "strategy.prefetch";
/// On an op: its parameters are gathered once per step.
constexpr llvm::StringLiteral kGatherOnceAttr = "strategy.gather_once";
/// On an op: its results are kept for the backward pass in host memory.
constexpr llvm::StringLiteral kOffloadAttr = "strategy.offload";
/// On an op of a ring: the number of its step. The parts of its ring iterators
/// have been shifted as often.
constexpr llvm::StringLiteral kRingStepAttr = "strategy.ring_step";

/// On the function: the mesh (#dist.mesh), the tree it was matched with, and
/// the axis along which pipeline stages lie.
constexpr llvm::StringLiteral kMeshAttr = "strategy.mesh";
constexpr llvm::StringLiteral kTreeAttr = "strategy.tree";
constexpr llvm::StringLiteral kPipelineAxisAttr = "strategy.pipeline_axis";
/// On the function and its programs: what the tree says about the order of
/// micro-batches (`order`, `max_ongoing`, `virtual_stages`, and `orders`, the
/// items of every stage, if they are listed) and the sizes of gradient buckets
/// (`size`, `first`, in bytes).
constexpr llvm::StringLiteral kScheduleAttr = "strategy.schedule";
constexpr llvm::StringLiteral kBucketAttr = "strategy.bucket";
/// On the function: values may cross between stages in slices.
constexpr llvm::StringLiteral kScatterGatherAttr = "strategy.scatter_gather";
/// On the function and its programs: into how many chunks products are cut
/// whose operands are gathered or whose results are summed up; 0 if nothing is
/// said.
constexpr llvm::StringLiteral kChunksAttr = "strategy.chunks";
/// On an argument: its layout (#dist.layout).
constexpr llvm::StringLiteral kLayoutAttr = "strategy.layout";

/// Last part of the path of a master copy, behind the path of its parameter.
constexpr llvm::StringLiteral kMasterStateName = "master";

/// On a parameter: axes per dimension of itself, its gradient or its state.
llvm::StringRef getStorageAttrName(strategy::ItemKind item);
/// On a parameter: it, or its state, lies in host memory.
llvm::StringRef getHostAttrName(strategy::ItemKind item);

/// Part of a training step. Where the schedule splits gradients, split-stages
/// tells those that another stage waits for (backward) from the others.
enum class Phase { Forward, Backward, WeightGradient, Update };

llvm::StringRef stringify(Phase phase);
void setPhase(mlir::Operation *op, Phase phase);
/// Phase of `op`; forward when it has none (forward-only programs).
Phase getPhase(mlir::Operation *op);

/// Role of a function argument, if it has one.
std::optional<nn::Role> getRole(mlir::BlockArgument argument);
/// Path of a function argument, or `arg<k>`.
std::string getArgumentPath(mlir::BlockArgument argument);
/// Whether a function argument is an optimizer's copy of a parameter in a type
/// of its own.
bool isMasterCopy(mlir::BlockArgument argument);
/// Attribute of a function argument.
mlir::Attribute getArgumentAttr(mlir::BlockArgument argument,
                                llvm::StringRef name);

/// Changes of attributes of function arguments, to be written together: a
/// function has one list for all its arguments, and making it anew for each of
/// them would be quadratic.
class ArgumentAttrChanges {
public:
  void set(mlir::BlockArgument argument, llvm::StringRef name,
           mlir::Attribute attribute);
  /// The attribute as it will be; null if there is none.
  mlir::Attribute get(mlir::BlockArgument argument, llvm::StringRef name) const;
  /// Writes all changes, which are of arguments of `function`, and forgets
  /// them.
  void apply(mlir::FunctionOpInterface function);

private:
  /// All attributes of the arguments that change.
  llvm::DenseMap<mlir::Value, mlir::NamedAttrList> changed;
};

/// The parameter behind `value`, through the slices of repeats, and how many
/// stacks it is in; null if there is none.
std::pair<mlir::BlockArgument, unsigned> getParameter(mlir::Value value);

/// The recompute group of `op`, or null.
mlir::StringAttr getRecomputeGroup(mlir::Operation *op);

std::optional<int64_t> getStage(mlir::Operation *op);
std::optional<int64_t> getStage(mlir::BlockArgument argument);
void setStage(mlir::Operation *op, int64_t stage);

/// Gives `to` the stage and the place of `from`, and what `from` says about
/// iterators that `to` has under the same name.
void inheritAnnotations(mlir::Operation *from, mlir::Operation *to);
/// Replaces what `to` says about its iterators by what `from` says, for the
/// pairs (name in `from`, name in `to`) alone.
void inheritPartition(
    mlir::Operation *from, mlir::Operation *to,
    llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> names);
/// Removes what passes leave for each other from an op and the ops inside it.
void stripAnnotations(mlir::Operation *root);
/// Gives an op and the ops inside it the stage and the place of a function
/// argument.
void inheritPlace(mlir::BlockArgument from, mlir::Operation *to);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_ANNOTATIONS_H
