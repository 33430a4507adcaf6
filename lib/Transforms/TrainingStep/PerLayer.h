//===- PerLayer.h - work on parameters, layer by layer ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of build-training-step: operations on parameters outside of the forward
// and backward pass, such as updates.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PERLAYER_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PERLAYER_H

#include "Proteus/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace proteus {

/// Callback that builds an operation for a path and operands.
using BuildLayer = llvm::function_ref<mlir::Operation *(
    mlir::OpBuilder &, llvm::StringRef, mlir::ValueRange)>;

/// Builds an operation for `parameter` with `build`, from `operands` of the
/// same shape as the parameter. If a repeat reads the parameter slice by slice,
/// builds one operation per layer, as for layers that are written out. The
/// result then is a repeat whose results are stacks.
mlir::Operation *buildPerLayer(mlir::OpBuilder &builder, mlir::Value parameter,
                               llvm::StringRef path, mlir::ValueRange operands,
                               BuildLayer build);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PERLAYER_H
