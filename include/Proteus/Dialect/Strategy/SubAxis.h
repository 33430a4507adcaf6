//===- SubAxis.h - axes and sub-axes in a tree ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the text by which settings name axes: `d` is a whole axis,
// `d:(1)2` a sub-axis (see `#strategy.part`). The verifiers of the dialect and
// the pass match-strategy use these functions instead of parsing the text
// themselves.
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_STRATEGY_SUBAXIS_H
#define PROTEUS_DIALECT_STRATEGY_SUBAXIS_H

#include "Proteus/Dialect/Strategy/Strategy.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <string>

namespace proteus::strategy {

/// A factor of an axis: the factor `size` that follows a major factor `prefix`.
/// In `d = 8`, `d:(2)4` has the prefix 2 and the size 4.
struct SubAxis {
  int64_t prefix = 1;
  int64_t size = 1;
};

/// A reference of a setting to an axis or sub-axis.
struct AxisUse {
  llvm::StringRef axis;
  std::optional<SubAxis> sub;

  /// Returns nullopt if `text` names an axis or a sub-axis, else an error
  /// message.
  static std::optional<std::string> check(llvm::StringRef text);
  /// Parses `d` or `d:(1)2`. Returns nullopt if `text` has another form. Does
  /// not check the ranges of the numbers.
  static std::optional<AxisUse> parse(llvm::StringRef text);
  /// Parses `text`, which must have been verified.
  static AxisUse get(mlir::StringAttr text) { return *parse(text.getValue()); }
  /// Returns the text of the axis or sub-axis: `d` or `d:(1)2`.
  std::string str() const;
  /// Returns true if both name the same axis and have a factor of it in common.
  /// For example, `d:(1)4` overlaps `d:(2)4`, but `d:(1)2` does not.
  bool overlaps(const AxisUse &other) const;
};

/// Calls `visit` for every axis or sub-axis that a setting of the tree names,
/// with this setting and the text of the name.
void forEachAxisUse(
    TreeOp tree,
    llvm::function_ref<void(mlir::Operation *setting, mlir::StringAttr use)>
        visit);

} // namespace proteus::strategy

#endif // PROTEUS_DIALECT_STRATEGY_SUBAXIS_H
