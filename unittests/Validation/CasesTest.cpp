//===- CasesTest.cpp - measured runs as jobs ------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Validation/Cases.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace proteus;
using namespace proteus::validation;

namespace {

/// Reads one case with this strategy and these measurements.
Case read(llvm::StringRef strategy,
          llvm::StringRef measured = R"("iteration_time_s": 2)") {
  std::string text = R"([{"id": "group-1",
    "hardware": {"gpu": "A100-SXM-80GB", "gpus": 16, "gpus_per_node": 8,
                 "inter_link": "8x HDR200 InfiniBand"},
    "model": {"kind": "transformer-decoder", "hidden": 1024, "heads": 16,
              "ffn": 4096, "vocab": 50304, "layers": 24, "seq": 2048},
    "strategy": {"micro_batch": 1, )" +
                     strategy.str() + R"(}, "measured": {)" + measured.str() +
                     "}}]";
  std::vector<Case> cases = llvm::cantFail(readCases(text, "cases.json"));
  EXPECT_EQ(cases.size(), 1u);
  return cases.front();
}

bool assumes(const Case &one, llvm::StringRef text) {
  return llvm::any_of(
      one.assumed, [&](llvm::StringRef line) { return line.contains(text); });
}

TEST(Cases, DegreesAndBatchesAreThoseOfTheStrategy) {
  Case one = read(R"("tp": 4, "pp": 2, "vpp": 2, "global_batch": 64,
                     "recompute": "full", "precision": "bf16")");
  EXPECT_EQ(one.unsupported, "");
  EXPECT_EQ(one.group, "group");
  EXPECT_EQ(one.job.gpus, 16);
  EXPECT_EQ(one.job.plan.tp, 4);
  EXPECT_EQ(one.job.plan.pp, 2);
  EXPECT_EQ(one.job.plan.virtualStages, 2);
  EXPECT_EQ(one.job.globalBatch, 64);
  EXPECT_EQ(one.job.plan.recompute, plan::Recompute::Full);
}

TEST(Cases, WordsOfFSDPAreStagesOfZeRO) {
  EXPECT_EQ(read(R"("fsdp": "FULL_SHARD", "grad_accum": 1)").job.plan.zero,
            plan::ZeroStage::Parameters);
  EXPECT_EQ(read(R"("fsdp": "SHARD_GRAD_OP", "grad_accum": 1)").job.plan.zero,
            plan::ZeroStage::Gradients);
  Case hybrid = read(R"("fsdp": "HYBRID_SHARD", "grad_accum": 1)");
  EXPECT_EQ(hybrid.job.plan.zero, plan::ZeroStage::Parameters);
  EXPECT_EQ(hybrid.job.plan.zeroGroup, 8);
}

TEST(Cases, DataParallelismThatCountsContextIsCorrected) {
  Case one = read(R"("dp": 8, "cp": 2, "tp": 2, "global_batch": 32)");
  EXPECT_EQ(one.job.plan.dp, 4);
  EXPECT_TRUE(assumes(one, "cp is a part of dp"));
}

TEST(Cases, ATimeFollowsFromAThroughput) {
  // 16 sequences of 2048 tokens at 4096 tokens/s.
  constexpr llvm::StringLiteral strategy = R"("global_batch": 16)";
  EXPECT_DOUBLE_EQ(
      *read(strategy, R"("tokens_per_s_total": 4096)").iterationSeconds, 8);
  EXPECT_DOUBLE_EQ(
      *read(strategy, R"("tokens_per_s_per_gpu": 256)").iterationSeconds, 8);
  EXPECT_DOUBLE_EQ(*read(strategy, R"("samples_per_s": 2)").iterationSeconds,
                   8);
  EXPECT_EQ(read(strategy, R"("oom": true)").iterationSeconds, std::nullopt);
}

TEST(Cases, AnOpenDecisionIsAnAssumption) {
  EXPECT_TRUE(assumes(read(R"("tp": 2, "global_batch": 16)"),
                      "the recomputation is not stated"));
  EXPECT_TRUE(assumes(read(R"("zero": 2, "global_batch": 16)"),
                      "the recomputation is not stated"));
  EXPECT_FALSE(
      assumes(read(R"("tp": 2, "global_batch": 16, "recompute": "none")"),
              "the recomputation is not stated"));
  EXPECT_TRUE(assumes(read(R"("global_batch": 16, "fast": true)"),
                      "'fast' of the strategy changes nothing"));
}

TEST(Cases, AMistakeConcernsItsCaseOnly) {
  auto entry = [](llvm::StringRef id, llvm::StringRef recompute) {
    return R"({"id": ")" + id.str() +
           R"(", "hardware": {"gpu": "V100-SXM2-32GB", "gpus": 8},
               "model": {"kind": "transformer-decoder", "hidden": 64,
                         "heads": 4, "ffn": 256, "vocab": 100, "layers": 2,
                         "seq": 16},
               "strategy": {"micro_batch": 1, "global_batch": 8,
                            "recompute": ")" +
           recompute.str() + R"("}, "measured": {}})";
  };
  std::vector<Case> cases = llvm::cantFail(readCases(
      "[" + entry("a-1", "sometimes") + ", " + entry("a-2", "none") + "]",
      "cases.json"));
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_NE(cases[0].unsupported.find("'sometimes' is not known"),
            std::string::npos);
  EXPECT_EQ(cases[1].unsupported, "");
  // Two cases with one id can't be told apart.
  auto same =
      readCases("[" + entry("a-1", "none") + ", " + entry("a-1", "none") + "]",
                "cases.json");
  ASSERT_FALSE(same);
  EXPECT_NE(
      llvm::toString(same.takeError()).find("a second case has the id 'a-1'"),
      std::string::npos);
}

} // namespace
