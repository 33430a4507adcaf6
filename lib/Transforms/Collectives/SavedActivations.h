//===- SavedActivations.h - layouts of saved activations --------*- C++ -*-===//
// C++
//-*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives. A repeat keeps a value for the backward pass
// once, but the backward pass may read it in several layouts. Where the forward
// pass has made such a form anyhow, and it is no larger, it is kept as it is.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_SAVEDACTIVATIONS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_SAVEDACTIVATIONS_H

#include "Proteus/Dialect/Dist/Dist.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Whether keeping a tensor in layout `form` takes no more memory than in
/// `own`.
bool isNoLarger(mlir::RankedTensorType type, dist::LayoutAttr form,
                dist::LayoutAttr own);

/// Gives the readers of a stack in backward repeats a stack of their own where
/// they read it in a layout in which the forward repeat reads the value, too,
/// and which is no larger than its own; the value is then stacked twice. One
/// reader in each layout decides for all of its stack.
void separateSavedActivations(mlir::func::FuncOp function, dist::MeshAttr mesh);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_SAVEDACTIVATIONS_H
