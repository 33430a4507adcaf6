//===- ModelFixture.h - fixture for models ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_UNITTESTS_MODELS_MODELFIXTURE_H
#define PROTEUS_UNITTESTS_MODELS_MODELFIXTURE_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/InitAll.h"
#include "Proteus/Models/BuildModel.h"
#include "Proteus/Transforms/Check/Passes.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/Pipelines.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

namespace proteus::models {

class ModelFixture : public ::testing::Test {
protected:
  using Overrides = std::vector<std::string>;

  ModelFixture()
      : context(
            [] {
              mlir::DialectRegistry registry;
              registerAllDialects(registry);
              return registry;
            }(),
            mlir::MLIRContext::Threading::DISABLED) {}

  /// Builds and verifies a model. Returns null if that fails, which fails the
  /// test.
  mlir::OwningOpRef<mlir::ModuleOp>
  build(const std::string &model, int64_t batch,
        const Overrides &overrides = {}, const std::string &optimizer = "sgd") {
    ModelRequest request{model, batch, {"f32", "", "", optimizer}, overrides};
    auto module = buildModel(context, request);
    if (!module) {
      ADD_FAILURE() << model << ": " << llvm::toString(module.takeError());
      return {};
    }
    EXPECT_TRUE(mlir::succeeded(mlir::verify(**module))) << model;
    return std::move(*module);
  }

  static double elements(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType()).getNumElements();
  }

  /// Returns the number of elements of all parameters of a preset.
  double parameters(const std::string &model, const Overrides &overrides = {}) {
    auto module = build(model, 1, overrides);
    double count = 0;
    if (module)
      module->walk([&](mlir::func::FuncOp function) {
        for (mlir::BlockArgument argument : function.getArguments())
          if (getRole(argument) == nn::Role::Parameter)
            count += elements(argument);
      });
    return count;
  }

  /// Returns the number of executions of `op`: the product of the counts of all
  /// repeats around it.
  static double runs(mlir::Operation *op) {
    double count = 1;
    for (auto repeat = op->getParentOfType<nn::RepeatOp>(); repeat;
         repeat = repeat->getParentOfType<nn::RepeatOp>())
      count *= repeat.getCount();
    return count;
  }

  /// Returns the number of kernels of the forward pass.
  double kernels(const std::string &model, const Overrides &overrides = {}) {
    auto module = build(model, 1, overrides);
    double count = 0;
    if (module)
      module->walk([&](nn::IterationSpaceOpInterface op) {
        if (op.getKernelClass() != nn::KernelClass::View)
          count += runs(op);
      });
    return count;
  }

  /// Returns the multiply-adds in the matrix products of the forward pass of
  /// one sample, in units of 1e9.
  double gigaMacs(const std::string &model, const Overrides &overrides = {}) {
    auto module = build(model, 1, overrides);
    double flops = 0;
    if (module)
      module->walk([&](nn::IterationSpaceOpInterface op) {
        if (op.getKernelClass() != nn::KernelClass::Matrix)
          return;
        flops += runs(op) * op.getIterationSpace().numPoints() *
                 op.getFlopsPerPoint() * op.getVisitedShare();
      });
    return flops / 2 / 1e9;
  }
  /// Expects the published number within 1 %.
  void expectMacs(double published, const std::string &model,
                  const Overrides &overrides = {}) {
    EXPECT_NEAR(gigaMacs(model, overrides), published, 0.01 * published)
        << model;
  }

  struct Degrees {
    int64_t dp = 1, tp = 1, microBatches = 1, pp = 1;
    bool recompute = false;
    plan::ZeroStage zero = plan::ZeroStage::None;
  };

  /// Lowers the model with a strategy of these degrees and runs the passes that
  /// `add` adds. Returns the remarks and errors.
  std::string run(mlir::ModuleOp module, const Degrees &degrees,
                  llvm::function_ref<void(mlir::PassManager &)> add) {
    std::string said;
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            said += diagnostic.str() + "\n";
                                            return mlir::success();
                                          });
    plan::ParallelPlan plan;
    plan.dp = degrees.dp;
    plan.tp = degrees.tp;
    plan.accumulation = degrees.microBatches;
    plan.pp = degrees.pp;
    plan.recompute =
        degrees.recompute ? plan::Recompute::Full : plan::Recompute::None;
    plan.zero = degrees.zero;
    mlir::PassManager manager(&context);
    manager.addPass(createApplyStrategy(plan));
    add(manager);
    if (mlir::failed(manager.run(module)))
      said += "failed";
    return said;
  }

  /// Expects that the model can be lowered with these degrees.
  void expectLowers(const std::string &model, int64_t batch,
                    const Overrides &overrides, const Degrees &degrees) {
    auto module = build(model, batch, overrides);
    ASSERT_TRUE(module);
    std::string said = run(*module, degrees, [](mlir::PassManager &manager) {
      LowerStrategyOptions options;
      options.cluster = "dgx-a100";
      buildLowerStrategyPipeline(manager, options);
    });
    EXPECT_EQ(said.find("failed"), std::string::npos) << model << ": " << said;
  }

  /// Expects that the lowered model computes the same values as the model.
  void expectRightLowering(const std::string &model, int64_t batch,
                           const Overrides &overrides, const Degrees &degrees) {
    auto module = build(model, batch, overrides);
    ASSERT_TRUE(module);
    std::string said = run(*module, degrees, [](mlir::PassManager &manager) {
      CheckLoweringOptions options;
      options.cluster = "dgx-a100";
      manager.addPass(createCheckLowering(options));
    });
    EXPECT_NE(said.find("is right"), std::string::npos)
        << model << ": " << said;
    EXPECT_EQ(said.find("failed"), std::string::npos) << model << ": " << said;
  }

  mlir::MLIRContext context;
};

} // namespace proteus::models

#endif // PROTEUS_UNITTESTS_MODELS_MODELFIXTURE_H
