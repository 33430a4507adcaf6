//===- SavedActivations.h - layouts of saved activations --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives. A repeat saves a value for the backward pass
// once, but the backward pass may read the value in several layouts. If the
// forward pass produces such a layout as well, and it is no larger, it is saved
// in addition. LayoutInserter calls these functions before it visits the
// operations.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_SAVEDACTIVATIONS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_SAVEDACTIVATIONS_H

#include "Proteus/Dialect/Dist/Dist.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Returns true if a tensor in layout `form` takes no more memory than in
/// `own`.
bool isNoLarger(mlir::RankedTensorType type, dist::LayoutAttr form,
                dist::LayoutAttr own);

/// Gives readers of a stack in backward repeats a stack of their own if they
/// read the value in a layout in which the forward repeat reads it as well, and
/// which is no larger than the layout of the value. The value is then stacked
/// twice. Without this, the first reader of a stack would determine the layout
/// for all its readers.
void separateSavedActivations(mlir::func::FuncOp function, dist::MeshAttr mesh);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_SAVEDACTIVATIONS_H
