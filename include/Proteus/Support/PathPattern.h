//===- PathPattern.h - module paths and patterns over them ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operation of a model has a path such as `layers[3].attention.qkv`. A
// node of a strategy tree selects operations by a pattern over such paths. The
// dialects and match-strategy use both; neither depends on MLIR.
//
//   path      ::= path-component (`.` path-component)*
//   path-component ::= name (`[` integer `]`)?
//   pattern   ::= component (`.` component)*
//   component ::= `**` | (name | `*`) (`[` index `]`)?
//   index     ::= integer | integer `:` integer | `*`
//
// A name is any sequence of characters other than `.`, `[`, `]`, `*`, quotes,
// white space and control characters.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_PATHPATTERN_H
#define PROTEUS_SUPPORT_PATHPATTERN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace proteus {

/// One component of a concrete path: `layers[3]` or `attention`.
struct PathComponent {
  std::string name;
  /// The iteration of a repeated module; absent for a module that occurs once.
  std::optional<int64_t> index;

  bool operator==(const PathComponent &other) const {
    return name == other.name && index == other.index;
  }
};

/// A concrete path, outermost component first.
using Path = llvm::SmallVector<PathComponent, 4>;

/// Parses a concrete path. The error contains the expected and the actual text
/// and the position, counted from 0.
llvm::Expected<Path> parsePath(llvm::StringRef text);

/// Returns the text of a path. Inverse of parsePath.
std::string toString(llvm::ArrayRef<PathComponent> path);

/// Iterations lo, lo + 1, ..., hi - 1 of a repeated module.
struct IndexRange {
  int64_t lo;
  int64_t hi;

  bool operator==(const IndexRange &other) const {
    return lo == other.lo && hi == other.hi;
  }
};

/// A pattern over paths. The settings of a node hold for a whole subtree of the
/// model. A pattern therefore *selects* an operation if it matches the path of
/// the operation or a prefix of that path: `layers[*]` selects all operations
/// below `layers[3]`.
class PathPattern {
public:
  enum class NameKind : uint8_t {
    /// One component of exactly this name.
    Name,
    /// `*`: one component of any name.
    Any,
    /// `**`: any number of components, including zero.
    AnyDepth,
  };

  enum class IndexKind : uint8_t {
    /// No index: matches a component with or without an index.
    None,
    /// `[3]`
    Single,
    /// `[0:12]`, the end exclusive.
    Range,
    /// `[*]`: any index, but there must be one.
    All,
  };

  /// One component of a pattern.
  struct Component {
    NameKind nameKind = NameKind::Name;
    /// The name when nameKind is Name, else empty.
    std::string name;
    IndexKind indexKind = IndexKind::None;
    /// The iterations [lo, hi) of a Single or a Range, else 0.
    int64_t lo = 0;
    int64_t hi = 0;

    /// Returns true if this component matches the name of a path component.
    bool matchesName(llvm::StringRef componentName) const;
    /// Returns true if this component matches the index of a path component.
    bool matchesIndex(std::optional<int64_t> index) const;
    /// Returns true if this component matches one path component.
    bool matches(const PathComponent &component) const {
      return matchesName(component.name) && matchesIndex(component.index);
    }
  };

  /// Parses a pattern. The error contains the expected and the actual text and
  /// the position, counted from 0.
  static llvm::Expected<PathPattern> parse(llvm::StringRef text);

  /// Returns the pattern of a nested node: this pattern, a dot, and `nested`.
  PathPattern join(const PathPattern &nested) const;

  /// Returns true if the pattern matches the whole path.
  bool matches(llvm::ArrayRef<PathComponent> path) const;

  /// Returns true if the pattern matches the path or a prefix of it, so that a
  /// node with this pattern selects an operation with this path.
  bool matchesPrefixOf(llvm::ArrayRef<PathComponent> path) const {
    return matchLength(path).has_value();
  }

  /// Returns the length, in components, of the shortest prefix of `path` that
  /// the pattern matches, or nullopt if it matches none.
  std::optional<size_t> matchLength(llvm::ArrayRef<PathComponent> path) const;

  /// Divides the iterations [0, count) of the repeated module at `path` into
  /// the longest ranges that the pattern does not distinguish: for two
  /// iterations i and j of one range, the pattern matches `path[i]` and the
  /// paths below it exactly as it matches `path[j]` and the paths below. The
  /// last component of `path` must have no index. The ranges are ascending and
  /// cover [0, count).
  llvm::SmallVector<IndexRange>
  getUniformRanges(llvm::ArrayRef<PathComponent> path, int64_t count) const;

  /// Returns the text of the pattern. Inverse of parse.
  std::string str() const;

private:
  explicit PathPattern(llvm::SmallVector<Component, 4> components)
      : components(std::move(components)) {}

  /// Never empty.
  llvm::SmallVector<Component, 4> components;
};

} // namespace proteus

#endif // PROTEUS_SUPPORT_PATHPATTERN_H
