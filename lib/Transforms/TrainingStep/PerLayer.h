//===- PerLayer.h - work on parameters, layer by layer ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass build-training-step: builds operations on parameters that
// belong to neither the forward nor the backward pass, such as updates.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PERLAYER_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PERLAYER_H

#include "Proteus/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace proteus {

/// Callback that builds an operation with the given path and operands.
using BuildLayer = llvm::function_ref<mlir::Operation *(
    mlir::OpBuilder &, llvm::StringRef, mlir::ValueRange)>;

/// Calls `build` to build an operation for `parameter`, such as its update. The
/// `operands` have the shape of the parameter.
///
/// If a repeat reads the parameter slice by slice, the operation is built into
/// the body of a new repeat. The new repeat runs the operation once per layer,
/// stacks its results, and is returned in place of the operation.
mlir::Operation *buildPerLayer(mlir::OpBuilder &builder, mlir::Value parameter,
                               llvm::StringRef path, mlir::ValueRange operands,
                               BuildLayer build);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PERLAYER_H
