//===- LayoutUtils.h - layouts of slices, stacks and sums -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: functions that read and set the layout of a
// value, and derive from one layout those of slices, stacks and sums.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTUTILS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTUTILS_H

#include "Proteus/Dialect/Dist/Dist.h"

namespace proteus {

/// Returns the layout of a value, or null if it has none.
dist::LayoutAttr layoutOf(mlir::Value value);

/// Sets the layout in the type of `value`.
void setLayout(mlir::Value value, dist::LayoutAttr layout);

/// Returns `layout` without its leading dimension. If `layout` is that of a
/// stack, the result is that of a slice.
dist::LayoutAttr withoutLeading(dist::LayoutAttr layout);

/// Returns `layout` with a new leading dimension, which is not sharded. If
/// `layout` is that of a slice, the result is that of a stack.
dist::LayoutAttr withLeading(dist::LayoutAttr layout);

/// Returns `layout` without pending reductions over device axes. A pending sum
/// over micro-batches stays pending.
dist::LayoutAttr reduced(dist::LayoutAttr layout);

/// Returns `layout` without a pending sum over micro-batches.
dist::LayoutAttr accumulated(dist::LayoutAttr layout);

/// Returns `layout` with additional pending sums over `axes`.
dist::LayoutAttr withPartialSum(dist::LayoutAttr layout,
                                llvm::ArrayRef<dist::Axis> axes);

/// Returns the axes that `to` fixes at a coordinate, except those that `from`
/// fixes at the same coordinate.
dist::AxisList newlyFixed(const dist::Layout &from, const dist::Layout &to);

/// Returns the number of leading dimensions of `value` that count iterations:
/// one for each repeat that stacks the value. These dimensions are never
/// sharded.
unsigned countStacks(mlir::Value value);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTUTILS_H
