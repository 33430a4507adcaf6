//===- PathPattern.cpp - module paths and patterns over them --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/PathPattern.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <limits>

using namespace proteus;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallBitVector;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {

/// Reads the tokens of a path or pattern and creates error messages. `subject`
/// is the word for the text in messages, "path" or "pattern".
class Reader {
public:
  Reader(StringRef text, StringRef subject) : text(text), subject(subject) {}

  bool atEnd() const { return position == text.size(); }

  bool consume(StringRef token) {
    if (!text.substr(position).starts_with(token))
      return false;
    position += token.size();
    return true;
  }

  /// Consumes the longest name at the current position, which may be empty.
  StringRef name() {
    StringRef result = text.substr(position).take_while([](char c) {
      return !llvm::isSpace(c) && !StringRef(".[]*\"'").contains(c) &&
             static_cast<unsigned char>(c) >= ' ' && c != 0x7f;
    });
    position += result.size();
    return result;
  }

  Expected<int64_t> integer(const Twine &what) {
    StringRef digits = text.substr(position).take_while(llvm::isDigit);
    if (digits.empty())
      return expected(what);
    // The exclusive end of a range, index + 1, must also fit into int64_t.
    int64_t value;
    if (digits.getAsInteger(10, value) ||
        value == std::numeric_limits<int64_t>::max())
      return llvm::createStringError("the index " + digits + " at position " +
                                     Twine(position) + " is too large");
    position += digits.size();
    return value;
  }

  Error expected(const Twine &what) const {
    std::string found = atEnd() ? ("the end of the " + subject).str()
                                : ("'" + text.substr(position, 1) + "'").str();
    return llvm::createStringError("expected " + what + " at position " +
                                   Twine(position) + ", found " + found);
  }

  size_t getPosition() const { return position; }

private:
  StringRef text;
  StringRef subject;
  size_t position = 0;
};

} // namespace

/// Parses the index of a pattern component. The reader has already consumed the
/// `[`.
static Error parseIndex(Reader &reader, PathPattern::Component &component) {
  using IndexKind = PathPattern::IndexKind;
  if (reader.consume("*")) {
    component.indexKind = IndexKind::All;
    return reader.consume("]") ? Error::success() : reader.expected("']'");
  }
  size_t start = reader.getPosition();
  Expected<int64_t> lo = reader.integer("an index, a range or '*'");
  if (!lo)
    return lo.takeError();
  component.lo = *lo;
  if (reader.consume("]")) {
    component.indexKind = IndexKind::Single;
    component.hi = *lo + 1;
    return Error::success();
  }
  if (!reader.consume(":"))
    return reader.expected("':' or ']'");
  Expected<int64_t> hi = reader.integer("the end of the range");
  if (!hi)
    return hi.takeError();
  component.indexKind = IndexKind::Range;
  component.hi = *hi;
  if (!reader.consume("]"))
    return reader.expected("']'");
  if (*hi <= *lo)
    return llvm::createStringError("the range " + Twine(*lo) + ":" +
                                   Twine(*hi) + " at position " + Twine(start) +
                                   " is empty; its end is exclusive");
  return Error::success();
}

static Expected<PathPattern::Component> parseComponent(Reader &reader) {
  using NameKind = PathPattern::NameKind;
  PathPattern::Component component;
  if (reader.consume("**")) {
    component.nameKind = NameKind::AnyDepth;
    return component;
  }
  if (reader.consume("*")) {
    component.nameKind = NameKind::Any;
  } else {
    component.name = reader.name().str();
    if (component.name.empty())
      return reader.expected("a name, '*' or '**'");
  }
  if (reader.consume("["))
    if (Error error = parseIndex(reader, component))
      return error;
  return component;
}

static Expected<PathComponent> parsePathComponent(Reader &reader) {
  PathComponent component;
  component.name = reader.name().str();
  if (component.name.empty())
    return reader.expected("a name");
  if (!reader.consume("["))
    return component;
  Expected<int64_t> index = reader.integer("an index");
  if (!index)
    return index.takeError();
  component.index = *index;
  if (!reader.consume("]"))
    return reader.expected("']'");
  return component;
}

/// Returns the tokens that may follow `component`, for an error message.
static StringRef getContinuation(const PathPattern::Component &component) {
  bool mayTakeIndex = component.nameKind != PathPattern::NameKind::AnyDepth &&
                      component.indexKind == PathPattern::IndexKind::None;
  return mayTakeIndex ? "'.', '[' or the end of the pattern"
                      : "'.' or the end of the pattern";
}

static StringRef getContinuation(const PathComponent &component) {
  return component.index ? "'.' or the end of the path"
                         : "'.', '[' or the end of the path";
}

/// Parses components separated by dots up to the end of the text.
template <typename T>
static Expected<SmallVector<T, 4>>
parseComponents(Reader &reader, Expected<T> (*parseOne)(Reader &)) {
  SmallVector<T, 4> components;
  do {
    Expected<T> component = parseOne(reader);
    if (!component)
      return component.takeError();
    components.push_back(std::move(*component));
  } while (reader.consume("."));
  if (!reader.atEnd())
    return reader.expected(getContinuation(components.back()));
  return components;
}

Expected<Path> proteus::parsePath(StringRef text) {
  Reader reader(text, "path");
  return parseComponents<PathComponent>(reader, parsePathComponent);
}

Expected<PathPattern> PathPattern::parse(StringRef text) {
  Reader reader(text, "pattern");
  auto components = parseComponents<Component>(reader, parseComponent);
  if (!components)
    return components.takeError();
  return PathPattern(std::move(*components));
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string proteus::toString(ArrayRef<PathComponent> path) {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::interleave(
      path, os,
      [&](const PathComponent &component) {
        os << component.name;
        if (component.index)
          os << '[' << *component.index << ']';
      },
      ".");
  return result;
}

static void print(llvm::raw_ostream &os,
                  const PathPattern::Component &component) {
  switch (component.nameKind) {
  case PathPattern::NameKind::Name:
    os << component.name;
    break;
  case PathPattern::NameKind::Any:
    os << '*';
    break;
  case PathPattern::NameKind::AnyDepth:
    os << "**";
    break;
  }
  switch (component.indexKind) {
  case PathPattern::IndexKind::None:
    break;
  case PathPattern::IndexKind::Single:
    os << '[' << component.lo << ']';
    break;
  case PathPattern::IndexKind::Range:
    os << '[' << component.lo << ':' << component.hi << ']';
    break;
  case PathPattern::IndexKind::All:
    os << "[*]";
    break;
  }
}

std::string PathPattern::str() const {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::interleave(
      components, os, [&](const Component &c) { print(os, c); }, ".");
  return result;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

bool PathPattern::Component::matchesName(StringRef componentName) const {
  return nameKind != NameKind::Name || name == componentName;
}

bool PathPattern::Component::matchesIndex(std::optional<int64_t> index) const {
  switch (indexKind) {
  case IndexKind::None:
    return true;
  case IndexKind::Single:
  case IndexKind::Range:
    return index && *index >= lo && *index < hi;
  case IndexKind::All:
    return index.has_value();
  }
  llvm_unreachable("unknown index kind");
}

namespace {

/// The non-deterministic automaton of a pattern. State s is active if the first
/// s components of the pattern match all path components that were read so far.
class Matcher {
public:
  explicit Matcher(ArrayRef<PathPattern::Component> components)
      : components(components), states(components.size() + 1) {
    states.set(0);
    skipAnyDepth(states);
  }

  bool accepts() const { return states.test(components.size()); }

  void read(const PathComponent &pathComponent) {
    SmallBitVector next(states.size());
    for (auto [state, component] : llvm::enumerate(components)) {
      if (!states.test(state) || !component.matches(pathComponent))
        continue;
      bool stays = component.nameKind == PathPattern::NameKind::AnyDepth;
      next.set(stays ? state : state + 1);
    }
    skipAnyDepth(next);
    states = std::move(next);
  }

  /// Returns true if both matchers have the same active states. If both belong
  /// to the same pattern, they then accept the same further components.
  bool operator==(const Matcher &other) const { return states == other.states; }

private:
  /// Activates the state after each active `**`, because `**` may match zero
  /// components.
  void skipAnyDepth(SmallBitVector &set) const {
    for (auto [state, component] : llvm::enumerate(components))
      if (set.test(state) &&
          component.nameKind == PathPattern::NameKind::AnyDepth)
        set.set(state + 1);
  }

  ArrayRef<PathPattern::Component> components;
  SmallBitVector states;
};

} // namespace

PathPattern PathPattern::join(const PathPattern &nested) const {
  SmallVector<Component, 4> joined = components;
  llvm::append_range(joined, nested.components);
  return PathPattern(std::move(joined));
}

bool PathPattern::matches(ArrayRef<PathComponent> path) const {
  Matcher matcher(components);
  for (const PathComponent &component : path)
    matcher.read(component);
  return matcher.accepts();
}

std::optional<size_t>
PathPattern::matchLength(ArrayRef<PathComponent> path) const {
  Matcher matcher(components);
  for (size_t length = 0;; ++length) {
    if (matcher.accepts())
      return length;
    if (length == path.size())
      return std::nullopt;
    matcher.read(path[length]);
  }
}

SmallVector<IndexRange>
PathPattern::getUniformRanges(ArrayRef<PathComponent> path,
                              int64_t count) const {
  assert(!path.empty() && !path.back().index &&
         "the path of a repeated module ends in a component without index");
  if (count <= 0)
    return {};

  // If the pattern matches the path of an enclosing module, it selects all
  // iterations of the repeated module.
  ArrayRef<PathComponent> outer = path.drop_back();
  if (matchesPrefixOf(outer))
    return {{0, count}};

  Matcher before(components);
  for (const PathComponent &component : outer)
    before.read(component);

  // The pattern can distinguish iterations i - 1 and i only if i is the first
  // or the end index of an index range in the pattern.
  SmallVector<int64_t> starts = {0};
  for (const Component &component : components)
    for (int64_t bound : {component.lo, component.hi})
      if (bound > 0 && bound < count)
        starts.push_back(bound);
  llvm::sort(starts);
  starts.erase(llvm::unique(starts), starts.end());

  SmallVector<IndexRange> ranges;
  std::optional<Matcher> previous;
  for (int64_t start : starts) {
    Matcher matcher = before;
    matcher.read({path.back().name, start});
    // If both matchers accept, the pattern selects all operations of both
    // iterations, and the other states do not matter.
    bool alike = previous && (previous->accepts() ? matcher.accepts()
                                                  : *previous == matcher);
    if (alike)
      continue;
    if (!ranges.empty())
      ranges.back().hi = start;
    ranges.push_back({start, count});
    previous = std::move(matcher);
  }
  return ranges;
}
