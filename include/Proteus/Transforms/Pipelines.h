//===- Pipelines.h - passes in their order ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_PIPELINES_H
#define PROTEUS_TRANSFORMS_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace proteus {

/// Options of the pipeline `lower-strategy`, which hands them to its first
/// pass, match-strategy.
struct LowerStrategyOptions
    : public mlir::PassPipelineOptions<LowerStrategyOptions> {
  Option<std::string> strategy{
      *this, "strategy",
      llvm::cl::desc("The tree to use, where there are several (@name)"),
      llvm::cl::init("")};
  Option<std::string> cluster{
      *this, "cluster",
      llvm::cl::desc(
          "Preset or JSON file that replaces the attribute proteus.cluster"),
      llvm::cl::init("")};
  Option<std::string> stack{
      *this, "stack",
      llvm::cl::desc(
          "Name, JSON file or JSON text that replaces proteus.stack"),
      llvm::cl::init("")};
};

/// Adds the passes of `lower-strategy`, which lowers a model with a strategy
/// tree to programs with a schedule.
void buildLowerStrategyPipeline(mlir::OpPassManager &manager,
                                const LowerStrategyOptions &options);

/// Returns true if jobs verify the IR after each pass. This is so in builds
/// with assertions, or if the environment variable PROTEUS_VERIFY_EACH is set,
/// as tests and fuzzers do. The verification takes 10 % of the CPU time of a
/// GPT-3 job and 40 % of a 405B job, and it only finds mistakes of passes.
bool verifiesEachPass();

/// Registers `lower-strategy`.
void registerProteusPipelines();

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_PIPELINES_H
