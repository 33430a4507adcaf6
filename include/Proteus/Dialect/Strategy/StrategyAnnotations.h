//===- StrategyAnnotations.h - attributes that passes leave -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of the discardable attributes by which a phase of the lowering hands
// facts to the next ones. The dialect verifies the type and the place of each
// of them, and refuses other names.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_STRATEGY_STRATEGYANNOTATIONS_H
#define PROTEUS_DIALECT_STRATEGY_STRATEGYANNOTATIONS_H

#include "Proteus/Dialect/Strategy/Strategy.h"

namespace proteus {

//===----------------------------------------------------------------------===//
// On operations
//===----------------------------------------------------------------------===//

/// Part of the step (#strategy.phase).
constexpr llvm::StringLiteral kPhaseAttr = "strategy.phase";
/// Virtual stage; on arguments, too. With p stages, c * p + s is chunk c of
/// stage s; without chunks it is the stage.
constexpr llvm::StringLiteral kStageAttr = "strategy.stage";
/// Coordinates (#strategy.coordinate) to which the operation or argument is
/// restricted, on axes other than that of the pipeline.
constexpr llvm::StringLiteral kPlaceAttr = "strategy.place";
/// Stage of an operation whose virtual stage is not known yet.
constexpr llvm::StringLiteral kPositionAttr = "strategy.position";
/// Name of the group of forward operations that are recomputed together.
constexpr llvm::StringLiteral kRecomputeAttr = "strategy.recompute";
/// Axes per iterator (#strategy.partition).
constexpr llvm::StringLiteral kOpAttr = "strategy.op";
/// Axes per dimension of the gradient of the first result.
constexpr llvm::StringLiteral kOutputGradientAttr = "strategy.output_gradient";
/// Pairs of operand number and axes per dimension, for operands that are kept
/// for the backward pass in a layout of their own.
constexpr llvm::StringLiteral kInputsAttr = "strategy.inputs";
/// Set if parameters that the forward pass gathers are kept for the backward
/// pass.
constexpr llvm::StringLiteral kKeepGatheredAttr = "strategy.keep_gathered";
/// On nn.keep: number of the operand of the preceding operation whose layout
/// the kept value must have.
constexpr llvm::StringLiteral kKeepAsReadAttr = "strategy.keep_as_read";
/// Number of repeated layers by which parameters are gathered ahead.
constexpr llvm::StringLiteral kPrefetchAttr = "strategy.prefetch";
/// Set if parameters are gathered once per step.
constexpr llvm::StringLiteral kGatherOnceAttr = "strategy.gather_once";
/// Set if results are kept for the backward pass in host memory.
constexpr llvm::StringLiteral kOffloadAttr = "strategy.offload";
/// On an operation of a ring: number of its step, which is the number of shifts
/// that its ring iterators have made.
constexpr llvm::StringLiteral kRingStepAttr = "strategy.ring_step";
/// On nn.recompute while it is built: number of its results that are outputs of
/// the module, which pruning keeps.
constexpr llvm::StringLiteral kModuleOutputsAttr = "strategy.module_outputs";

//===----------------------------------------------------------------------===//
// On functions
//===----------------------------------------------------------------------===//

/// The mesh (#dist.mesh).
constexpr llvm::StringLiteral kMeshAttr = "strategy.mesh";
/// Symbol of the tree that the function was matched with.
constexpr llvm::StringLiteral kTreeAttr = "strategy.tree";
/// Name of the axis along which pipeline stages lie.
constexpr llvm::StringLiteral kPipelineAxisAttr = "strategy.pipeline_axis";
/// Settings of the step (#dist.step); split-stages gives them to every program.
constexpr llvm::StringLiteral kStepAttr = "strategy.step";
/// Set if values may cross between stages in slices.
constexpr llvm::StringLiteral kScatterGatherAttr = "strategy.scatter_gather";

//===----------------------------------------------------------------------===//
// On arguments
//===----------------------------------------------------------------------===//

/// Layout (#dist.layout).
constexpr llvm::StringLiteral kLayoutAttr = "strategy.layout";
/// On a parameter of several stages: these stages.
constexpr llvm::StringLiteral kTiedAttr = "strategy.tied";
/// On a parameter: axes per dimension of itself, its gradient and its state.
constexpr llvm::StringLiteral kWeightAttr = "strategy.weight";
constexpr llvm::StringLiteral kGradientAttr = "strategy.gradient";
constexpr llvm::StringLiteral kStateAttr = "strategy.state";
/// On a parameter: set if it, or its state, is in host memory.
constexpr llvm::StringLiteral kHostWeightAttr = "strategy.host_weight";
constexpr llvm::StringLiteral kHostStateAttr = "strategy.host_state";

//===----------------------------------------------------------------------===//
// On trees
//===----------------------------------------------------------------------===//

/// Name of the software stack whose decisions the tree contains.
constexpr llvm::StringLiteral kStackAttr = "strategy.stack";

} // namespace proteus

#endif // PROTEUS_DIALECT_STRATEGY_STRATEGYANNOTATIONS_H
