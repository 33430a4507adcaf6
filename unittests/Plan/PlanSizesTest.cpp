//===- PlanSizesTest.cpp - devices and batches of a plan ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Plan/PlanSizes.h"

#include <gtest/gtest.h>

using namespace proteus::plan;

namespace {

ParallelPlan degrees(int64_t tp, int64_t pp, int64_t cp = 1) {
  ParallelPlan plan;
  plan.tp = tp;
  plan.pp = pp;
  plan.cp = cp;
  return plan;
}

std::string errorOf(llvm::Expected<Sizes> sizes) {
  return sizes ? std::string() : llvm::toString(sizes.takeError());
}

TEST(PlanSizesTest, TheDataParallelDegreeIsTheRestOfTheDevices) {
  Sizes sizes = llvm::cantFail(sizesOf(degrees(4, 2, 2), 64, 32, {}));
  EXPECT_EQ(sizes.gpus, 64);
  EXPECT_EQ(sizes.dp, 4);
  EXPECT_EQ(sizes.microBatches, 8);
  EXPECT_EQ(sizes.globalBatch, 32);
}

TEST(PlanSizesTest, WithoutDevicesTheClusterDecides) {
  EXPECT_EQ(llvm::cantFail(sizesOf(degrees(2, 1), {}, {}, 8)).dp, 4);
  EXPECT_EQ(llvm::cantFail(sizesOf(degrees(2, 1), {}, {}, {})).dp, 1);
}

TEST(PlanSizesTest, AStatedDegreeSetsTheDevices) {
  ParallelPlan plan = degrees(2, 2);
  plan.dp = 8;
  plan.microBatch = 3;
  plan.accumulation = 5;
  Sizes sizes = llvm::cantFail(sizesOf(plan, {}, {}, 1024));
  EXPECT_EQ(sizes.gpus, 32);
  EXPECT_EQ(sizes.globalBatch, 8 * 3 * 5);
}

TEST(PlanSizesTest, AnAccumulationMayFollowFromTheBatch) {
  ParallelPlan plan = degrees(2, 1);
  plan.accumulation = 4;
  EXPECT_EQ(llvm::cantFail(sizesOf(plan, 8, 16, {})).microBatches, 4);
  plan.accumulation = 2;
  EXPECT_NE(errorOf(sizesOf(plan, 8, 16, {})), "");
}

TEST(PlanSizesTest, ContradictionsNameBothNumbersAndARemedy) {
  EXPECT_EQ(errorOf(sizesOf(degrees(4, 2), 12, {}, {})),
            "tp * pp * cp = 4 * 2 * 1 = 8 does not divide the 12 GPUs; use "
            "--gpus 8 or 16, or other degrees");
  EXPECT_EQ(errorOf(sizesOf(degrees(2, 1), 8, 6, {})),
            "micro-batch * dp = 1 * 4 = 4 does not divide the global batch of "
            "6; use --global-batch 4 or 8");
  ParallelPlan plan = degrees(2, 1);
  plan.dp = 3;
  EXPECT_EQ(errorOf(sizesOf(plan, 8, {}, {})),
            "tp * pp * cp = 2 * 1 * 1 = 2 leaves dp = 4 of the 8 GPUs, but "
            "--dp is 3; leave --dp or --gpus out");
}

TEST(PlanSizesTest, HugeDegreesDoNotOverflow) {
  EXPECT_NE(
      errorOf(sizesOf(degrees(maxDegree, maxDegree, maxDegree), {}, {}, {})),
      "");
  ParallelPlan plan = degrees(maxDegree, 1);
  plan.dp = maxDegree;
  EXPECT_NE(errorOf(sizesOf(plan, {}, {}, {})), "");
}

} // namespace
