//===- LayoutUtils.h - layouts of slices, stacks and sums -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: derives the layouts of slices, stacks and sums of
// a value from its own layout. All files of the pass use these functions.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTUTILS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTUTILS_H

#include "Proteus/Dialect/Dist/Dist.h"

namespace proteus {

/// Returns the layout of a value, or null if it has none.
dist::LayoutAttr layoutOf(mlir::Value value);

/// Gives the type of a value the encoding `layout`.
void setLayout(mlir::Value value, dist::LayoutAttr layout);

/// Returns the layout of a slice of a stack with this layout.
dist::LayoutAttr withoutLeading(dist::LayoutAttr layout);

/// Returns the layout of a stack of slices with this layout.
dist::LayoutAttr withLeading(dist::LayoutAttr layout);

/// Returns the layout without pending reductions over device axes.
dist::LayoutAttr reduced(dist::LayoutAttr layout);

/// Returns the layout without a pending sum over micro-batches.
dist::LayoutAttr accumulated(dist::LayoutAttr layout);

/// Returns the layout with sums pending over `axes` in addition.
dist::LayoutAttr withPartialSum(dist::LayoutAttr layout,
                                llvm::ArrayRef<dist::Axis> axes);

/// Returns the axes that `to` fixes at a coordinate at which `from` does not.
dist::AxisList newlyFixed(const dist::Layout &from, const dist::Layout &to);

/// Returns the number of leading dimensions of `value` that are stacks: one per
/// repeat that stacks its slices. These dimensions are never sharded.
unsigned countStacks(mlir::Value value);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTUTILS_H
