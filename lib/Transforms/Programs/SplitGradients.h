//===- SplitGradients.h - split of the backward pass ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of split-stages: cuts the backward pass of a stage in two. Schedules
// such as `zero-bubble` run the gradients for which the preceding stage waits
// first, and the gradients of parameters later.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROGRAMS_SPLITGRADIENTS_H
#define PROTEUS_LIB_TRANSFORMS_PROGRAMS_SPLITGRADIENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Gives the phase `WeightGradient` to the backward operations of virtual stage
/// `stage` that compute nothing for other stages. A repeat that computes values
/// for other stages and also other values is cut into two repeats. Values of
/// the first repeat that the second reads are stacked. Returns true if there
/// are operations of both kinds. Otherwise returns false and changes no phase.
bool splitBackward(mlir::func::FuncOp function, int64_t stage);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROGRAMS_SPLITGRADIENTS_H
