//===- SubAxis.h - axes and sub-axes in a tree ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the names of axes in settings. The name `d` is a whole axis,
// and `d:(1)2` is a sub-axis (see `#strategy.part`). The verifiers of the
// dialect and the pass match-strategy use these functions.
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_STRATEGY_SUBAXIS_H
#define PROTEUS_DIALECT_STRATEGY_SUBAXIS_H

#include "Proteus/Dialect/Strategy/Strategy.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <string>

namespace proteus::strategy {

/// A sub-axis, which is one factor of the size of an axis. `size` is the
/// factor, and `prefix` is the product of all factors that are more major. For
/// example, the axis `d = 8` is the product of `d:(1)2` (the half of the
/// devices) and `d:(2)4` (the index within the half).
struct SubAxis {
  int64_t prefix = 1;
  int64_t size = 1;
};

/// The axis or, if `sub` is set, the sub-axis that a setting names.
struct AxisUse {
  llvm::StringRef axis;
  std::optional<SubAxis> sub;

  /// Returns nullopt if `text` is a valid name of an axis or sub-axis.
  /// Otherwise returns an error message.
  static std::optional<std::string> check(llvm::StringRef text);
  /// Parses a name such as `d` or `d:(1)2`. Returns nullopt if the syntax of
  /// `text` is wrong. Does not check the ranges of the numbers.
  static std::optional<AxisUse> parse(llvm::StringRef text);
  /// Parses `text`, which must be a name that the verifier has accepted.
  static AxisUse get(mlir::StringAttr text) { return *parse(text.getValue()); }
  /// Returns the text of the axis or sub-axis: `d` or `d:(1)2`.
  std::string str() const;
  /// Returns true if this use and `other` name the same axis and share a factor
  /// of its size. For example, `d:(2)4` and `d:(1)4` overlap, and so do
  /// `d:(2)4` and `d`. But `d:(2)4` and `d:(1)2` do not overlap.
  bool overlaps(const AxisUse &other) const;
};

/// Calls `visit` for each name of an axis or sub-axis in the settings of the
/// tree. `setting` is the operation of the setting, and `use` is the name.
void forEachAxisUse(
    TreeOp tree,
    llvm::function_ref<void(mlir::Operation *setting, mlir::StringAttr use)>
        visit);

} // namespace proteus::strategy

#endif // PROTEUS_DIALECT_STRATEGY_SUBAXIS_H
