//===- PathPattern.h - module paths and patterns over them ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operation of a model has a path such as `layers[3].attention.qkv`. A
// node of a strategy tree selects operations by a pattern over such paths. This
// file does not depend on MLIR. The grammar is:
//
//   path      ::= path-component (`.` path-component)*
//   path-component ::= name (`[` integer `]`)?
//   pattern   ::= component (`.` component)*
//   component ::= `**` | (name | `*`) (`[` index `]`)?
//   index     ::= integer | integer `:` integer | `*`
//
// A name is any non-empty sequence of characters other than `.`, `[`, `]`, `*`,
// quotes, white space and control characters.
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

/// A concrete path. The first component is the outermost one.
using Path = llvm::SmallVector<PathComponent, 4>;

/// Parses a concrete path. The error contains the expected text, the actual
/// text and the position, counted from 0.
llvm::Expected<Path> parsePath(llvm::StringRef text);

/// Returns the text of a path. `parsePath` converts it back.
std::string toString(llvm::ArrayRef<PathComponent> path);

/// The iterations lo, lo + 1, ..., hi - 1 of a repeated module.
struct IndexRange {
  int64_t lo;
  int64_t hi;

  bool operator==(const IndexRange &other) const {
    return lo == other.lo && hi == other.hi;
  }
};

/// A pattern over paths. The settings of a node of a strategy tree hold for
/// whole subtrees of the model. A pattern therefore *selects* an operation if
/// it matches the path of the operation or a prefix of that path. For example,
/// `layers[*]` selects `layers[3].attention`.
class PathPattern {
public:
  enum class NameKind : uint8_t {
    /// `name`: one component with exactly this name.
    Name,
    /// `*`: one component of any name.
    Any,
    /// `**`: any number of components, including zero.
    AnyDepth,
  };

  enum class IndexKind : uint8_t {
    /// No index: matches a component with or without an index.
    None,
    /// `[3]`: only index 3.
    Single,
    /// `[0:12]`: indices from 0 to 11.
    Range,
    /// `[*]`: matches only a component with an index, which may be any index.
    All,
  };

  /// One component of a pattern.
  struct Component {
    NameKind nameKind = NameKind::Name;
    /// The name if nameKind is Name, otherwise empty.
    std::string name;
    IndexKind indexKind = IndexKind::None;
    /// The iterations [lo, hi) if indexKind is Single or Range, otherwise 0.
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

  /// Parses a pattern. The error contains the expected text, the actual text
  /// and the position, counted from 0.
  static llvm::Expected<PathPattern> parse(llvm::StringRef text);

  /// Returns the pattern of a nested node: this pattern, a dot, and `nested`.
  PathPattern join(const PathPattern &nested) const;

  /// Returns true if the pattern matches the whole path.
  bool matches(llvm::ArrayRef<PathComponent> path) const;

  /// Returns true if the pattern matches `path` or a prefix of it. The pattern
  /// then selects an operation with this path.
  bool matchesPrefixOf(llvm::ArrayRef<PathComponent> path) const {
    return matchLength(path).has_value();
  }

  /// Returns the number of components of the shortest prefix of `path` that the
  /// pattern matches, or nullopt if the pattern matches no prefix.
  std::optional<size_t> matchLength(llvm::ArrayRef<PathComponent> path) const;

  /// Divides the iterations [0, count) of the repeated module at `path` into
  /// the longest ranges of iterations that the pattern treats alike. The
  /// pattern treats two iterations alike if it selects the same operations in
  /// both. For example, `layers[0:4].attention` divides 12 iterations of
  /// `layers` into [0, 4) and [4, 12). The last component of `path` must have
  /// no index. The ranges are ascending and cover [0, count).
  llvm::SmallVector<IndexRange>
  getUniformRanges(llvm::ArrayRef<PathComponent> path, int64_t count) const;

  /// Returns the text of the pattern. `parse` converts it back.
  std::string str() const;

private:
  explicit PathPattern(llvm::SmallVector<Component, 4> components)
      : components(std::move(components)) {}

  /// The components of the pattern; at least one.
  llvm::SmallVector<Component, 4> components;
};

} // namespace proteus

#endif // PROTEUS_SUPPORT_PATHPATTERN_H
