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

using namespace mlir;
using namespace proteus;

void proteus::buildLowerStrategyPipeline(OpPassManager &manager,
                                         const LowerStrategyOptions &options) {
  // The tree is read once, while the graph is small and has the shape the user
  // wrote: gradients inherit what their forward operations were told.
  MatchStrategyOptions match;
  match.strategy = options.strategy;
  match.cluster = options.cluster;
  manager.addPass(createMatchStrategy(match));
  // Gradients come before layouts, so that both directions are split by one
  // rule.
  manager.addNestedPass<func::FuncOp>(createBuildTrainingStep());
  manager.addNestedPass<func::FuncOp>(createPropagateStrategy());
  manager.addNestedPass<func::FuncOp>(createInsertCollectives());
  // Only now is it known what crosses a stage, and in which layout.
  manager.addPass(createSplitStages());
  // Buckets depend on the order of the backward section, which is final here.
  manager.addNestedPass<dist::ProgramOp>(createFuseGradients());
  manager.addPass(createSchedulePipeline());
}

void proteus::registerProteusPipelines() {
  PassPipelineRegistration<LowerStrategyOptions>(
      "lower-strategy",
      "Lower a model with its strategy tree to scheduled distributed programs",
      buildLowerStrategyPipeline);
}
