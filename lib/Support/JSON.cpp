//===- JSON.cpp - JSON with located errors --------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements JSON.h with the library nlohmann_json. This is the only file that
// includes this library. The library is compiled without exceptions: its parser
// reports errors to `Builder`, and the types of values are checked before they
// are read.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/JSON.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace llvm;
using namespace proteus::json;
using Node = nlohmann::json;

/// Largest depth of nested objects and arrays. All formats of Proteus need
/// less.
static constexpr size_t maxDepth = 128;

//===----------------------------------------------------------------------===//
// Document
//===----------------------------------------------------------------------===//

struct Document::State {
  std::string source;
  Node root;
  std::string error; ///< the first error; empty if there is none
  /// Values that Readers have returned by their keys.
  DenseSet<const Node *> read;
};

Document::Document(std::unique_ptr<State> state) : state(std::move(state)) {}
Document::Document(Document &&other) noexcept = default;
Document &Document::operator=(Document &&other) noexcept = default;
Document::~Document() = default;

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

namespace {
/// Receives the events of the library's parser and builds the value. Rejects
/// repeated keys, of which the library's own builder would silently keep only
/// the last value, and deep nesting. Does not use a callback of the library:
/// with a callback, the library searches the whole enclosing value after each
/// object, which takes hours for millions of objects in one array.
class Builder : public nlohmann::json_sax<Node> {
public:
  Builder(Node &root, StringRef text, StringRef source)
      : root(root), text(text), source(source) {}

  /// The error at which the parser stopped.
  std::string error;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t &) override {
    return add(value);
  }
  bool string(string_t &value) override { return add(std::move(value)); }
  bool binary(binary_t &value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override { return open(Node::object()); }
  bool start_array(std::size_t) override { return open(Node::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override {
    auto [member, isNew] = levels.back().value->emplace(name, nullptr);
    if (!isNew)
      return refuse("duplicate key '" + name + "'" + enclosing());
    levels.back().key = std::move(name);
    levels.back().member = &*member;
    return true;
  }

  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &problem) override {
    std::string where = source.str();
    // Other errors, such as a number that is too large, quote the text.
    if (dynamic_cast<const Node::parse_error *>(&problem))
      where += ":" + lineAndColumn(text, position) + ": malformed JSON";
    error = where + ": " + reason(problem.what());
    return false;
  }

private:
  /// An object or array that is not closed yet.
  struct Level {
    Node *value;
    std::string key;        ///< the current key of an object
    Node *member = nullptr; ///< the value of this key
  };

  /// Puts `value` into the innermost open object or array, or makes it the
  /// root. Returns its place.
  Node &place(Node &&value) {
    if (levels.empty())
      return root = std::move(value);
    Level &level = levels.back();
    if (level.value->is_object())
      return *level.member = std::move(value);
    level.value->push_back(std::move(value));
    return level.value->back();
  }
  bool add(Node value) {
    place(std::move(value));
    return true;
  }
  bool open(Node &&value) {
    if (levels.size() >= maxDepth)
      return refuse("nested deeper than " + std::to_string(maxDepth) +
                    " levels");
    levels.push_back({&place(std::move(value)), "", nullptr});
    return true;
  }
  bool close() {
    levels.pop_back();
    return true;
  }
  bool refuse(std::string message) {
    error = (source + ": " + cut(std::move(message))).str();
    return false;
  }
  /// Returns " at a.b", where a.b is the key path of the innermost open object,
  /// or an empty string if this object is the root.
  std::string enclosing() const {
    std::string path;
    for (const Level &level : ArrayRef(levels).drop_back())
      if (level.member)
        path += (path.empty() ? "" : ".") + level.key;
    return path.empty() ? path : " at " + path;
  }

  Node &root;
  StringRef text, source;
  std::vector<Level> levels; ///< from the outermost to the innermost
};
} // namespace

Expected<Document> Document::parse(StringRef text, StringRef source) {
  auto state = std::make_unique<State>();
  state->source = source.str();
  Builder builder(state->root, text, source);
  if (!Node::sax_parse(text.begin(), text.end(), &builder))
    return createStringError(builder.error);
  return Document(std::move(state));
}

Reader Document::root() const { return Reader(this, &state->root, ""); }

StringRef Document::source() const { return state->source; }

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
  document->state->read.insert(&*found);
  return Reader(document, &*found, std::move(child));
}

std::vector<std::pair<std::string, Reader>> Reader::unreadMembers() const {
  std::vector<std::pair<std::string, Reader>> result;
  if (!isObject())
    return result;
  for (const auto &member : node(value).items())
    if (!document->state->read.contains(&member.value()))
      result.emplace_back(
          member.key(),
          Reader(document, &member.value(),
                 where.empty() ? member.key() : where + "." + member.key()));
  return result;
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
