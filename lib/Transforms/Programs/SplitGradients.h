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

/// Gives the phase `WeightGradient` to the backward operations of a virtual
/// stage for which no other stage waits. A repeat that also computes gradients
/// for other stages is cut into two repeats, and values of the first that the
/// second reads are stacked. Returns true if there are operations of both
/// kinds. Otherwise returns false and changes no phase.
bool splitBackward(mlir::func::FuncOp function, int64_t stage);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROGRAMS_SPLITGRADIENTS_H
