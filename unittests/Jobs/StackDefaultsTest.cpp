//===- StackDefaultsTest.cpp - decisions of a stack for a job -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Jobs/Job.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

using namespace proteus;
using namespace proteus::jobs;

namespace {

Job jobOf(llvm::StringRef model) {
  Job job;
  job.model = model.str();
  job.cluster = "dgx-a100";
  return job;
}

bool overrides(const Job &job, llvm::StringRef text) {
  return llvm::is_contained(job.overrides, text.str());
}

TEST(StackDefaults, AStackDecidesOpenFieldsOnly) {
  machine::Stack stack;
  stack.name = "s";
  stack.plan.plan.tensorOverlap = plan::TensorOverlap::Async;
  stack.plan.plan.overlapMessages = true;
  Job job = jobOf("gpt2");
  job.plan.tensorOverlap = plan::TensorOverlap::None;
  std::vector<std::string> remarks;
  llvm::cantFail(applyStack(stack, job, remarks));
  EXPECT_EQ(job.plan.tensorOverlap, plan::TensorOverlap::None);
  EXPECT_EQ(job.plan.overlapMessages, true);
}

TEST(StackDefaults, VocabulariesArePaddedToMultiplesTimesTheDegree) {
  machine::Stack stack;
  stack.vocabMultiple = 128;
  Job job = jobOf("gpt2"); // 50257 rows
  job.plan.tp = 8;
  std::vector<std::string> remarks;
  llvm::cantFail(applyStack(stack, job, remarks));
  EXPECT_TRUE(overrides(job, "vocab=51200"));
}

TEST(StackDefaults, UnfusedAttentionNeedsAsManyKeyHeadsAsHeads) {
  machine::Stack stack;
  stack.name = "s";
  stack.attention = plan::KernelForm::Unfused;
  std::vector<std::string> remarks;
  Job job = jobOf("gpt2");
  llvm::cantFail(applyStack(stack, job, remarks));
  EXPECT_TRUE(overrides(job, "attention_kernel=unfused"));
  EXPECT_TRUE(remarks.empty());
  job = jobOf("llama3-8b"); // 8 key heads for 32 heads
  llvm::cantFail(applyStack(stack, job, remarks));
  EXPECT_FALSE(overrides(job, "attention_kernel=unfused"));
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_NE(remarks.front().find("it is fused here"), std::string::npos);
}

TEST(StackDefaults, ADimensionThatTheUserStatesIsKept) {
  machine::Stack stack;
  stack.dropout = 0.1;
  Job job = jobOf("gpt2");
  job.overrides = {"dropout=0"};
  std::vector<std::string> remarks;
  llvm::cantFail(applyStack(stack, job, remarks));
  EXPECT_FALSE(overrides(job, "dropout=0.1"));
}

TEST(StackDefaults, MeanTokensArePaddedToHalfABin) {
  machine::Stack stack;
  stack.name = "s";
  stack.lengthBin = 64;
  stack.lengthBinsFrom = 256;
  Job job = jobOf("bert-base");
  job.seq = 512;
  job.meanTokens = 250;
  std::vector<std::string> remarks;
  llvm::cantFail(applyMeanTokens(stack, job, remarks));
  EXPECT_EQ(job.seq, 288); // 250 + 64 / 2, up to a multiple of 8
  ASSERT_EQ(remarks.size(), 1u);
}

TEST(StackDefaults, SequencesWithoutBinsKeepTheirLength) {
  Job job = jobOf("bert-base");
  job.seq = 128;
  job.meanTokens = 64;
  std::vector<std::string> remarks;
  llvm::cantFail(applyMeanTokens(machine::Stack(), job, remarks));
  EXPECT_EQ(job.seq, 128);
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_NE(remarks.front().find("--mean-tokens changes nothing"),
            std::string::npos);
}

TEST(StackDefaults, TheFullestExpertOrItsCapacityBoundsTheSlots) {
  auto slots = [](std::optional<double> balance, std::optional<double> capacity,
                  bool pad) {
    Job job = jobOf("mixtral-8x7b");
    job.expertBalance = balance;
    job.expertCapacity = capacity;
    job.padExperts = pad;
    llvm::cantFail(applyExpertBalance(job));
    return job.overrides.empty() ? "" : job.overrides.back();
  };
  EXPECT_EQ(slots(std::nullopt, std::nullopt, false), "");
  EXPECT_EQ(slots(1.5, std::nullopt, false), "capacity_factor=1.5");
  EXPECT_EQ(slots(1.5, 1.25, false), "capacity_factor=1.25");
  EXPECT_EQ(slots(1.0, 1.25, false), "capacity_factor=1.0");
  EXPECT_EQ(slots(1.0, 1.25, true), "capacity_factor=1.25");
}

} // namespace
