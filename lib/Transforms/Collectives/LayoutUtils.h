//===- LayoutUtils.h - layouts of slices, stacks and sums -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: the layouts of slices, stacks and sums of a value
// whose layout is known.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTUTILS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTUTILS_H

#include "Proteus/Dialect/Dist/Dist.h"

namespace proteus {

mlir::RankedTensorType tensorType(mlir::Value value);

dist::LayoutAttr layoutOf(mlir::Value value);

void setLayout(mlir::Value value, dist::LayoutAttr layout);

/// The layout of a slice of a stacked tensor.
dist::LayoutAttr withoutLeading(dist::LayoutAttr layout);

/// The layout of a stack of slices.
dist::LayoutAttr withLeading(dist::LayoutAttr layout);

/// The layout without pending reductions over device axes.
dist::LayoutAttr reduced(dist::LayoutAttr layout);

/// The layout without the pending sum over micro-batches.
dist::LayoutAttr accumulated(dist::LayoutAttr layout);

/// The layout with sums pending over `axes`, too.
dist::LayoutAttr withPartialSum(dist::LayoutAttr layout,
                                llvm::ArrayRef<dist::Axis> axes);

/// The axes at a coordinate of which `to` is, but `from` is not.
dist::AxisList newlyFixed(const dist::Layout &from, const dist::Layout &to);

/// How many leading dimensions of `value` are those of stacks, which stay
/// whole: one per repeat that it collects the slices of.
unsigned countStacks(mlir::Value value);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_LAYOUTUTILS_H
