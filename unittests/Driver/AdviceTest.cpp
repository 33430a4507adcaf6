//===- AdviceTest.cpp - costs of a step and remedies ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Driver/Advice.h"

#include "mlir/IR/MLIRContext.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

using namespace proteus;
using namespace proteus::driver;

namespace {

jobs::Job smallJob() {
  jobs::Job job;
  job.model = "gpt2";
  job.overrides = {"layers=4"};
  job.seq = 256;
  job.cluster = "dgx-a100";
  job.gpus = 8;
  job.globalBatch = 32;
  job.plan.tp = 2;
  job.plan.pp = 2;
  job.plan.microBatch = 4;
  return job;
}

TEST(Advice, CostsAreSortedSharesOfTheStep) {
  auto context = jobs::createContext();
  jobs::Job job = smallJob();
  jobs::Outcome outcome = llvm::cantFail(jobs::run(*context, job));
  std::vector<Cost> costs = costsOf(job, outcome);
  ASSERT_FALSE(costs.empty());
  for (size_t i = 1; i < costs.size(); ++i)
    EXPECT_GE(costs[i - 1].seconds, costs[i].seconds);
  for (const Cost &cost : costs) {
    EXPECT_NEAR(cost.share, cost.seconds / outcome.figures.iterationSeconds,
                1e-9);
    EXPECT_FALSE(cost.remedy.empty()) << cost.name;
  }
  EXPECT_TRUE(llvm::any_of(costs, [](const Cost &cost) {
    return cost.name == "all_reduce over tp";
  }));
  EXPECT_TRUE(llvm::any_of(
      costs, [](const Cost &cost) { return cost.name == "pipeline bubble"; }));
}

TEST(Advice, SmallerPlansFollowTheKnobsOfTheVerdict) {
  jobs::Job job = smallJob();
  jobs::Outcome outcome;
  auto plans = [&](llvm::StringRef knob) {
    outcome.figures.memory.knobs = {{knob.str(), "", 0}};
    return smallerPlans(job, outcome);
  };
  EXPECT_EQ(plans("zero_2").front().zero, plan::ZeroStage::Gradients);
  EXPECT_EQ(plans("recompute").front().recompute, plan::Recompute::Full);
  EXPECT_EQ(plans("tensor_parallel").front().tp, 4);
  EXPECT_EQ(plans("pipeline_parallel").front().pp, 4);
  EXPECT_EQ(plans("micro_batch").front().microBatch, 2);
  EXPECT_EQ(plans("offload_optimizer").front().offloadState, true);
  // The last plan makes the cheap changes together.
  plan::ParallelPlan all = plans("zero_2").back();
  EXPECT_EQ(all.zero, plan::ZeroStage::States);
  EXPECT_EQ(all.recompute, plan::Recompute::Full);
  EXPECT_EQ(all.tp, 2);
}

} // namespace
