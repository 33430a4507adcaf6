//===- StrategyAnnotations.h - attributes that passes leave -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of the discardable attributes by which one phase of the lowering passes
// information to later phases. The verifier of the strategy dialect rejects an
// unknown name, an attribute on an object that may not carry it, and a value of
// the wrong type.
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
/// Number of the virtual stage of an operation or argument. With p stages, the
/// number c * p + s is chunk c of stage s. With one chunk per stage, it is the
/// number of the stage.
constexpr llvm::StringLiteral kStageAttr = "strategy.stage";
/// Only the devices with these coordinates (#strategy.coordinate) run the
/// operation or hold the argument. There is no coordinate on the axis of the
/// pipeline, because kStageAttr sets the stage.
constexpr llvm::StringLiteral kPlaceAttr = "strategy.place";
/// Stage to which `at` assigns an operation, if stages have several chunks.
/// `at` does not set the chunk, so match-strategy infers it from the data flow
/// and replaces this attribute by kStageAttr.
constexpr llvm::StringLiteral kPositionAttr = "strategy.position";
/// On a forward operation that is recomputed: a name. Operations with the same
/// name are recomputed together.
constexpr llvm::StringLiteral kRecomputeAttr = "strategy.recompute";
/// Axes that split each iterator (#strategy.partition).
constexpr llvm::StringLiteral kOpAttr = "strategy.op";
/// Flat cut of all tensors of an element-wise update (#strategy.flat).
constexpr llvm::StringLiteral kFlatAttr = "strategy.flat";
/// Axes that shard each dimension of the gradient of the operation's first
/// result (#strategy.partition).
constexpr llvm::StringLiteral kOutputGradientAttr = "strategy.output_gradient";
/// Operands that are kept for the backward pass in a layout of their own: an
/// array of pairs [number of the operand, #strategy.partition of its
/// dimensions].
constexpr llvm::StringLiteral kInputsAttr = "strategy.inputs";
/// Set if the parameters that are gathered for the forward pass of the
/// operation stay gathered until its backward pass.
constexpr llvm::StringLiteral kKeepGatheredAttr = "strategy.keep_gathered";
/// On an nn.keep: the operand number of the kept value in the operation before
/// the nn.keep. Other nn.keep operations between the two do not count. The
/// value is kept in the layout in which that operation reads it.
constexpr llvm::StringLiteral kKeepAsReadAttr = "strategy.keep_as_read";
/// Number of layers by which the gather of a parameter may precede the layer
/// that reads the parameter. With 1, the gather may run during the preceding
/// layer.
constexpr llvm::StringLiteral kPrefetchAttr = "strategy.prefetch";
/// Set if the parameters of the operation are gathered once per step, for the
/// first micro-batch, and kept for the other micro-batches.
constexpr llvm::StringLiteral kGatherOnceAttr = "strategy.gather_once";
/// Set if the activations of the operation (results that the backward pass
/// reads) are kept in host memory between the forward and the backward pass.
constexpr llvm::StringLiteral kOffloadAttr = "strategy.offload";
/// On an operation of ring attention: number k of its step, counted from 0. In
/// step k, the blocks that travel around the ring have been passed on k times.
constexpr llvm::StringLiteral kRingStepAttr = "strategy.ring_step";
/// On an nn.recompute while the training step is built: number n of outputs of
/// the recomputed module, which are the first n results of the nn.recompute.
/// The pruning of unused operations keeps these results, because frameworks
/// recompute the whole module.
constexpr llvm::StringLiteral kModuleOutputsAttr = "strategy.module_outputs";

//===----------------------------------------------------------------------===//
// Attributes of functions
//===----------------------------------------------------------------------===//

/// The mesh of devices (#dist.mesh).
constexpr llvm::StringLiteral kMeshAttr = "strategy.mesh";
/// Symbol of the strategy tree that was matched with the function.
constexpr llvm::StringLiteral kTreeAttr = "strategy.tree";
/// Name of the mesh axis along which the pipeline stages are arranged.
constexpr llvm::StringLiteral kPipelineAxisAttr = "strategy.pipeline_axis";
/// Schedule, buckets and overlap of the training step (#dist.step).
/// split-stages copies the attribute to every program.
constexpr llvm::StringLiteral kStepAttr = "strategy.step";
/// Set if values may be sent to other stages in slices.
constexpr llvm::StringLiteral kScatterGatherAttr = "strategy.scatter_gather";

//===----------------------------------------------------------------------===//
// Attributes of arguments
//===----------------------------------------------------------------------===//

/// Layout of the argument (#dist.layout).
constexpr llvm::StringLiteral kLayoutAttr = "strategy.layout";
/// On a parameter that several pipeline stages hold: the numbers of these
/// stages.
constexpr llvm::StringLiteral kTiedAttr = "strategy.tied";
/// On a parameter: for each dimension, the axes that shard the stored parameter
/// (first attribute), its gradient (second attribute) and its optimizer state
/// (third attribute).
constexpr llvm::StringLiteral kWeightAttr = "strategy.weight";
constexpr llvm::StringLiteral kGradientAttr = "strategy.gradient";
constexpr llvm::StringLiteral kStateAttr = "strategy.state";
/// On a parameter: set if the parameter (first attribute) or its optimizer
/// state (second attribute) is in host memory.
constexpr llvm::StringLiteral kHostWeightAttr = "strategy.host_weight";
constexpr llvm::StringLiteral kHostStateAttr = "strategy.host_state";

//===----------------------------------------------------------------------===//
// Attributes of strategy trees
//===----------------------------------------------------------------------===//

/// Name of a software stack. For the fields that the job leaves open, the tree
/// contains the decisions of this stack.
constexpr llvm::StringLiteral kStackAttr = "strategy.stack";

} // namespace proteus

#endif // PROTEUS_DIALECT_STRATEGY_STRATEGYANNOTATIONS_H
