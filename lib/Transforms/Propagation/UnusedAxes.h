//===- UnusedAxes.h - axes over which nothing is split ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reports axes of the mesh over which nothing is split, because all devices
// along such an axis do the same work. Used by propagate-strategy.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROPAGATION_UNUSEDAXES_H
#define PROTEUS_LIB_TRANSFORMS_PROPAGATION_UNUSEDAXES_H

#include "Propagation.h"

namespace proteus {

/// Emits an error if the strategy uses no axis of the mesh, so that all devices
/// do the same work. Otherwise emits a warning for each unused axis. Axes of
/// size 1 do not count. UnusedAxes.cpp states when an axis is used.
llvm::LogicalResult reportUnusedAxes(mlir::func::FuncOp function,
                                     const dist::Mesh &mesh,
                                     const PropagatedPartitions &propagated);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROPAGATION_UNUSEDAXES_H
