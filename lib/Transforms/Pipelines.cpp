//===- Pipelines.cpp - passes in their order --------------------*- C++ -*-===//
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

using namespace mlir;
using namespace proteus;

/// Every phase ends in a check, so that a broken promise is reported where it
/// was broken and not passes later.
static void addVerifier(OpPassManager &manager, LoweringPhase phase) {
  VerifyPhaseOptions options;
  options.after = phase;
  manager.addPass(createVerifyPhase(options));
}

void proteus::buildLowerStrategyPipeline(OpPassManager &manager,
                                         const LowerStrategyOptions &options) {
  // The tree is read once, while the graph is small and has the shape the user
  // wrote: gradients inherit what their forward operations were told.
  MatchStrategyOptions match;
  match.strategy = options.strategy;
  match.cluster = options.cluster;
  match.stack = options.stack;
  manager.addPass(createMatchStrategy(match));
  // Layers that differ are told apart while only the forward graph exists.
  manager.addNestedPass<func::FuncOp>(createSettleRepeats());
  addVerifier(manager, LoweringPhase::Matched);
  // Gradients come before layouts, so that both directions are split by one
  // rule.
  manager.addNestedPass<func::FuncOp>(createBuildTrainingStep());
  addVerifier(manager, LoweringPhase::Step);
  manager.addNestedPass<func::FuncOp>(createPropagateStrategy());
  addVerifier(manager, LoweringPhase::Propagated);
  manager.addNestedPass<func::FuncOp>(createInsertCollectives());
  addVerifier(manager, LoweringPhase::Collectives);
  // Only now is it known what crosses a stage, and in which layout.
  manager.addPass(createSplitStages());
  addVerifier(manager, LoweringPhase::Programs);
  manager.addNestedPass<dist::ProgramOp>(createFuseExchanges());
  // Chunks exist only where collectives are final; buckets count their kernels.
  manager.addNestedPass<dist::ProgramOp>(createChunkProducts());
  // Buckets depend on the order of the backward section, which is final here.
  manager.addNestedPass<dist::ProgramOp>(createFuseGradients());
  // What upstream clean-up would remove must not be simulated: users may run it
  // and have to get the same figures.
  manager.addNestedPass<dist::ProgramOp>(createCanonicalizerPass());
  manager.addNestedPass<dist::ProgramOp>(createCSEPass());
  manager.addPass(createSchedulePipeline());
  addVerifier(manager, LoweringPhase::Schedule);
}

void proteus::registerProteusPipelines() {
  PassPipelineRegistration<LowerStrategyOptions>(
      "lower-strategy",
      "Lower a model with its strategy tree to scheduled distributed programs",
      buildLowerStrategyPipeline);
}
