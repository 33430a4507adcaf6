//===- ReferenceModelsTest.cpp - models of the reference --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the presets that end in -reference with figures of the reference,
// the published Proteus, with roofline costs.
//
//===----------------------------------------------------------------------===//

#include "ModelFixture.h"

using namespace proteus;
using namespace proteus::models;

namespace {

class ReferenceModelsTest : public ModelFixture {
protected:
  /// Expects that a step on eight V100 of one node takes the time of the
  /// reference in milliseconds, by its rules.
  void expectTime(double original, double tolerance, const std::string &model,
                  int64_t batch, const std::string &optimizer,
                  const Overrides &overrides, const Degrees &degrees,
                  double overlapFactor) {
    auto module = build(model, batch, overrides, optimizer);
    ASSERT_TRUE(module);
    std::string said = run(*module, degrees, [&](mlir::PassManager &manager) {
      LowerStrategyOptions lowering;
      lowering.cluster = "dgx1-v100";
      buildLowerStrategyPipeline(manager, lowering);
      SimulateOptions options;
      options.fidelity = Fidelity::Paper;
      options.overlapFactor = overlapFactor;
      manager.addPass(createSimulate(options));
    });
    auto time =
        (*module)->getAttrOfType<mlir::FloatAttr>("proteus.iteration_time_ms");
    ASSERT_TRUE(time) << model << ": " << said;
    EXPECT_NEAR(time.getValueAsDouble(), original, tolerance * original)
        << model;
  }
};

/// Bytes that the reference reduces in one step: all parameters, four bytes
/// each.
TEST_F(ReferenceModelsTest, ReferenceModelsHaveTheParametersOfTheOriginal) {
  auto megabytes = [&](const std::string &model,
                       const Overrides &overrides = {}) {
    return 4 * parameters(model, overrides) / 1e6;
  };
  EXPECT_NEAR(megabytes("alexnet-reference"), 244.403, 5e-4);
  EXPECT_NEAR(megabytes("vgg19-reference"), 574.669, 5e-4);
  EXPECT_NEAR(megabytes("resnet50-reference"), 102.228, 5e-4);
  EXPECT_NEAR(megabytes("inception_v3-reference"), 95.338, 5e-4);
  EXPECT_NEAR(megabytes("dlrm-reference"), 2063.51, 5e-3);
  EXPECT_NEAR(megabytes("dlrm-reference", {"tables=16", "rows=500000"}),
              2048 + 15.919, 5e-4);
  EXPECT_NEAR(megabytes("gpt2-reference"), 468.013, 5e-4);
}

/// Half of the reference's operations without updates: those of the forward
/// pass.
TEST_F(ReferenceModelsTest, ReferenceModelsHaveTheKernelsOfTheOriginal) {
  EXPECT_EQ(kernels("alexnet-reference"), (62 - 16) / 2);
  EXPECT_EQ(kernels("vgg19-reference"), (132 - 38) / 2);
  EXPECT_EQ(kernels("resnet50-reference"), (513 - 161) / 2);
  EXPECT_EQ(kernels("inception_v3-reference"), (914 - 284) / 2);
  EXPECT_EQ(kernels("gpt2-reference"), (686 - 146) / 2);
  EXPECT_EQ(kernels("gpt2-reference", {"seq_first=true"}), (858 - 146) / 2);
  EXPECT_EQ(kernels("gpt1.5b-reference", {"seq_first=true"}), (3378 - 578) / 2);
  EXPECT_EQ(kernels("dlrm-reference"), (94 - 26) / 2);
  EXPECT_EQ(kernels("dlrm-reference", {"tables=16"}), (118 - 34) / 2);
}

TEST_F(ReferenceModelsTest, ReferenceGPTIsLoweredRight) {
  Overrides tiny = {"layers=2", "hidden=8", "heads=2", "seq=3", "vocab=12"};
  expectRightLowering("gpt2-reference", 4, tiny, {2, 2, 1});
  tiny.push_back("seq_first=true");
  expectRightLowering("gpt2-reference", 4, tiny, {2, 2, 2});
  expectLowers("gpt1.5b-reference", 8, {"vocab=51200"}, {1, 8, 1});
}

TEST_F(ReferenceModelsTest, ReferenceDLRMIsLoweredRight) {
  Overrides tiny = {"dense=3", "tables=3",   "rows=5", "embedding=2",
                    "bag=2",   "bottom=4,2", "top=4,1"};
  expectRightLowering("dlrm-reference", 4, tiny, {2});
}

/// test/Driver/parity.test compares all runs. This test has some of each kind,
/// with trees from apply-strategy. If gradients overlap with kernels, the
/// reference lengthens the kernels as a whole, and in DLRM also the gradients,
/// which continue after the kernels: docs/reference.md.
TEST_F(ReferenceModelsTest, TimesAreThoseOfTheOriginal) {
  auto expectImage = [&](double original, const std::string &model,
                         int64_t batch, const Overrides &overrides) {
    expectTime(original, 0.025, model, batch, "sgd", overrides, {8}, 0.3);
  };
  expectImage(39.25, "alexnet-reference", 1024, {});
  expectImage(268.88, "vgg19-reference", 256, {});
  expectImage(73.25, "resnet50-reference", 256, {"norm_groups=8"});
  expectImage(49.94, "inception_v3-reference", 256, {"norm_groups=8"});
  expectTime(39.01, 0.1 / 1.1, "dlrm-reference", 4096, "sgd", {}, {8}, 0.1);
  auto expectGPT = [&](double original, double tolerance,
                       const Overrides &overrides, const Degrees &degrees) {
    expectTime(original, tolerance, "gpt2-reference", 32, "adam", overrides,
               degrees, 0.1);
  };
  expectGPT(285.23, 0.01, {}, {8});
  expectGPT(309.15, 0.01, {"seq_first=true"}, {8});
  expectGPT(384.90, 0.01, {"seq_first=true", "vocab=40960"}, {2, 4});
  expectGPT(310.26, 0.02, {"seq_first=true"},
            {8, 1, 1, 1, false, plan::ZeroStage::States});
  expectGPT(401.61, 0.01, {"seq_first=true"}, {8, 1, 1, 1, true});
  expectTime(1047.13, 0.001, "gpt1.5b-reference", 8, "adam",
             {"seq_first=true", "vocab=51200"}, {1, 8}, 0.1);
  // The preset differs in the devices that share NVLinks.
  expectTime(2791.12, 0.01, "gpt1.5b-reference", 16, "adam", {"seq_first=true"},
             {1, 1, 16, 8}, 0.1);
}

} // namespace
