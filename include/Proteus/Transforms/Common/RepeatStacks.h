//===- RepeatStacks.h - stacked results of repeats --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Repeats that stack additional values of their bodies. Used by
// build-training-step and insert-collectives.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_REPEATSTACKS_H
#define PROTEUS_TRANSFORMS_COMMON_REPEATSTACKS_H

#include "Proteus/Dialect/NN/NN.h"

namespace proteus {

/// Returns the type of a stack of `size` tensors of type `type`.
mlir::Type stackOf(mlir::Type type, int64_t size);

/// Replaces `repeat` by a repeat that also stacks `values` of its body, as
/// additional last results. The new repeat takes over the body and the users.
/// The caller must erase the old repeat, whose body is then empty.
nn::RepeatOp stackAsWell(nn::RepeatOp repeat,
                         llvm::ArrayRef<mlir::Value> values);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_REPEATSTACKS_H
