//===- ProgramUtils.h - layers and readers in programs ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROGRAMS_PROGRAMUTILS_H
#define PROTEUS_LIB_TRANSFORMS_PROGRAMS_PROGRAMUTILS_H

#include "mlir/IR/Operation.h"

#include <string>

namespace proteus {

/// Returns the layer to which a path belongs: `layers[3]` for
/// `layers[3].mlp.fc1`. Returns an empty text for a path without an index.
std::string layerOf(llvm::StringRef path);

/// Returns the first operation of the block of `op` that reads a result of
/// `op`, by itself or by an operation in its body. Returns null if there is
/// none.
mlir::Operation *firstReader(mlir::Operation *op);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROGRAMS_PROGRAMUTILS_H
