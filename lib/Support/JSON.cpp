//===- JSON.cpp - JSON with located errors --------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements JSON.h with the library nlohmann_json. This is the only file that
// includes this library and the only file that handles exceptions. All
// exceptions of the library are caught in this file.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/JSON.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace llvm;
using namespace proteus::json;
using Node = nlohmann::json;

/// Largest depth of nested objects and arrays. All formats of Proteus need
/// less.
static constexpr int maxDepth = 128;

//===----------------------------------------------------------------------===//
// Document
//===----------------------------------------------------------------------===//

struct Document::State {
  std::string source;
  Node root;
  std::string error; ///< the first error; empty if there is none
};

Document::Document(std::unique_ptr<State> state) : state(std::move(state)) {}
Document::Document(Document &&other) noexcept = default;
Document &Document::operator=(Document &&other) noexcept = default;
Document::~Document() = default;

namespace {
/// The exception for a text that the library accepts but Document::parse
/// rejects.
struct Refused {
  std::string message;
};

/// A callback of the library's parser that rejects repeated keys and deep
/// nesting. Without the callback, the parser would silently keep only the last
/// value of a repeated key.
class Watcher {
public:
  bool operator()(int depth, Node::parse_event_t event, Node &parsed) {
    if (depth > maxDepth)
      throw Refused{"nested deeper than " + std::to_string(maxDepth) +
                    " levels"};
    switch (event) {
    case Node::parse_event_t::object_start:
      keys.emplace_back();
      path.emplace_back();
      break;
    case Node::parse_event_t::object_end:
      keys.pop_back();
      path.pop_back();
      break;
    case Node::parse_event_t::key: {
      std::string name = parsed.get<std::string>();
      if (!keys.back().insert(name).second)
        throw Refused{"duplicate key '" + name + "'" + enclosing()};
      path.back() = std::move(name);
      break;
    }
    default:
      break;
    }
    return true;
  }

private:
  /// Returns " at a.b", where a.b is the key path of the innermost open object,
  /// or an empty string if this object is the root.
  std::string enclosing() const {
    std::string text;
    for (size_t i = 0; i + 1 < path.size(); ++i)
      text += (text.empty() ? "" : ".") + path[i];
    return text.empty() ? text : " at " + text;
  }

  std::vector<StringSet<>> keys; ///< one set per open object
  std::vector<std::string> path; ///< current key of each open object
};
} // namespace

/// Returns `message`, shortened to 1000 characters, because it may contain a
/// long part of the file.
static std::string cut(std::string message) {
  constexpr size_t limit = 1000;
  if (message.size() > limit) {
    message.resize(limit);
    message += "...";
  }
  return message;
}

/// Returns the last part of a message of the library: "text" from
/// "[json.exception.x.101] parse error at ...: text".
static std::string reason(StringRef what) {
  if (what.contains("] "))
    what = what.split("] ").second;
  if (what.starts_with("parse error"))
    what = what.split(": ").second;
  return cut(what.str());
}

static std::string lineAndColumn(StringRef text, size_t byte) {
  StringRef before = text.take_front(byte == 0 ? 0 : byte - 1);
  size_t line = before.count('\n') + 1;
  size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return std::to_string(line) + ":" + std::to_string(column);
}

Expected<Document> Document::parse(StringRef text, StringRef source) {
  auto state = std::make_unique<State>();
  state->source = source.str();
  try {
    state->root = Node::parse(text.begin(), text.end(), Watcher());
  } catch (const Node::parse_error &error) {
    return createStringError(source + ":" + lineAndColumn(text, error.byte) +
                             ": malformed JSON: " + reason(error.what()));
  } catch (const Node::exception &error) {
    return createStringError(source + ": " + reason(error.what()));
  } catch (const Refused &refused) {
    return createStringError(source + ": " + cut(refused.message));
  }
  return Document(std::move(state));
}

Reader Document::root() const { return Reader(this, &state->root, ""); }

Error Document::takeError() const {
  if (state->error.empty())
    return Error::success();
  std::string error = std::move(state->error);
  state->error.clear();
  return createStringError(error);
}

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

static const Node &node(const void *value) {
  return *static_cast<const Node *>(value);
}

/// Returns the text of a value for an error message: "an object", "an array",
/// or the value itself, shortened to 40 characters.
static std::string shown(const Node &value) {
  if (value.is_object())
    return "an object";
  if (value.is_array())
    return "an array";
  std::string text = value.dump(-1, ' ', false, Node::error_handler_t::replace);
  constexpr size_t limit = 40;
  return text.size() > limit ? text.substr(0, limit) + "..." : text;
}

void Reader::fail(const Twine &message) const {
  std::string &error = document->state->error;
  if (!error.empty())
    return;
  error = cut((document->state->source + ": " + message +
               (where.empty() ? Twine() : " at " + Twine(where)))
                  .str());
}

void Reader::mismatch(const Twine &what) const {
  if (!value)
    return;
  std::string &error = document->state->error;
  if (!error.empty())
    return;
  error = (document->state->source + ": expected " + what +
           (where.empty() ? Twine() : " at " + Twine(where)) + ", got " +
           shown(node(value)))
              .str();
}

bool Reader::isObject() const { return value && node(value).is_object(); }
bool Reader::isArray() const { return value && node(value).is_array(); }
bool Reader::isString() const { return value && node(value).is_string(); }
bool Reader::isNumber() const { return value && node(value).is_number(); }
bool Reader::isNull() const { return value && node(value).is_null(); }

void Reader::expectKeys(ArrayRef<StringRef> allowed) const {
  if (!isObject())
    return mismatch("an object");
  for (const auto &member : node(value).items()) {
    StringRef key = member.key();
    if (llvm::is_contained(allowed, key))
      continue;
    StringRef nearest =
        *llvm::min_element(allowed, [&](StringRef a, StringRef b) {
          return key.edit_distance(a) < key.edit_distance(b);
        });
    return fail("unknown key '" + key + "' (nearest valid key: '" + nearest +
                "')");
  }
}

bool Reader::has(StringRef key) const {
  return isObject() && node(value).contains(key.str());
}

Reader Reader::operator[](StringRef key) const {
  std::string child = where.empty() ? key.str() : where + "." + key.str();
  if (!isObject()) {
    mismatch("an object");
    return Reader(document, nullptr, std::move(child));
  }
  auto found = node(value).find(key.str());
  if (found == node(value).end()) {
    fail("missing key '" + key + "'");
    return Reader(document, nullptr, std::move(child));
  }
  return Reader(document, &*found, std::move(child));
}

std::vector<std::pair<std::string, Reader>> Reader::members() const {
  std::vector<std::pair<std::string, Reader>> result;
  if (!isObject()) {
    mismatch("an object");
    return result;
  }
  for (const auto &member : node(value).items())
    result.emplace_back(member.key(), (*this)[member.key()]);
  return result;
}

std::vector<Reader> Reader::elements() const {
  std::vector<Reader> result;
  if (!isArray()) {
    mismatch("an array");
    return result;
  }
  for (size_t i = 0; i < node(value).size(); ++i)
    result.push_back(Reader(document, &node(value)[i],
                            where + "[" + std::to_string(i) + "]"));
  return result;
}

std::string Reader::text() const { return value ? node(value).dump() : ""; }

std::string Reader::string() const {
  if (isString())
    return node(value).get<std::string>();
  mismatch("a string");
  return "";
}

std::string Reader::nonEmptyString() const {
  std::string text = string();
  if (isString() && text.empty())
    mismatch("a non-empty string");
  return text;
}

bool Reader::boolean() const {
  if (value && node(value).is_boolean())
    return node(value).get<bool>();
  mismatch("true or false");
  return false;
}

int64_t Reader::integer(int64_t min, int64_t max) const {
  auto refuse = [&] {
    mismatch("an integer from " + Twine(min) + " to " + Twine(max));
    return min;
  };
  if (!isNumber())
    return refuse();
  const Node &number = node(value);
  if (number.is_number_unsigned() &&
      number.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    return refuse();
  int64_t result;
  if (number.is_number_float()) {
    double real = number.get<double>();
    // Above 2^53, a double cannot represent every integer.
    if (real != std::floor(real) || std::fabs(real) > 9007199254740992.0)
      return refuse();
    result = static_cast<int64_t>(real);
  } else {
    result = number.get<int64_t>();
  }
  return result < min || result > max ? refuse() : result;
}

double Reader::number(StringRef what, double max, bool allowZero) const {
  if (isNumber()) {
    double result = node(value).get<double>();
    if (std::isfinite(result) && (result > 0 || (allowZero && result == 0))) {
      if (result <= max)
        return result;
      mismatch("at most " + formatNumber(max));
      return max;
    }
  }
  mismatch(what);
  return allowZero ? 0 : 1;
}

double Reader::positive(double max) const {
  return number("a positive number", max, /*allowZero=*/false);
}

double Reader::nonNegative(double max) const {
  return number("a number that is not negative", max, /*allowZero=*/true);
}

//===----------------------------------------------------------------------===//
// Writer
//===----------------------------------------------------------------------===//

std::string proteus::json::quote(StringRef text) {
  return Node(text.str()).dump(-1, ' ', false, Node::error_handler_t::replace);
}

std::string proteus::json::formatNumber(double value) {
  return Node(value).dump();
}

void Writer::indent() {
  os << '\n';
  os.indent(2 * hasElements.size());
}

void Writer::separate() {
  if (afterKey) {
    afterKey = false;
    return;
  }
  if (hasElements.empty())
    return;
  if (hasElements.back())
    os << ',';
  hasElements.back() = true;
  indent();
}

void Writer::open(char bracket) {
  separate();
  os << bracket;
  hasElements.push_back(false);
}

void Writer::close(char bracket) {
  bool any = hasElements.back();
  hasElements.pop_back();
  if (any)
    indent();
  os << bracket;
  if (hasElements.empty())
    os << '\n';
}

void Writer::beginObject() { open('{'); }
void Writer::endObject() { close('}'); }
void Writer::beginArray() { open('['); }
void Writer::endArray() { close(']'); }

void Writer::key(StringRef name) {
  separate();
  os << quote(name) << ": ";
  afterKey = true;
}

void Writer::value(StringRef text) {
  separate();
  os << quote(text);
}
void Writer::value(double number) {
  separate();
  os << formatNumber(number);
}
void Writer::value(int64_t number) {
  separate();
  os << number;
}
void Writer::value(uint64_t number) {
  separate();
  os << number;
}
void Writer::value(bool flag) {
  separate();
  os << (flag ? "true" : "false");
}
void Writer::null() {
  separate();
  os << "null";
}
