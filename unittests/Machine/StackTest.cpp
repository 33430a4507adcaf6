//===- StackTest.cpp - stacks and sites -----------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Stack.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace proteus::machine;

namespace {

/// Returns the error of a stack's text; empty if there is none.
std::string errorOf(StringRef text) {
  Expected<Stack> stack = parseStackJSON(text, "stack");
  return stack ? "" : toString(stack.takeError());
}

TEST(Stack, AllPresetsAreReadUnderTheirNames) {
  for (const std::string &name : stackPresetNames()) {
    Expected<Stack> stack = parseStackPreset(name);
    ASSERT_TRUE(bool(stack)) << toString(stack.takeError());
    EXPECT_EQ(stack->name, name);
  }
  for (const std::string &name : sitePresetNames()) {
    Expected<Site> site = parseSitePreset(name);
    ASSERT_TRUE(bool(site)) << toString(site.takeError());
    EXPECT_EQ(site->name, name);
  }
  EXPECT_TRUE(is_contained(stackPresetNames(), "generic"));
}

TEST(Stack, AnEmptyOneAddsNothing) {
  Expected<Stack> stack = parseStackJSON(R"({"name": "x"})", "stack");
  ASSERT_TRUE(bool(stack));
  EXPECT_EQ(stack->parameters.hostKernel, 0);
  EXPECT_EQ(stack->parameters.stepGap, 0);
  for (double traffic : stack->parameters.traffic)
    EXPECT_EQ(traffic, 1);
  EXPECT_EQ(stack->parameters.attentionRates.on(Architecture::Hopper), 1);
}

TEST(Stack, WhatDiffersFromABaseIsEnough) {
  Expected<Stack> base = parseStackPreset("megatron-deepspeed");
  ASSERT_TRUE(bool(base));
  Expected<Stack> stack = parseStackJSON(
      R"({"name": "ours", "base": "megatron-deepspeed",
          "host": {"kernel_us": 7},
          "kernels": {"traffic": {"norm": 2.5},
                      "attention_rate": {"hopper": 0.5},
                      "product_rate": {"hopper": 0.9}}})",
      "stack");
  ASSERT_TRUE(bool(stack)) << toString(stack.takeError());
  EXPECT_EQ(stack->name, "ours");
  EXPECT_DOUBLE_EQ(stack->parameters.hostKernel, 7e-6);
  EXPECT_EQ(
      stack->parameters.traffic[static_cast<unsigned>(TrafficClass::Norm)],
      2.5);
  EXPECT_EQ(stack->parameters.attentionRates.on(Architecture::Hopper), 0.5);
  EXPECT_EQ(stack->parameters.attentionRates.on(Architecture::Ampere), 1);
  EXPECT_EQ(stack->parameters.productRates.on(Architecture::Hopper), 0.9);
  EXPECT_EQ(stack->parameters.productRates.on(Architecture::Volta), 1);
  EXPECT_EQ(stack->plan.plan.stagePartition,
            proteus::plan::StagePartition::Divisible);
  EXPECT_EQ(stack->plan.plan.scatterMessages, true);
  EXPECT_EQ(stack->parameters.stepGap, base->parameters.stepGap);
  EXPECT_EQ(stack->attention, base->attention);
}

TEST(Stack, ChannelsAreLastByType) {
  auto hasLast = [](StringRef images, DType type) {
    std::string text =
        (R"({"name": "x", "kernels": {"images": ")" + images + "\"}}").str();
    Expected<Stack> stack = parseStackJSON(text, "stack");
    return stack && stack->parameters.hasChannelsLast(type);
  };
  EXPECT_TRUE(hasLast("channels_last", DType::F32));
  EXPECT_FALSE(hasLast("channels_first", DType::F16));
  EXPECT_TRUE(hasLast("half_channels_last", DType::F16));
  EXPECT_TRUE(hasLast("half_channels_last", DType::BF16));
  EXPECT_FALSE(hasLast("half_channels_last", DType::F32));
}

TEST(Stack, MistakesAreLocated) {
  EXPECT_NE(errorOf(R"({"name": "x", "kernels": {"fused_neighbours": true}})"),
            "");
  EXPECT_EQ(
      errorOf(R"({"name": "x", "host": {"kernel": 1}})"),
      "stack: unknown key 'kernel' (nearest valid key: 'kernel_us') at host");
  EXPECT_NE(errorOf(R"({"name": "x", "model": {"attention": "flash"}})")
                .find("expected one of fused, unfused, got 'flash'"),
            std::string::npos);
  EXPECT_NE(errorOf(R"({"name": "x", "step": {"stage_partition": "even"}})")
                .find("expected one of layers, ends, divisible, work, got "
                      "'even'"),
            std::string::npos);
  EXPECT_NE(errorOf(R"({"name": "x", "base": "nobody"})")
                .find("unknown stack 'nobody'"),
            std::string::npos);
  EXPECT_NE(errorOf(R"({"name": "x", "gaps": {"step_us": -1}})"), "");
  EXPECT_NE(errorOf(R"({"name": "x", "kernels": {"traffic": {"norm": 0}}})"),
            "");
  Expected<Site> site =
      parseSiteJSON(R"({"name": "x", "fabric_efficiency": 1.5})", "site");
  EXPECT_FALSE(bool(site));
  consumeError(site.takeError());
}

} // namespace
