//===- ModuleFileTest.cpp - reading files with IR -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/ModuleFile.h"

#include "gtest/gtest.h"

#include <string>

using namespace proteus;

namespace {

/// Returns `count` opening brackets.
std::string opened(int count) { return std::string(count, '('); }

TEST(ModuleFile, NamesTheFirstLineThatNestsTooDeep) {
  EXPECT_EQ(findDeepNesting(opened(maxNesting)), 0u);
  EXPECT_EQ(findDeepNesting(opened(maxNesting + 1)), 1u);
  EXPECT_EQ(findDeepNesting("a\n" + opened(maxNesting) + "\n[{"), 3u);
}

TEST(ModuleFile, CountsOnlyBracketsThatAreOpen) {
  std::string pairs;
  for (int i = 0; i < 2 * maxNesting; ++i)
    pairs += "([{<>}])";
  EXPECT_EQ(findDeepNesting(pairs), 0u);
  EXPECT_EQ(findDeepNesting(pairs + opened(maxNesting + 1)), 1u);
}

TEST(ModuleFile, CountsNoBracketsInStringsAndComments) {
  std::string deep = opened(maxNesting + 1);
  EXPECT_EQ(findDeepNesting("\"" + deep + "\""), 0u);
  EXPECT_EQ(findDeepNesting("\"\\\"" + deep + "\""), 0u);
  EXPECT_EQ(findDeepNesting("// " + deep), 0u);
  EXPECT_EQ(findDeepNesting("// \n" + deep), 2u);
}

TEST(ModuleFile, CountsNoArrowsAndComparisons) {
  std::string text = opened(maxNesting);
  EXPECT_EQ(findDeepNesting(text + "-> <= >="), 0u);
  // An arrow closes nothing.
  EXPECT_EQ(findDeepNesting(text + "->("), 1u);
}

} // namespace
