//===- ModuleFileTest.cpp - reading files with IR -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/ModuleFile.h"

#include "llvm/ADT/Twine.h"
#include "gtest/gtest.h"

#include <string>

using namespace proteus;

namespace {

/// Returns `count` opening brackets.
std::string opened(int count) { return std::string(count, '('); }

/// Returns the line of the first fault of `text`, or 0 if there is none.
size_t lineOf(llvm::StringRef text) {
  std::optional<TextFault> fault = findTextFault(text);
  return fault ? fault->line : 0;
}

TEST(ModuleFile, NamesTheFirstLineThatNestsTooDeep) {
  EXPECT_EQ(lineOf(opened(maxNesting)), 0u);
  EXPECT_EQ(lineOf(opened(maxNesting + 1)), 1u);
  EXPECT_EQ(lineOf("a\n" + opened(maxNesting) + "\n[{"), 3u);
}

TEST(ModuleFile, CountsOnlyBracketsThatAreOpen) {
  std::string pairs;
  for (int i = 0; i < 2 * maxNesting; ++i)
    pairs += "([{<>}])";
  EXPECT_EQ(lineOf(pairs), 0u);
  EXPECT_EQ(lineOf(pairs + opened(maxNesting + 1)), 1u);
}

TEST(ModuleFile, CountsNoBracketsInStringsAndComments) {
  std::string deep = opened(maxNesting + 1);
  EXPECT_EQ(lineOf("\"" + deep + "\""), 0u);
  EXPECT_EQ(lineOf("\"\\\"" + deep + "\""), 0u);
  EXPECT_EQ(lineOf("// " + deep), 0u);
  EXPECT_EQ(lineOf("// \n" + deep), 2u);
}

TEST(ModuleFile, CountsNoArrowsAndComparisons) {
  std::string text = opened(maxNesting);
  EXPECT_EQ(lineOf(text + "-> <= >="), 0u);
  // An arrow closes nothing.
  EXPECT_EQ(lineOf(text + "->("), 1u);
}

TEST(ModuleFile, WordsHaveALength) {
  std::string dims;
  while (dims.size() < maxWord)
    dims += "1x";
  EXPECT_EQ(lineOf("tensor<" + dims + ">"), 0u);
  EXPECT_EQ(lineOf("\ntensor<" + dims + "f32>"), 2u);
  EXPECT_EQ(lineOf("\"" + dims + "f32\""), 0u);
}

TEST(ModuleFile, SignsInSequenceAreCounted) {
  std::string signs;
  for (int i = 0; i < maxNesting; ++i)
    signs += "- ";
  EXPECT_EQ(lineOf(signs + "d0" + signs + "d0"), 0u);
  EXPECT_EQ(lineOf("\n" + signs + "-d0"), 2u);
}

TEST(ModuleFile, AliasesCountWhereTheyAreUsed) {
  auto chain = [](int length, llvm::StringRef sigil, llvm::StringRef before,
                  llvm::StringRef between, llvm::StringRef after) {
    std::string text = (sigil + "a0 = x\n").str();
    for (int i = 1; i < length; ++i) {
      std::string used = (sigil + "a" + llvm::Twine(i - 1)).str();
      text += (sigil + "a" + llvm::Twine(i) + " = " + before + used + between)
                  .str();
      text += (between.empty() ? "" : used) + after.str() + "\n";
    }
    return text;
  };
  // The last of 501 aliases with one bracket each has 500 open brackets.
  EXPECT_EQ(lineOf(chain(maxNesting + 1, "#", "[", "", "]")), 0u);
  EXPECT_EQ(lineOf(chain(maxNesting + 2, "#", "[", "", "]")), 502u);
  EXPECT_EQ(lineOf(chain(maxNesting + 2, "!", "tuple<", "", ">")), 502u);
  // Alias i leads to 2^(i + 1) - 1 uses, so #a19 is above the limit.
  EXPECT_EQ(lineOf(chain(20, "#", "[", ", ", "]")), 0u);
  EXPECT_EQ(lineOf(chain(60, "#", "[", ", ", "]")), 21u);
  EXPECT_EQ(lineOf(chain(60, "!", "tuple<", ",", ">")), 21u);
  EXPECT_EQ(lineOf(chain(60, "#dist.", "[", ", ", "]")), 0u);
}

TEST(ModuleFile, UsesOfTheLastAliasAreNotLimited) {
  std::string text = "#mesh = x\n#whole = y<#mesh>\n";
  for (int i = 0; i < 1'000'000; ++i)
    text += "op #whole #mesh\n";
  EXPECT_EQ(lineOf(text), 0u);
}

} // namespace
