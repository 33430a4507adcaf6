//===- StrategyAnnotations.h - attributes that passes leave -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of the discardable attributes by which one phase of the lowering passes
// information to later phases. The verifier of the dialect checks on which
// objects each attribute is allowed and the type of its value, and rejects
// other names.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_STRATEGY_STRATEGYANNOTATIONS_H
#define PROTEUS_DIALECT_STRATEGY_STRATEGYANNOTATIONS_H

#include "Proteus/Dialect/Strategy/Strategy.h"

namespace proteus {

//===----------------------------------------------------------------------===//
// Attributes of operations
//===----------------------------------------------------------------------===//

/// Phase of the training step to which the operation belongs (#strategy.phase).
constexpr llvm::StringLiteral kPhaseAttr = "strategy.phase";
/// Number of the virtual stage; also on arguments. With p stages, c * p + s is
/// chunk c of stage s. Without chunks, it is the number of the stage.
constexpr llvm::StringLiteral kStageAttr = "strategy.stage";
/// Coordinates (#strategy.coordinate) to which the operation or argument is
/// restricted, on axes other than the axis of the pipeline.
constexpr llvm::StringLiteral kPlaceAttr = "strategy.place";
/// Stage to which `at` assigns an operation, if there are several chunks and
/// the chunk is open. match-strategy infers the chunk and replaces this
/// attribute by kStageAttr.
constexpr llvm::StringLiteral kPositionAttr = "strategy.position";
/// Name of a group of forward operations that are recomputed together.
constexpr llvm::StringLiteral kRecomputeAttr = "strategy.recompute";
/// Axes that split each iterator (#strategy.partition).
constexpr llvm::StringLiteral kOpAttr = "strategy.op";
/// Axes that shard each dimension of the gradient of the first result
/// (#strategy.partition).
constexpr llvm::StringLiteral kOutputGradientAttr = "strategy.output_gradient";
/// For operands that are kept for the backward pass in a layout of their own:
/// pairs of an operand number and the axes that shard each dimension.
constexpr llvm::StringLiteral kInputsAttr = "strategy.inputs";
/// Set if parameters that are gathered for the forward pass are kept for the
/// backward pass.
constexpr llvm::StringLiteral kKeepGatheredAttr = "strategy.keep_gathered";
/// On nn.keep, which directly follows the operation that reads the kept value:
/// number of an operand of that operation. The value is kept in the layout of
/// this operand.
constexpr llvm::StringLiteral kKeepAsReadAttr = "strategy.keep_as_read";
/// Number of repeated layers by which parameters may be gathered before the
/// layer that reads them.
constexpr llvm::StringLiteral kPrefetchAttr = "strategy.prefetch";
/// Set if parameters are gathered once per step.
constexpr llvm::StringLiteral kGatherOnceAttr = "strategy.gather_once";
/// Set if results that the backward pass reads are kept in host memory until
/// then.
constexpr llvm::StringLiteral kOffloadAttr = "strategy.offload";
/// On an operation of a ring: number of its step. In step k, the parts that
/// travel around the ring have been shifted k times.
constexpr llvm::StringLiteral kRingStepAttr = "strategy.ring_step";
/// On nn.recompute while it is built: number of its leading results that are
/// outputs of the recomputed module. Pruning keeps these even if they are
/// unused.
constexpr llvm::StringLiteral kModuleOutputsAttr = "strategy.module_outputs";

//===----------------------------------------------------------------------===//
// Attributes of functions
//===----------------------------------------------------------------------===//

/// The mesh of devices (#dist.mesh).
constexpr llvm::StringLiteral kMeshAttr = "strategy.mesh";
/// Symbol of the strategy tree that was matched with the function.
constexpr llvm::StringLiteral kTreeAttr = "strategy.tree";
/// Name of the axis that the pipeline stages form.
constexpr llvm::StringLiteral kPipelineAxisAttr = "strategy.pipeline_axis";
/// Settings of the training step (#dist.step). split-stages copies them to
/// every program.
constexpr llvm::StringLiteral kStepAttr = "strategy.step";
/// Set if values may be sent between stages in slices.
constexpr llvm::StringLiteral kScatterGatherAttr = "strategy.scatter_gather";

//===----------------------------------------------------------------------===//
// Attributes of arguments
//===----------------------------------------------------------------------===//

/// Layout of the argument (#dist.layout).
constexpr llvm::StringLiteral kLayoutAttr = "strategy.layout";
/// On a parameter that several stages hold: the numbers of these stages.
constexpr llvm::StringLiteral kTiedAttr = "strategy.tied";
/// On a parameter: for each dimension, the axes that shard the parameter, its
/// gradient and its optimizer state.
constexpr llvm::StringLiteral kWeightAttr = "strategy.weight";
constexpr llvm::StringLiteral kGradientAttr = "strategy.gradient";
constexpr llvm::StringLiteral kStateAttr = "strategy.state";
/// On a parameter: set if the parameter or its optimizer state is in host
/// memory.
constexpr llvm::StringLiteral kHostWeightAttr = "strategy.host_weight";
constexpr llvm::StringLiteral kHostStateAttr = "strategy.host_state";

//===----------------------------------------------------------------------===//
// Attributes of strategy trees
//===----------------------------------------------------------------------===//

/// Name of a software stack. The tree contains its decisions for fields that
/// the job leaves open.
constexpr llvm::StringLiteral kStackAttr = "strategy.stack";

} // namespace proteus

#endif // PROTEUS_DIALECT_STRATEGY_STRATEGYANNOTATIONS_H
