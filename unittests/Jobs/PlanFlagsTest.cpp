//===- PlanFlagsTest.cpp - flags of a plan --------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Jobs/Job.h"
#include "Proteus/Plan/PlanFields.h"

#include <gtest/gtest.h>

using namespace proteus;
using namespace proteus::jobs;

namespace {

/// Parses a command line of plan flags. Returns the error as text.
std::string parse(std::vector<std::string> arguments,
                  plan::ParallelPlan &plan) {
  Flags flags;
  addPlanFlags(flags, plan);
  auto rest = flags.parse(arguments);
  return rest ? "" : llvm::toString(rest.takeError());
}

/// Returns a value that differs from the default of `field`.
std::string otherValue(const plan::Field &field) {
  switch (field.kind) {
  case plan::Field::Kind::Integer:
    return std::to_string(field.max);
  case plan::Field::Kind::Switch:
    return field.defaultText == "true" ? "false" : "true";
  case plan::Field::Kind::Choice:
    return field.words.back() == field.defaultText ? field.words.front()
                                                   : field.words.back();
  }
  llvm_unreachable("unknown kind");
}

TEST(PlanFlagsTest, EveryFlagAndAliasStatesItsField) {
  for (const plan::Field &field : plan::fields()) {
    std::vector<std::string> names = field.aliases;
    names.push_back(field.flag);
    plan::ParallelPlan expected;
    llvm::cantFail(field.set(expected, otherValue(field)));
    for (const std::string &name : names)
      for (bool joined : {false, true}) {
        plan::ParallelPlan plan;
        std::string flag = "--" + name, value = otherValue(field);
        EXPECT_EQ(joined ? parse({flag + "=" + value}, plan)
                         : parse({flag, value}, plan),
                  "")
            << name;
        EXPECT_TRUE(plan == expected) << name << ": " << plan.label();
      }
  }
}

TEST(PlanFlagsTest, SwitchesHaveShortForms) {
  for (const plan::Field &field : plan::fields()) {
    if (field.kind != plan::Field::Kind::Switch)
      continue;
    plan::ParallelPlan on, off;
    EXPECT_EQ(parse({"--" + field.flag, "--tp", "2"}, on), "");
    EXPECT_EQ(field.get(on), "true") << field.flag;
    EXPECT_EQ(parse({"--no-" + field.flag}, off), "");
    EXPECT_EQ(field.get(off), "false") << field.flag;
  }
}

TEST(PlanFlagsTest, ShorthandsStateTheirField) {
  for (const plan::Shorthand &shorthand : plan::shorthands()) {
    plan::ParallelPlan plan;
    EXPECT_EQ(parse({"--" + shorthand.flag}, plan), "");
    EXPECT_EQ(shorthand.field->get(plan), shorthand.whenTrue);
  }
}

TEST(PlanFlagsTest, AWrongValueNamesTheFlag) {
  plan::ParallelPlan plan;
  EXPECT_EQ(parse({"--tp-overlap", "some"}, plan),
            "--tp-overlap: expected one of none, async, chunked, got 'some'");
  EXPECT_EQ(parse({"--sp", "maybe"}, plan),
            "--sp: expected true or false, got 'maybe'");
}

TEST(PlanFlagsTest, ALabelIsReadBackAsThePlan) {
  plan::ParallelPlan plan;
  for (const plan::Field &field : plan::fields())
    llvm::cantFail(field.set(plan, otherValue(field)));
  plan::ParallelPlan read;
  llvm::cantFail(parsePlan(plan.label(), read));
  EXPECT_TRUE(read == plan);
}

} // namespace
