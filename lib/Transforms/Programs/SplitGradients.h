//===- SplitGradients.h - gradients that others wait for --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts the backward pass of a stage in two, for schedules that run the
// gradients of parameters later. A part of split-stages.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROGRAMS_SPLITGRADIENTS_H
#define PROTEUS_LIB_TRANSFORMS_PROGRAMS_SPLITGRADIENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Gives the backward operations of a virtual stage that no other stage waits
/// for the phase `WeightGradient`. A repeat that computes both kinds becomes
/// two; what the second needs of the first is stacked. Returns whether there
/// are operations of both kinds; if not, nothing is changed.
bool splitBackward(mlir::func::FuncOp function, int64_t stage);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROGRAMS_SPLITGRADIENTS_H
