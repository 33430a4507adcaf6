//===- SavedActivations.h - layouts of saved activations --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives. A repeat saves a value for the backward pass as
// one stack, but the backward pass may read the value in several layouts. If
// the forward pass also produces the value in one of these layouts, and this
// layout is no larger than that of the stack, the value is saved in this layout
// too.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_SAVEDACTIVATIONS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_SAVEDACTIVATIONS_H

#include "Proteus/Dialect/Dist/Dist.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Returns true if a tensor of type `type` takes no more memory in layout
/// `form` than in layout `own`.
bool isNoLarger(mlir::RankedTensorType type, dist::LayoutAttr form,
                dist::LayoutAttr own);

/// Adds stacks for saved values that backward repeats read in several layouts.
/// A layout gets its own stack if the forward repeat also reads the value in
/// this layout, and if the layout is no larger than the one in which the value
/// is produced. The backward readers of this layout then read the new stack.
/// Without it, the first reader would determine the layout for all readers.
/// Must run before the operations get layouts.
void separateSavedActivations(mlir::func::FuncOp function, dist::MeshAttr mesh);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_SAVEDACTIVATIONS_H
