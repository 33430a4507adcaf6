//===- UnusedAxes.h - axes over which nothing is split ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds devices that a strategy gives nothing of their own to do.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROPAGATION_UNUSEDAXES_H
#define PROTEUS_LIB_TRANSFORMS_PROPAGATION_UNUSEDAXES_H

#include "Propagation.h"

namespace proteus {

/// Devices that a strategy gives nothing of their own to do are a mistake: all
/// of them, an error; those along one axis, a warning.
llvm::LogicalResult reportUnusedAxes(mlir::func::FuncOp function,
                                     const dist::Mesh &mesh,
                                     const PropagatedPartitions &propagated);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROPAGATION_UNUSEDAXES_H
