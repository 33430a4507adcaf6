//===- RepeatStacks.h - stacked results of repeats --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that let a repeat stack additional values of its body. A stack
// holds the value of every iteration along a new leading dimension. Used by
// build-training-step and insert-collectives.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_REPEATSTACKS_H
#define PROTEUS_TRANSFORMS_COMMON_REPEATSTACKS_H

#include "Proteus/Dialect/NN/NN.h"

namespace proteus {

/// Returns the type of a stack of `size` tensors of type `type`: 12 tensors of
/// type `tensor<8xf32>` give `tensor<12x8xf32>`.
mlir::Type stackOf(mlir::Type type, int64_t size);

/// Replaces `repeat` by a new repeat that also stacks `values` of the body. The
/// new stacks are the last results of the new repeat. The new repeat takes over
/// the body of `repeat` and the users of the results of `repeat`. The caller
/// must erase `repeat`, which then has an empty body.
nn::RepeatOp stackAsWell(nn::RepeatOp repeat,
                         llvm::ArrayRef<mlir::Value> values);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_REPEATSTACKS_H
