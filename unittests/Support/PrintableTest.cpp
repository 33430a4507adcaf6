//===- PrintableTest.cpp - text that is safe on a terminal ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/Printable.h"

#include "gtest/gtest.h"

using namespace proteus;

namespace {

TEST(Printable, TextOfAnyLanguageRemains) {
  EXPECT_EQ(printable("GPT-3 175B"), "GPT-3 175B");
  EXPECT_EQ(printable("modèle 模型"), "modèle 模型");
}

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\x1b[31m\tb\x7f"), "a\\x1b[31m\\x09b\\x7f");
  EXPECT_EQ(printable("a\u009bb"), "a\\u009bb");
  EXPECT_EQ(printable(llvm::StringRef("a\0b", 3)), "a\\x00b");
}

TEST(Printable, NewlinesAreKeptOnRequest) {
  EXPECT_EQ(printable("a\nb"), "a\\x0ab");
  EXPECT_EQ(printable("a\nb\r", /*keepNewlines=*/true), "a\nb\\x0d");
}

TEST(Printable, CharactersThatChangeTheDirectionAreEscaped) {
  EXPECT_EQ(printable("a\u202eb\u2066c\u200fd\u061ce"),
            "a\\u202eb\\u2066c\\u200fd\\u061ce");
  EXPECT_EQ(printable("a\u2028b"), "a\\u2028b");
}

TEST(Printable, BytesThatAreNotUTF8AreEscaped) {
  EXPECT_EQ(printable("a\xff\xc3(b"), "a\\xff\\xc3(b");
  EXPECT_EQ(printable("a\xe2\x80"), "a\\xe2\\x80");
}

} // namespace
