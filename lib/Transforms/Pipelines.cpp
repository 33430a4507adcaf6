//===- Pipelines.cpp - the lowering pipeline ------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Pipelines.h"

#include "Proteus/Transforms/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

#include <cstdlib>

using namespace mlir;
using namespace proteus;

/// Adds a check of the postconditions of `phase`. An error is then reported
/// after the phase that causes it, and not by a later pass.
static void addVerifier(OpPassManager &manager, LoweringPhase phase) {
  VerifyPhaseOptions options;
  options.after = phase;
  manager.addPass(createVerifyPhase(options));
}

void proteus::buildLowerStrategyPipeline(OpPassManager &manager,
                                         const LowerStrategyOptions &options) {
  // match-strategy is the only pass of this pipeline that reads the tree. It
  // runs while the model is small and has the operations that the user wrote.
  // Gradients are built later, and inherit the annotations of their forward
  // operations.
  MatchStrategyOptions match;
  match.strategy = options.strategy;
  match.cluster = options.cluster;
  match.stack = options.stack;
  manager.addPass(createMatchStrategy(match));
  // Layers that need other layouts than the rest of their repeat are separated
  // before gradients exist, because a repeat that stacks values for the
  // backward pass cannot be cut.
  manager.addNestedPass<func::FuncOp>(createSettleRepeats());
  addVerifier(manager, LoweringPhase::Matched);
  // Gradients are built before partitions are propagated, so that one set of
  // rules splits both the forward and the backward pass.
  manager.addNestedPass<func::FuncOp>(createBuildTrainingStep());
  addVerifier(manager, LoweringPhase::Step);
  manager.addNestedPass<func::FuncOp>(createPropagateStrategy());
  addVerifier(manager, LoweringPhase::Propagated);
  manager.addNestedPass<func::FuncOp>(createInsertCollectives());
  addVerifier(manager, LoweringPhase::Collectives);
  // The values that are sent between stages, and their layouts, are final only
  // after insert-collectives.
  manager.addPass(createSplitStages());
  addVerifier(manager, LoweringPhase::Programs);
  manager.addNestedPass<dist::ProgramOp>(createFuseExchanges());
  // Products are cut into chunks after collectives are final, and before
  // buckets are formed, because buckets are filled in an order that is derived
  // from the kernels.
  manager.addNestedPass<dist::ProgramOp>(createChunkProducts());
  // Units need the settings of buckets, which fuse-gradients resets.
  manager.addNestedPass<dist::ProgramOp>(createFuseUnits());
  // Buckets depend on the order of the operations in the backward sections, so
  // they are formed after the passes that change this order.
  manager.addNestedPass<dist::ProgramOp>(createFuseGradients());
  // The clean-up passes of MLIR remove operations that have no effect. Users
  // may also run these passes. The pipeline runs them too, so that the figures
  // do not depend on whether a user does.
  manager.addNestedPass<dist::ProgramOp>(createCanonicalizerPass());
  manager.addNestedPass<dist::ProgramOp>(createCSEPass());
  manager.addPass(createSchedulePipeline());
  addVerifier(manager, LoweringPhase::Schedule);
}

bool proteus::verifiesEachPass() {
#ifndef NDEBUG
  return true;
#else
  return std::getenv("PROTEUS_VERIFY_EACH") != nullptr;
#endif
}

void proteus::registerProteusPipelines() {
  PassPipelineRegistration<LowerStrategyOptions>(
      "lower-strategy",
      "Lower a model with its strategy tree to scheduled distributed programs",
      buildLowerStrategyPipeline);
}
