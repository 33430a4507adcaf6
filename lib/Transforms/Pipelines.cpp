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

using namespace mlir;
using namespace proteus;

/// Adds a check of the results of a phase, so that an error is reported by the
/// phase that makes it and not by a later pass.
static void addVerifier(OpPassManager &manager, LoweringPhase phase) {
  VerifyPhaseOptions options;
  options.after = phase;
  manager.addPass(createVerifyPhase(options));
}

void proteus::buildLowerStrategyPipeline(OpPassManager &manager,
                                         const LowerStrategyOptions &options) {
  // The tree is read only here, while the graph is small and as the user wrote
  // it. Gradients later inherit the annotations of their forward operations.
  MatchStrategyOptions match;
  match.strategy = options.strategy;
  match.cluster = options.cluster;
  match.stack = options.stack;
  manager.addPass(createMatchStrategy(match));
  // Layers with different layouts are separated while only the forward graph
  // exists.
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
  // The values that cross between stages, and their layouts, are final only
  // now.
  manager.addPass(createSplitStages());
  addVerifier(manager, LoweringPhase::Programs);
  manager.addNestedPass<dist::ProgramOp>(createFuseExchanges());
  // Chunks exist only where collectives are final; buckets count their kernels.
  manager.addNestedPass<dist::ProgramOp>(createChunkProducts());
  // Buckets depend on the order of the backward section, which is final here.
  manager.addNestedPass<dist::ProgramOp>(createFuseGradients());
  // Operations that the clean-up passes of MLIR remove must not be simulated.
  // Users may run these passes, and the figures must stay the same.
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
