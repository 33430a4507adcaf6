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
#include "llvm/ADT/SmallVector.h"

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
  std::vector<Cost> costs = costsOf(outcome);
  ASSERT_FALSE(costs.empty());
  for (size_t i = 1; i < costs.size(); ++i)
    EXPECT_GE(costs[i - 1].seconds, costs[i].seconds);
  for (const Cost &cost : costs)
    EXPECT_NEAR(cost.share, cost.seconds / outcome.figures.iterationSeconds,
                1e-9);
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

TEST(Advice, EveryLineIsTheJobWithItsFlags) {
  auto context = jobs::createContext();
  jobs::Job job = smallJob();
  jobs::Outcome outcome = llvm::cantFail(jobs::run(*context, job));
  AdviceList list = adviseOn(*context, job, outcome, 100);
  ASSERT_FALSE(list.helpful.empty());
  for (size_t i = 1; i < list.helpful.size(); ++i)
    EXPECT_GE(list.helpful[i - 1].gain, list.helpful[i].gain);
  for (const Advice &advice : list.helpful) {
    EXPECT_GT(advice.gain, 0.01) << advice.flags;
    EXPECT_LE(advice.needed, advice.capacity) << advice.flags;
    jobs::Job changed = job;
    Flags flags;
    addModelFlags(flags, changed);
    jobs::addPlanFlags(flags, changed.plan);
    llvm::SmallVector<llvm::StringRef> words;
    llvm::StringRef(advice.flags).split(words, ' ');
    llvm::cantFail(
        flags.parse(std::vector<std::string>(words.begin(), words.end())));
    jobs::Outcome again = llvm::cantFail(jobs::run(*context, changed));
    EXPECT_EQ(again.figures.iterationSeconds, advice.seconds) << advice.flags;
    EXPECT_EQ(again.workload.info.globalBatch,
              outcome.workload.info.globalBatch)
        << advice.flags;
  }
}

TEST(Advice, ChangesAreNotWhatTheJobHas) {
  auto context = jobs::createContext();
  jobs::Job job = smallJob();
  job.overrides = {"layers=8"};
  job.plan.virtualStages = 2;
  job.plan.zero = plan::ZeroStage::States;
  jobs::Outcome outcome = llvm::cantFail(jobs::run(*context, job));
  for (const auto &alternatives : changesFor(job, outcome))
    for (const Change &change : alternatives) {
      EXPECT_FALSE(change.job.plan == job.plan && !change.job.cudaGraphs)
          << change.flags;
      EXPECT_NE(change.flags, "--vpp 2");
      EXPECT_NE(change.flags, "--zero 1");
    }
}

} // namespace
