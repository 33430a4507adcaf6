//===- PlanFieldsTest.cpp - table of parallel decisions -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Plan/PlanFields.h"

#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

using namespace proteus::plan;

namespace {

/// Returns values that `field` accepts: both bounds, or every word.
std::vector<std::string> valuesOf(const Field &field) {
  switch (field.kind) {
  case Field::Kind::Integer:
    return {std::to_string(field.min), std::to_string(field.max)};
  case Field::Kind::Switch:
    return {"true", "false"};
  case Field::Kind::Choice:
    return field.words;
  }
  llvm_unreachable("unknown kind");
}

std::string errorOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}

TEST(PlanFieldsTest, EveryFieldReadsBackTheValuesItWasGiven) {
  for (const Field &field : fields()) {
    ParallelPlan plan;
    EXPECT_FALSE(field.get(plan)) << field.flag;
    for (const std::string &value : valuesOf(field)) {
      EXPECT_EQ(errorOf(field.set(plan, value)), "") << field.flag;
      EXPECT_EQ(field.get(plan), value) << field.flag;
    }
    field.reset(plan);
    EXPECT_TRUE(plan == ParallelPlan()) << field.flag;
  }
}

TEST(PlanFieldsTest, LabelsOfDifferentPlansDiffer) {
  llvm::StringSet<> labels;
  EXPECT_TRUE(labels.insert(ParallelPlan().label()).second);
  for (const Field &field : fields())
    for (const std::string &value : valuesOf(field)) {
      ParallelPlan plan;
      llvm::cantFail(field.set(plan, value));
      EXPECT_TRUE(labels.insert(plan.label()).second || field.min == field.max)
          << plan.label();
      EXPECT_EQ(plan.label(), field.flag + "=" + value);
    }
}

TEST(PlanFieldsTest, ValuesOutsideTheTableAreRefused) {
  for (const Field &field : fields()) {
    ParallelPlan plan;
    std::vector<std::string> wrong = {"", "some", "-1", "1.5", "None"};
    if (field.kind == Field::Kind::Integer)
      wrong.push_back(std::to_string(field.max + 1));
    for (const std::string &value : wrong)
      EXPECT_NE(errorOf(field.set(plan, value)), "")
          << field.flag << "=" << value;
    EXPECT_TRUE(plan == ParallelPlan()) << field.flag;
  }
}

TEST(PlanFieldsTest, AnUnknownWordNamesTheNearestOne) {
  ParallelPlan plan;
  EXPECT_EQ(errorOf(findByFlag("schedule")->set(plan, "1f2b")),
            "expected one of gpipe, 1f1b, interleaved, zero-bubble, got "
            "'1f2b'; did you mean '1f1b'?");
}

TEST(PlanFieldsTest, NamesAreUniqueInEveryFormat) {
  llvm::StringSet<> flags, options, caseKeys, stackKeys;
  auto add = [](llvm::StringSet<> &names, const std::string &name) {
    EXPECT_TRUE(name.empty() || names.insert(name).second) << name;
  };
  for (const Field &field : fields()) {
    EXPECT_FALSE(field.help.empty()) << field.flag;
    add(flags, field.flag);
    for (const std::string &alias : field.aliases)
      add(flags, alias);
    add(options, field.option);
    add(caseKeys, field.caseKey);
    add(stackKeys, field.stackKey);
  }
  for (const Shorthand &shorthand : shorthands()) {
    add(flags, shorthand.flag);
    add(caseKeys, shorthand.caseKey);
  }
}

TEST(PlanFieldsTest, DefaultsAreValuesOfTheirFields) {
  ParallelPlan stated;
  for (const Field &field : fields())
    if (!field.defaultText.empty())
      EXPECT_EQ(errorOf(field.set(stated, field.defaultText)), "")
          << field.flag;
  ResolvedPlan resolved = resolve(stated), defaults = resolve({});
  EXPECT_EQ(resolved.schedule, defaults.schedule);
  EXPECT_EQ(resolved.tensorOverlap, defaults.tensorOverlap);
  EXPECT_EQ(resolved.gradientReduction, defaults.gradientReduction);
  EXPECT_EQ(resolved.dp, defaults.dp);
  EXPECT_EQ(resolved.overlapMessages, defaults.overlapMessages);
}

TEST(PlanFieldsTest, AShorthandAgreesWithItsFieldOrFails) {
  for (const Shorthand &shorthand : shorthands()) {
    ParallelPlan plan;
    EXPECT_EQ(errorOf(shorthand.set(plan, true)), "");
    EXPECT_EQ(shorthand.field->get(plan), shorthand.whenTrue);
    for (const std::string &value : valuesOf(*shorthand.field)) {
      ParallelPlan other;
      llvm::cantFail(shorthand.field->set(other, value));
      bool agrees = value == shorthand.whenTrue ||
                    llvm::is_contained(shorthand.including, value);
      EXPECT_EQ(errorOf(shorthand.set(other, true)).empty(), agrees)
          << shorthand.flag << " " << value;
      EXPECT_EQ(shorthand.field->get(other), value);
    }
  }
}

TEST(PlanFieldsTest, AShorthandThatCanNotBeFalseIsRefused) {
  for (const Shorthand &shorthand : shorthands()) {
    ParallelPlan plan;
    EXPECT_EQ(errorOf(shorthand.set(plan, false)).empty(),
              !shorthand.whenFalse.empty())
        << shorthand.flag;
  }
}

} // namespace
