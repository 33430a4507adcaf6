//===- TOML.cpp - TOML with located errors --------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements TOML.h with the library toml++. This is the only file that
// includes this library. The library is compiled into this file, without
// exceptions and with a smaller limit of nesting than its own.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/TOML.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_UNRELEASED_FEATURES 0
#define TOML_MAX_NESTED_VALUES 32
#include <toml++/toml.h>

#include <cmath>

using namespace llvm;
using namespace proteus;

/// Largest number of dots in a line. The library limits the depth of nested
/// values, but not the number of parts of a key such as `a.b.c`, and it walks
/// nested tables by recursion.
static constexpr size_t maxDots = 100;

/// Returns an error if a line of `text` has more than `maxDots` dots.
static Error checkDots(StringRef text, StringRef source) {
  size_t line = 0;
  while (!text.empty()) {
    auto [first, rest] = text.split('\n');
    ++line;
    if (first.count('.') > maxDots)
      return createStringError(source + ":" + Twine(line) +
                               ": the line has more than " + Twine(maxDots) +
                               " dots; split it into several lines");
    text = rest;
  }
  return Error::success();
}

/// Writes a value. Values of types that JSON does not have become strings.
static void write(json::Writer &writer, const ::toml::node &node) {
  if (const ::toml::table *table = node.as_table()) {
    writer.beginObject();
    for (const auto &[key, value] : *table) {
      writer.key(StringRef(key.str().data(), key.str().size()));
      write(writer, value);
    }
    return writer.endObject();
  }
  if (const ::toml::array *array = node.as_array()) {
    writer.beginArray();
    for (const ::toml::node &element : *array)
      write(writer, element);
    return writer.endArray();
  }
  if (const auto *text = node.as_string())
    return writer.value(StringRef(text->get()));
  if (const auto *number = node.as_integer())
    return writer.value(number->get());
  if (const auto *flag = node.as_boolean())
    return writer.value(flag->get());
  if (const auto *real = node.as_floating_point()) {
    if (std::isfinite(real->get()))
      return writer.value(real->get());
    return writer.value(std::isnan(real->get()) ? "nan" : "inf");
  }
  writer.value("a date or a time");
}

Expected<json::Document> proteus::toml::parse(StringRef text,
                                              StringRef source) {
  if (Error error = checkDots(text, source))
    return std::move(error);
  ::toml::parse_result result =
      ::toml::parse(std::string_view(text.data(), text.size()));
  if (!result) {
    const ::toml::parse_error &error = result.error();
    StringRef reason(error.description().data(), error.description().size());
    if (reason.contains("TOML_MAX_NESTED_VALUES"))
      reason = "nested deeper than 32 levels";
    return createStringError(source + ":" + Twine(error.source().begin.line) +
                             ":" + Twine(error.source().begin.column) + ": " +
                             reason.take_front(1000));
  }
  std::string asJSON;
  raw_string_ostream os(asJSON);
  json::Writer writer(os);
  write(writer, result.table());
  return json::Document::parse(asJSON, source);
}
