//===- RepeatStacks.h - stacks of what iterations compute -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_REPEATSTACKS_H
#define PROTEUS_TRANSFORMS_COMMON_REPEATSTACKS_H

#include "Proteus/Dialect/NN/NN.h"

namespace proteus {

/// The type of a stack of `size` tensors of type `type`.
mlir::Type stackOf(mlir::Type type, int64_t size);

/// The same repeat with `values` of its body stacked as well, as its last
/// results. The body and the users of the results move to it; the old repeat is
/// left to the caller, empty.
nn::RepeatOp stackAsWell(nn::RepeatOp repeat,
                         llvm::ArrayRef<mlir::Value> values);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_REPEATSTACKS_H
