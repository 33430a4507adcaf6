//===- PlanMergeTest.cpp - precedence of defaults, stack and flags --------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Plan/PlanMerge.h"
#include "Proteus/Plan/PlanBuckets.h"
#include "Proteus/Plan/PlanFields.h"

#include <gtest/gtest.h>

using namespace proteus::plan;

namespace {

TEST(PlanMergeTest, AStatedFieldWinsOverTheStack) {
  ParallelPlan stated;
  stated.tensorOverlap = TensorOverlap::Async;
  StackPlan stack;
  stack.plan.tensorOverlap = TensorOverlap::None;
  stack.plan.scatterMessages = true;
  CompletedPlan completed = complete(stated, stack, "x");
  EXPECT_EQ(completed.plan.tensorOverlap, TensorOverlap::Async);
  EXPECT_EQ(completed.plan.scatterMessages, true);
  ASSERT_EQ(completed.fromStack.size(), 1u);
  EXPECT_EQ(completed.fromStack.front()->member, "scatterMessages");
}

TEST(PlanMergeTest, FieldsThatNobodyStatesStayOpen) {
  CompletedPlan completed = complete({}, {}, "x");
  EXPECT_TRUE(completed.plan == ParallelPlan());
  EXPECT_TRUE(completed.fromStack.empty());
  EXPECT_EQ(resolve(completed.plan).tensorOverlap, TensorOverlap::Async);
}

TEST(PlanMergeTest, DecisionsOfAStackApplyOnlyWhereTheyMeanSomething) {
  StackPlan stack;
  stack.plan.overlapParameters = true;
  stack.plan.keepGathered = true;
  stack.plan.allReduceGradients = true;
  ParallelPlan stated;
  EXPECT_TRUE(complete(stated, stack, "x").plan == stated);
  stated.zero = ZeroStage::States;
  stated.tp = 2;
  stated.sequenceParallel = true;
  ParallelPlan all = complete(stated, stack, "x").plan;
  EXPECT_EQ(all.overlapParameters, true);
  EXPECT_EQ(all.keepGathered, true);
  EXPECT_EQ(all.allReduceGradients, true);
  EXPECT_EQ(all.gradientReduction, GradientReduction::AfterBackward);
}

TEST(PlanMergeTest, StatedBucketSizesSurviveEveryStack) {
  StackPlan stack;
  stack.plan.gradientReduction = GradientReduction::AfterBackward;
  stack.zeroPerParameter = true;
  ParallelPlan stated;
  stated.bucketSize = 1000000;
  stated.zero = ZeroStage::States;
  ParallelPlan plan = complete(stated, stack, "x").plan;
  EXPECT_EQ(plan.bucketSize, 1000000);
  EXPECT_EQ(plan.gradientReduction, GradientReduction::AfterBackward);
}

TEST(PlanMergeTest, PerParameterReductionNeedsZeroAndNoSizes) {
  StackPlan stack;
  stack.zeroPerParameter = true;
  ParallelPlan stated;
  EXPECT_FALSE(complete(stated, stack, "x").plan.gradientReduction);
  stated.zero = ZeroStage::States;
  EXPECT_EQ(complete(stated, stack, "x").plan.gradientReduction,
            GradientReduction::PerParameter);
  stated.bucketSize = 1;
  EXPECT_FALSE(complete(stated, stack, "x").plan.gradientReduction);
}

TEST(PlanMergeTest, OtherPartitionsFitChunks) {
  StackPlan stack;
  stack.plan.stagePartition = StagePartition::Ends;
  ParallelPlan stated;
  stated.virtualStages = 2;
  CompletedPlan completed = complete(stated, stack, "x");
  EXPECT_EQ(completed.plan.stagePartition, StagePartition::Ends);
  EXPECT_TRUE(completed.remarks.empty());
}

TEST(PlanMergeTest, StagesByWorkAndChunksGiveARemark) {
  StackPlan stack;
  stack.plan.stagePartition = StagePartition::Work;
  ParallelPlan stated;
  stated.virtualStages = 2;
  CompletedPlan completed = complete(stated, stack, "nanotron");
  EXPECT_FALSE(completed.plan.stagePartition);
  ASSERT_EQ(completed.remarks.size(), 1u);
  EXPECT_NE(completed.remarks.front().find("nanotron"), std::string::npos);
}

TEST(PlanMergeTest, WithoutChunksStagesAreBalancedByWork) {
  StackPlan stack;
  stack.plan.stagePartition = StagePartition::Work;
  CompletedPlan completed = complete({}, stack, "nanotron");
  EXPECT_EQ(completed.plan.stagePartition, StagePartition::Work);
  EXPECT_TRUE(completed.remarks.empty());
}

TEST(PlanMergeTest, OneDeviceGathersNoActivations) {
  StackPlan stack;
  stack.plan.keepGathered = true;
  ParallelPlan stated;
  stated.sequenceParallel = true;
  stated.tp = 1;
  EXPECT_FALSE(complete(stated, stack, "x").plan.keepGathered);
}

/// Returns the buckets of a rule on `dp` * `cp` replicas.
Buckets bucketsOfRule(BucketRule rule, int64_t dp, int64_t cp,
                      GradientReduction reduction) {
  ParallelPlan plan;
  plan.bucketRule = rule;
  plan.dp = dp;
  plan.cp = cp;
  plan.gradientReduction = reduction;
  return bucketsOf(resolve(plan), /*elementBytes=*/4);
}

TEST(PlanBucketsTest, RulesAreThoseOfTheFrameworks) {
  constexpr auto during = GradientReduction::Overlapped;
  constexpr auto after = GradientReduction::AfterBackward;
  EXPECT_FALSE(bucketsOfRule(BucketRule::DDP, 8, 1, during).areStated());
  EXPECT_EQ(bucketsOfRule(BucketRule::DDP, 8, 1, after).size, 26214400);
  EXPECT_TRUE(bucketsOfRule(BucketRule::FSDP, 8, 1, during).perLayer);
  EXPECT_EQ(bucketsOfRule(BucketRule::DeepSpeed, 8, 1, during).size,
            2'000'000'000);
  // max(40 M, 1 M * dp * cp) elements; one bucket if reduction does not
  // overlap.
  EXPECT_EQ(bucketsOfRule(BucketRule::Megatron, 8, 1, during).size,
            160'000'000);
  EXPECT_EQ(bucketsOfRule(BucketRule::Megatron, 32, 2, during).size,
            256'000'000);
  EXPECT_FALSE(bucketsOfRule(BucketRule::Megatron, 32, 2, after).areStated());
}

TEST(PlanBucketsTest, StatedSizesReplaceTheRule) {
  ParallelPlan plan;
  plan.bucketRule = BucketRule::FSDP;
  plan.firstBucketSize = 7;
  Buckets buckets = bucketsOf(resolve(plan), 4);
  EXPECT_EQ(buckets.first, 7);
  EXPECT_FALSE(buckets.size);
  EXPECT_FALSE(buckets.perLayer);
}

} // namespace
