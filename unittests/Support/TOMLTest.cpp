//===- TOMLTest.cpp - TOML with located errors ----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/TOML.h"

#include <gtest/gtest.h>

using namespace proteus;

namespace {

std::string errorOf(llvm::StringRef text) {
  auto document = toml::parse(text, "file.toml");
  return document ? "" : llvm::toString(document.takeError());
}

TEST(TOML, TablesAreObjects) {
  auto document =
      toml::parse("a.b = 1\n[c]\nd = [1.5, true, \"x\"]\n[[e]]\n", "file.toml");
  ASSERT_TRUE(bool(document));
  EXPECT_EQ(document->root()["a"]["b"].integer(0, 9), 1);
  std::vector<json::Reader> list = document->root()["c"]["d"].elements();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].positive(9), 1.5);
  EXPECT_TRUE(list[1].boolean());
  EXPECT_EQ(list[2].string(), "x");
  EXPECT_EQ(document->root()["e"].elements().size(), 1u);
  EXPECT_FALSE(bool(document->takeError()));
}

TEST(TOML, ValuesThatJSONLacksAreStrings) {
  auto document =
      toml::parse("a = inf\nb = nan\nc = 1979-05-27\n", "file.toml");
  ASSERT_TRUE(bool(document));
  EXPECT_EQ(document->root()["a"].string(), "inf");
  EXPECT_EQ(document->root()["b"].string(), "nan");
  EXPECT_EQ(document->root()["c"].string(), "a date or a time");
}

TEST(TOML, ErrorsHaveAPlace) {
  EXPECT_EQ(errorOf("a = 1\nb = = 2\n").rfind("file.toml:2:", 0), 0u);
  EXPECT_EQ(errorOf("a = 1\na = 2\n").rfind("file.toml:2:", 0), 0u);
  auto document = toml::parse("[a]\nb = \"x\"\n", "file.toml");
  ASSERT_TRUE(bool(document));
  document->root()["a"]["b"].integer(1, 2);
  EXPECT_EQ(llvm::toString(document->takeError()),
            "file.toml: expected an integer from 1 to 2 at a.b, got \"x\"");
}

TEST(TOML, AssumptionsOfTheLibraryCanBeBroken) {
  EXPECT_NE(errorOf("a = 1979-05-27T-1:32:00Z"), "");
  EXPECT_NE(errorOf("a..b = 1"), "");
  EXPECT_NE(errorOf("{a = 1}"), "");
  EXPECT_NE(errorOf("a.=1"), "");
  // U+FB27 where white space may be.
  EXPECT_NE(errorOf("a \xEF\xAC\xA7= 1"), "");
}

TEST(TOML, DeepNestingIsRefused) {
  std::string dots = "a", brackets(1000, '[');
  for (int i = 0; i < 200; ++i)
    dots += ".a";
  EXPECT_EQ(errorOf("\n[" + dots + "]\n"),
            "file.toml:2: the line has more than 100 dots; split it into "
            "several lines");
  EXPECT_NE(errorOf("a = " + brackets).find("nested deeper than 32 levels"),
            std::string::npos);
}

} // namespace
