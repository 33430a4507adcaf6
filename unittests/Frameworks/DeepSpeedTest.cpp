//===- DeepSpeedTest.cpp - configurations of DeepSpeed --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Frameworks/Frameworks.h"

#include <gtest/gtest.h>

using namespace proteus;
using jobs::Job;

namespace {

/// Reads a configuration into `job`. Returns the error as text.
std::string read(llvm::StringRef text, Job &job) {
  auto remarks = frameworks::readDeepSpeed(text, "ds.json", job);
  return remarks ? "" : llvm::toString(remarks.takeError());
}

TEST(DeepSpeed, StatesBatchesStageOffloadAndBuckets) {
  Job job;
  EXPECT_EQ(read(R"({
    "train_batch_size": 256, "train_micro_batch_size_per_gpu": 4,
    "gradient_accumulation_steps": 8, "fp16": {"enabled": true},
    "zero_optimization": {
      "stage": 2, "reduce_bucket_size": 5e8,
      "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "none"}
    }})",
                 job),
            "");
  EXPECT_EQ(job.globalBatch, 256);
  EXPECT_EQ(job.plan.microBatch, 4);
  EXPECT_EQ(job.plan.accumulation, 8);
  EXPECT_EQ(job.precision, plan::Precision::FP16);
  EXPECT_EQ(job.plan.zero, plan::ZeroStage::Gradients);
  // 5e8 elements of two bytes.
  EXPECT_EQ(job.plan.bucketSize, 1'000'000'000);
  EXPECT_EQ(job.plan.offloadState, true);
  EXPECT_EQ(job.plan.offloadWeight, std::nullopt);
}

TEST(DeepSpeed, LeavesAutoOpen) {
  Job job;
  EXPECT_EQ(read(R"({"train_batch_size": "auto", "bf16": {"enabled": "auto"},
                     "zero_optimization": {"stage": 3}})",
                 job),
            "");
  EXPECT_EQ(job.globalBatch, std::nullopt);
  EXPECT_EQ(job.precision, std::nullopt);
  EXPECT_EQ(job.plan.zero, plan::ZeroStage::Parameters);
}

TEST(DeepSpeed, SingleTypesHaveBucketsOfFourBytesPerElement) {
  Job job;
  EXPECT_EQ(read(R"({"zero_optimization": {"reduce_bucket_size": 100}})", job),
            "");
  EXPECT_EQ(job.precision, plan::Precision::FP32);
  EXPECT_EQ(job.plan.bucketSize, 400);
}

TEST(DeepSpeed, RejectsContradictionsAndOtherDevices) {
  Job job;
  EXPECT_NE(
      read(R"({"bf16": {"enabled": true}, "fp16": {"enabled": true}})", job)
          .find("both bf16 and fp16 are enabled; enable one of them"),
      std::string::npos);
  EXPECT_NE(
      read(R"({"zero_optimization": {"offload_param": {"device": "nvme"}}})",
           job)
          .find("offload to 'nvme' is not modelled; use cpu or none"),
      std::string::npos);
}

} // namespace
