//===- SubAxis.h - axes and parts of axes in a tree -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Settings name axes by text: `d` is a whole axis, `d:(1)2` a part of it. This
// is the one reader and writer of that text.
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

/// The factor `size` of an axis behind a major prefix of size `prefix`.
struct SubAxis {
  int64_t prefix = 1;
  int64_t size = 1;
};

/// An axis, or a part of one, as a setting names it.
struct AxisUse {
  llvm::StringRef axis;
  std::optional<SubAxis> sub;

  /// Why `text` is no axis and no sub-axis, if it is neither.
  static std::optional<std::string> check(llvm::StringRef text);
  /// Reads `d` or `d:(1)2`; none if it is neither. The numbers are not
  /// checked.
  static std::optional<AxisUse> parse(llvm::StringRef text);
  /// Reads what has been verified.
  static AxisUse get(mlir::StringAttr text) { return *parse(text.getValue()); }
  std::string str() const;
  /// Whether both name a common part of one axis.
  bool overlaps(const AxisUse &other) const;
};

/// Calls `visit` with every axis that a setting of the tree names.
void forEachAxisUse(
    TreeOp tree,
    llvm::function_ref<void(mlir::Operation *setting, mlir::StringAttr use)>
        visit);

} // namespace proteus::strategy

#endif // PROTEUS_DIALECT_STRATEGY_SUBAXIS_H
