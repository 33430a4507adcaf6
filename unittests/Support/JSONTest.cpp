//===- JSONTest.cpp - JSON with error locations ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/JSON.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace proteus::json;

namespace {

/// Returns the error of reading `text` by `read`, or an empty text.
std::string errorOf(StringRef text, function_ref<void(const Reader &)> read) {
  Expected<Document> document = Document::parse(text, "x.json");
  if (!document)
    return toString(document.takeError());
  read(document->root());
  return toString(document->takeError());
}

std::string parseError(StringRef text) {
  return errorOf(text, [](const Reader &) {});
}

TEST(JSONReader, ReadsWhatIsThere) {
  EXPECT_EQ(errorOf(R"({"a": {"b": [1, 2.5, "x", true, 3.0, 1e3]}})",
                    [](const Reader &root) {
                      std::vector<Reader> list = root["a"]["b"].elements();
                      ASSERT_EQ(list.size(), 6u);
                      EXPECT_EQ(list[0].integer(1, 1), 1);
                      EXPECT_EQ(list[1].positive(10), 2.5);
                      EXPECT_EQ(list[2].string(), "x");
                      EXPECT_TRUE(list[3].boolean());
                      EXPECT_EQ(list[4].integer(0, 9), 3);
                      EXPECT_EQ(list[5].nonNegative(1000), 1000);
                      EXPECT_EQ(list[5].path(), "a.b[5]");
                      EXPECT_TRUE(root.has("a"));
                      EXPECT_FALSE(root.has("b"));
                      EXPECT_FALSE(list[0].isNull());
                    }),
            "");
  EXPECT_EQ(errorOf(R"({"a": null})",
                    [](const Reader &root) {
                      EXPECT_TRUE(root.has("a"));
                      EXPECT_TRUE(root["a"].isNull());
                    }),
            "");
}

TEST(JSONReader, MembersComeInOrderOfTheirKeys) {
  EXPECT_EQ(errorOf(R"({"z": 1, "a": 2})",
                    [](const Reader &root) {
                      auto members = root.members();
                      ASSERT_EQ(members.size(), 2u);
                      EXPECT_EQ(members[0].first, "a");
                      EXPECT_EQ(members[1].second.integer(0, 9), 1);
                    }),
            "");
}

TEST(JSONReader, MalformedTextGivesLineAndColumn) {
  EXPECT_TRUE(StringRef(parseError("{\n  \"a\": 1,\n  \"b\" 2\n}"))
                  .starts_with("x.json:3:7: malformed JSON: "))
      << parseError("{\n  \"a\": 1,\n  \"b\" 2\n}");
  EXPECT_TRUE(StringRef(parseError("")).starts_with("x.json:1:1: malformed"))
      << parseError("");
  EXPECT_TRUE(StringRef(parseError("{} {}")).starts_with("x.json:1:4: "));
  EXPECT_TRUE(StringRef(parseError("[NaN]")).starts_with("x.json:1:2: "))
      << parseError("[NaN]");
}

TEST(JSONReader, ANumberBeyondDoubleIsRefused) {
  EXPECT_EQ(parseError("[1e999]"), "x.json: number overflow parsing '1e999'");
}

TEST(JSONReader, DuplicateKeysAreRefusedWithTheirPlace) {
  EXPECT_EQ(parseError(R"({"a": 1, "a": 2})"), "x.json: duplicate key 'a'");
  EXPECT_EQ(parseError(R"({"o": {"p": {"k": 1, "k": 1}}})"),
            "x.json: duplicate key 'k' at o.p");
  EXPECT_EQ(parseError(R"([{"a": 1}, {"a": 1}])"), "");
}

TEST(JSONReader, DeepNestingIsRefused) {
  EXPECT_EQ(parseError(std::string(100000, '[')),
            "x.json: nested deeper than 128 levels");
}

TEST(JSONReader, UnknownKeysNameTheNearestValidOne) {
  EXPECT_EQ(errorOf(R"({"d": {"memroy_gib": 80}})",
                    [](const Reader &root) {
                      root["d"].expectKeys({"name", "memory_gib"});
                    }),
            "x.json: unknown key 'memroy_gib' (nearest valid key: "
            "'memory_gib') at d");
}

TEST(JSONReader, MissingKeysAreNamed) {
  EXPECT_EQ(errorOf(R"({"d": {}})",
                    [](const Reader &root) { root["d"]["name"].string(); }),
            "x.json: missing key 'name' at d");
}

TEST(JSONReader, WrongTypesAreNamedWithTheirPlaceAndValue) {
  auto wrong = [](StringRef value, function_ref<void(const Reader &)> read) {
    return errorOf(("{\"k\": " + value + "}").str(),
                   [&](const Reader &root) { read(root["k"]); });
  };
  EXPECT_EQ(wrong("1", [](const Reader &r) { r.string(); }),
            "x.json: expected a string at k, got 1");
  EXPECT_EQ(wrong("\"\"", [](const Reader &r) { r.nonEmptyString(); }),
            "x.json: expected a non-empty string at k, got \"\"");
  EXPECT_EQ(wrong("1", [](const Reader &r) { r.boolean(); }),
            "x.json: expected true or false at k, got 1");
  EXPECT_EQ(wrong("[]", [](const Reader &r) { r["x"]; }),
            "x.json: expected an object at k, got an array");
  EXPECT_EQ(wrong("[]", [](const Reader &r) { r.members(); }),
            "x.json: expected an object at k, got an array");
  EXPECT_EQ(wrong("[]", [](const Reader &r) { r.expectKeys({"a"}); }),
            "x.json: expected an object at k, got an array");
  EXPECT_EQ(wrong("{}", [](const Reader &r) { r.elements(); }),
            "x.json: expected an array at k, got an object");
  EXPECT_EQ(wrong("null", [](const Reader &r) { r.integer(0, 9); }),
            "x.json: expected an integer from 0 to 9 at k, got null");
}

TEST(JSONReader, SenselessNumbersAreRefused) {
  auto integer = [](StringRef value) {
    return errorOf(value, [](const Reader &r) { r.integer(-1, 9); });
  };
  EXPECT_EQ(integer("-1"), "");
  for (const char *bad : {"10", "-2", "1.5", "1e300", "18446744073709551615"})
    EXPECT_TRUE(StringRef(integer(bad))
                    .starts_with("x.json: expected an integer from -1 to 9, "
                                 "got "))
        << bad;
  auto positive = [](StringRef value) {
    return errorOf(value, [](const Reader &r) { r.positive(100); });
  };
  EXPECT_EQ(positive("-3"), "x.json: expected a positive number, got -3");
  EXPECT_EQ(positive("0"), "x.json: expected a positive number, got 0");
  EXPECT_EQ(positive("\"7\""), "x.json: expected a positive number, got \"7\"");
  EXPECT_EQ(positive("101"), "x.json: expected at most 100.0, got 101");
  EXPECT_EQ(errorOf("-0.5", [](const Reader &r) { r.nonNegative(1); }),
            "x.json: expected a number that is not negative, got -0.5");
  EXPECT_EQ(errorOf("0", [](const Reader &r) { r.nonNegative(1); }), "");
}

TEST(JSONReader, TheFirstErrorIsKept) {
  EXPECT_EQ(errorOf(R"({"a": 1, "b": 2})",
                    [](const Reader &root) {
                      root["a"].string();
                      root["b"].string();
                      root["c"]["d"].string();
                    }),
            "x.json: expected a string at a, got 1");
}

TEST(JSONWriter, WritesInTheOrderOfTheCalls) {
  std::string text;
  raw_string_ostream os(text);
  Writer writer(os);
  writer.beginObject();
  writer.attribute("z", "quote \" and \n");
  writer.attribute("a", 0.1);
  writer.attribute("big", int64_t(9007199254740993));
  writer.key("list");
  writer.beginArray();
  writer.value(true);
  writer.null();
  writer.endArray();
  writer.key("empty");
  writer.beginObject();
  writer.endObject();
  writer.endObject();
  EXPECT_EQ(text, "{\n"
                  "  \"z\": \"quote \\\" and \\n\",\n"
                  "  \"a\": 0.1,\n"
                  "  \"big\": 9007199254740993,\n"
                  "  \"list\": [\n"
                  "    true,\n"
                  "    null\n"
                  "  ],\n"
                  "  \"empty\": {}\n"
                  "}\n");
  EXPECT_EQ(parseError(text), "");
}

TEST(JSONWriter, NumbersReadBackExactly) {
  for (double value : {1.0 / 3, 1e-12, 123456789.123456789, 1e-300})
    EXPECT_EQ(std::stod(formatNumber(value)), value);
  EXPECT_EQ(formatNumber(std::nan("")), "null");
  EXPECT_EQ(formatNumber(HUGE_VAL), "null");
}

TEST(JSONWriter, InvalidUTF8IsReplaced) {
  EXPECT_EQ(parseError(quote("\xff\xfe")), "");
}

} // namespace
