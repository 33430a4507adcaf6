//===- PerLayer.h - work on parameters, layer by layer ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PERLAYER_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PERLAYER_H

#include "Proteus/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace proteus {

/// Builds an operation at a builder, for a path and operands.
using BuildLayer = llvm::function_ref<mlir::Operation *(
    mlir::OpBuilder &, llvm::StringRef, mlir::ValueRange)>;

/// Builds with `build` what is done once to a parameter, which the forward pass
/// knows as `parameter`, out of `operands` of its shape. Layers that a repeat
/// reads slice by slice are worked on one by one, as they would be if written
/// out; then the result is a repeat whose results are stacks.
mlir::Operation *buildPerLayer(mlir::OpBuilder &builder, mlir::Value parameter,
                               llvm::StringRef path, mlir::ValueRange operands,
                               BuildLayer build);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PERLAYER_H
