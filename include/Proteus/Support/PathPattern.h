//===- PathPattern.h - module paths and patterns over them ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operation of a model has a path such as `layers[3].attention.qkv`. A
// node of a strategy tree selects operations by a pattern over such paths.
// Neither needs MLIR.
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

/// Parses a concrete path. The error says what was expected, at which position
/// (counted from 0) and what stands there.
llvm::Expected<Path> parsePath(llvm::StringRef text);

/// The text of a path; the inverse of parsePath.
std::string toString(llvm::ArrayRef<PathComponent> path);

/// Iterations lo, lo + 1, ..., hi - 1 of a repeated module.
struct IndexRange {
  int64_t lo;
  int64_t hi;

  bool operator==(const IndexRange &other) const {
    return lo == other.lo && hi == other.hi;
  }
};

/// A pattern over paths. What a node sets holds for a whole subtree of the
/// model, so a pattern *selects* an operation when it matches the operation's
/// path or a prefix of it: `layers[*]` selects all that is below `layers[3]`.
class PathPattern {
public:
  enum class NameKind : uint8_t {
    /// This very name.
    Name,
    /// `*`: one component of any name.
    Any,
    /// `**`: any number of components, none included.
    AnyDepth,
  };

  enum class IndexKind : uint8_t {
    /// No index written: matches a component with or without an index.
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

    /// Whether this component admits a path component with that name.
    bool matchesName(llvm::StringRef componentName) const;
    /// Whether this component admits a path component with that index.
    bool matchesIndex(std::optional<int64_t> index) const;
    /// Whether this component matches that one path component.
    bool matches(const PathComponent &component) const {
      return matchesName(component.name) && matchesIndex(component.index);
    }
  };

  /// Parses a pattern. The error says what was expected, at which position
  /// (counted from 0) and what stands there.
  static llvm::Expected<PathPattern> parse(llvm::StringRef text);

  llvm::ArrayRef<Component> getComponents() const { return components; }

  /// The pattern of a nested node: this one, a dot, the nested one.
  PathPattern join(const PathPattern &nested) const;

  /// Whether the pattern matches the whole path.
  bool matches(llvm::ArrayRef<PathComponent> path) const;

  /// Whether the pattern matches the path or a prefix of it, that is, whether
  /// a node with this pattern selects an operation with this path.
  bool matchesPrefixOf(llvm::ArrayRef<PathComponent> path) const {
    return matchLength(path).has_value();
  }

  /// The number of leading components of `path` that the shortest match takes;
  /// none if the pattern matches no prefix of the path.
  std::optional<size_t> matchLength(llvm::ArrayRef<PathComponent> path) const;

  /// Cuts the iterations [0, count) of the repeated module at `path` (whose
  /// last component bears no index) into the longest runs that the pattern
  /// treats alike: for two iterations i and j of one run, `path[i]` and all
  /// that is below it matches exactly as `path[j]` does. The runs are in order
  /// and cover [0, count).
  llvm::SmallVector<IndexRange>
  getUniformRanges(llvm::ArrayRef<PathComponent> path, int64_t count) const;

  /// The text of the pattern; the inverse of parse.
  std::string str() const;

private:
  explicit PathPattern(llvm::SmallVector<Component, 4> components)
      : components(std::move(components)) {}

  /// Never empty.
  llvm::SmallVector<Component, 4> components;
};

} // namespace proteus

#endif // PROTEUS_SUPPORT_PATHPATTERN_H
