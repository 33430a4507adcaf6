//===- SubAxis.h - axes and sub-axes in a tree ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Settings name axes by text: `d` is a whole axis, `d:(1)2` a sub-axis. The
// functions here are the only ones that read and write this text. The verifiers
// of the dialect and match-strategy use them.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_STRATEGY_SUBAXIS_H
#define PROTEUS_DIALECT_STRATEGY_SUBAXIS_H

#include "Proteus/Dialect/Strategy/Strategy.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <string>

namespace proteus::strategy {

/// The factor `size` of an axis that follows a major prefix of size `prefix`.
struct SubAxis {
  int64_t prefix = 1;
  int64_t size = 1;
};

/// An axis or sub-axis that a setting names.
struct AxisUse {
  llvm::StringRef axis;
  std::optional<SubAxis> sub;

  /// Returns why `text` names neither an axis nor a sub-axis, or nullopt if it
  /// names one.
  static std::optional<std::string> check(llvm::StringRef text);
  /// Parses `d` or `d:(1)2`. Returns nullopt if `text` has neither form. Does
  /// not check the numbers.
  static std::optional<AxisUse> parse(llvm::StringRef text);
  /// Parses text that has been verified.
  static AxisUse get(mlir::StringAttr text) { return *parse(text.getValue()); }
  /// Returns the text, `d` or `d:(1)2`.
  std::string str() const;
  /// Returns true if both are uses of one axis and have a factor of it in
  /// common.
  bool overlaps(const AxisUse &other) const;
};

/// Calls `visit` with every axis or sub-axis that a setting of the tree names.
void forEachAxisUse(
    TreeOp tree,
    llvm::function_ref<void(mlir::Operation *setting, mlir::StringAttr use)>
        visit);

} // namespace proteus::strategy

#endif // PROTEUS_DIALECT_STRATEGY_SUBAXIS_H
