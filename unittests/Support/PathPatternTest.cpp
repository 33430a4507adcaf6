//===- PathPatternTest.cpp - paths and patterns ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/PathPattern.h"

#include <gtest/gtest.h>

using namespace proteus;
using llvm::SmallVector;
using llvm::StringRef;

namespace {

Path path(StringRef text) { return llvm::cantFail(parsePath(text)); }

PathPattern pattern(StringRef text) {
  return llvm::cantFail(PathPattern::parse(text));
}

bool matches(StringRef patternText, StringRef pathText) {
  return pattern(patternText).matches(path(pathText));
}

bool selects(StringRef patternText, StringRef pathText) {
  return pattern(patternText).matchesPrefixOf(path(pathText));
}

std::string patternError(StringRef text) {
  llvm::Expected<PathPattern> result = PathPattern::parse(text);
  return result ? "" : llvm::toString(result.takeError());
}

std::string pathError(StringRef text) {
  llvm::Expected<Path> result = parsePath(text);
  return result ? "" : llvm::toString(result.takeError());
}

SmallVector<IndexRange> ranges(StringRef patternText, StringRef pathText,
                               int64_t count) {
  return pattern(patternText).getUniformRanges(path(pathText), count);
}

using Ranges = SmallVector<IndexRange>;

TEST(Path, KeepsNamesAndIndices) {
  Path parsed = path("layers[3].attention.qkv");
  ASSERT_EQ(parsed.size(), 3u);
  EXPECT_EQ(parsed[0], (PathComponent{"layers", 3}));
  EXPECT_EQ(parsed[1], (PathComponent{"attention", std::nullopt}));
  EXPECT_EQ(toString(parsed), "layers[3].attention.qkv");
}

TEST(Path, AdmitsTheNamesOfForeignOps) {
  EXPECT_EQ(toString(path("main.linalg-matmul#12")), "main.linalg-matmul#12");
}

TEST(Path, ErrorsNamePositionAndExpectation) {
  EXPECT_EQ(pathError(""),
            "expected a name at position 0, found the end of the path");
  EXPECT_EQ(pathError("a..b"), "expected a name at position 2, found '.'");
  EXPECT_EQ(pathError("a."),
            "expected a name at position 2, found the end of the path");
  EXPECT_EQ(pathError("a[*]"), "expected an index at position 2, found '*'");
  EXPECT_EQ(pathError("a[1"),
            "expected ']' at position 3, found the end of the path");
  EXPECT_EQ(pathError("a b"), "expected '.', '[' or the end of the path at "
                              "position 1, found ' '");
  EXPECT_EQ(pathError("a[1]b"),
            "expected '.' or the end of the path at position 4, found 'b'");
  EXPECT_EQ(pathError("a[99999999999999999999]"),
            "the index 99999999999999999999 at position 2 is too large");
  EXPECT_EQ(pathError("a[9223372036854775807]"),
            "the index 9223372036854775807 at position 2 is too large");
}

TEST(PathPattern, PrintsWhatItParsed) {
  for (StringRef text : {"a", "*", "**", "a[3].b", "layers[0:12].*[*].**.qkv"})
    EXPECT_EQ(pattern(text).str(), text);
}

TEST(PathPattern, ErrorsNamePositionAndExpectation) {
  EXPECT_EQ(patternError(""), "expected a name, '*' or '**' at position 0, "
                              "found the end of the pattern");
  EXPECT_EQ(patternError("a.[3]"),
            "expected a name, '*' or '**' at position 2, found '['");
  EXPECT_EQ(patternError("layers["),
            "expected an index, a range or '*' at position 7, found the end of "
            "the pattern");
  EXPECT_EQ(patternError("layers[3"), "expected ':' or ']' at position 8, "
                                      "found the end of the pattern");
  EXPECT_EQ(patternError("layers[3:]"),
            "expected the end of the range at position 9, found ']'");
  EXPECT_EQ(patternError("layers[3:4"),
            "expected ']' at position 10, found the end of the pattern");
  EXPECT_EQ(patternError("layers[*"),
            "expected ']' at position 8, found the end of the pattern");
  EXPECT_EQ(patternError("layers[4:4]"),
            "the range 4:4 at position 7 is empty; its end is exclusive");
  EXPECT_EQ(patternError("layers*"), "expected '.', '[' or the end of the "
                                     "pattern at position 6, found '*'");
  EXPECT_EQ(patternError("**[1]"),
            "expected '.' or the end of the pattern at position 2, found '['");
}

TEST(PathPattern, MatchesWholePaths) {
  EXPECT_TRUE(matches("head", "head"));
  EXPECT_FALSE(matches("head", "heads"));
  EXPECT_FALSE(matches("layers", "layers.attention"));
  EXPECT_TRUE(matches("*.qkv", "attention.qkv"));
  EXPECT_FALSE(matches("*.qkv", "qkv"));
}

TEST(PathPattern, WithoutIndexMatchesAnyIndexOrNone) {
  EXPECT_TRUE(matches("layers", "layers"));
  EXPECT_TRUE(matches("layers", "layers[3]"));
}

TEST(PathPattern, WithIndexNeedsAnIndex) {
  EXPECT_FALSE(matches("layers[*]", "layers"));
  EXPECT_TRUE(matches("layers[*]", "layers[0]"));
  EXPECT_TRUE(matches("layers[3]", "layers[3]"));
  EXPECT_FALSE(matches("layers[3]", "layers[4]"));
  EXPECT_TRUE(matches("*[3]", "blocks[3]"));
}

TEST(PathPattern, RangeExcludesItsEnd) {
  EXPECT_FALSE(matches("layers[2:4]", "layers[1]"));
  EXPECT_TRUE(matches("layers[2:4]", "layers[2]"));
  EXPECT_TRUE(matches("layers[2:4]", "layers[3]"));
  EXPECT_FALSE(matches("layers[2:4]", "layers[4]"));
}

TEST(PathPattern, AnyDepthMatchesNoneOneOrMany) {
  EXPECT_TRUE(matches("**.qkv", "qkv"));
  EXPECT_TRUE(matches("**.qkv", "attention.qkv"));
  EXPECT_TRUE(matches("a.**.b.**.c", "a.x.b.b.y.c"));
  EXPECT_FALSE(matches("a.**.b.**.c", "a.x.y.c"));
  EXPECT_TRUE(matches("a.**", "a"));
}

TEST(PathPattern, SelectsWhatIsBelow) {
  EXPECT_TRUE(selects("layers[*]", "layers[3].attention.qkv"));
  EXPECT_FALSE(selects("layers[*].mlp", "layers[3].attention.qkv"));
  EXPECT_FALSE(selects("layers.attention.qkv", "layers[3].attention"));
}

TEST(PathPattern, MatchLengthIsThatOfTheShortestMatch) {
  EXPECT_EQ(pattern("layers[*]").matchLength(path("layers[3].mlp.up")), 1u);
  EXPECT_EQ(pattern("**.a").matchLength(path("x.a.y.a")), 2u);
  EXPECT_EQ(pattern("**").matchLength(path("x.y")), 0u);
  EXPECT_EQ(pattern("head").matchLength(path("x.y")), std::nullopt);
}

TEST(PathPattern, JoinIsRelativeToTheOuterPattern) {
  PathPattern joined = pattern("layers[0:2]").join(pattern("mlp.*"));
  EXPECT_EQ(joined.str(), "layers[0:2].mlp.*");
  EXPECT_TRUE(joined.matches(path("layers[1].mlp.up")));
  EXPECT_FALSE(joined.matches(path("layers[2].mlp.up")));
}

TEST(PathPattern, UniformRangesAreCutAtTheIndicesOfThePattern) {
  EXPECT_EQ(ranges("layers[4:8]", "layers", 12),
            (Ranges{{0, 4}, {4, 8}, {8, 12}}));
  EXPECT_EQ(ranges("layers[0:8]", "layers", 12), (Ranges{{0, 8}, {8, 12}}));
  EXPECT_EQ(ranges("layers[11]", "layers", 12), (Ranges{{0, 11}, {11, 12}}));
  EXPECT_EQ(ranges("layers[4:8].mlp", "layers", 12),
            (Ranges{{0, 4}, {4, 8}, {8, 12}}));
}

TEST(PathPattern, UniformRangesAreWholeWhereTheIndexMakesNoDifference) {
  EXPECT_EQ(ranges("layers[*]", "layers", 12), (Ranges{{0, 12}}));
  EXPECT_EQ(ranges("layers", "layers", 12), (Ranges{{0, 12}}));
  EXPECT_EQ(ranges("blocks[4:8]", "layers", 12), (Ranges{{0, 12}}));
  EXPECT_EQ(ranges("layers[0:99]", "layers", 12), (Ranges{{0, 12}}));
  EXPECT_EQ(ranges("layers[20]", "layers", 12), (Ranges{{0, 12}}));
  EXPECT_EQ(ranges("layers[3].experts[2]", "layers[4].experts", 8),
            (Ranges{{0, 8}}));
  EXPECT_EQ(ranges("layers[4:8]", "layers", 0), Ranges{});
}

TEST(PathPattern, UniformRangesLookAtTheRightComponent) {
  EXPECT_EQ(ranges("layers[3].experts[2]", "layers[3].experts", 8),
            (Ranges{{0, 2}, {2, 3}, {3, 8}}));
  EXPECT_EQ(ranges("layers[3].experts[2]", "layers", 8),
            (Ranges{{0, 3}, {3, 4}, {4, 8}}));
}

TEST(PathPattern, UniformRangesEndWhereAShorterMatchDecides) {
  EXPECT_EQ(ranges("**.experts[2:4]", "layers[3].experts", 8),
            (Ranges{{0, 2}, {2, 4}, {4, 8}}));
  EXPECT_EQ(ranges("**.a[0]", "a[0].a", 4), (Ranges{{0, 4}}));
}

} // namespace
