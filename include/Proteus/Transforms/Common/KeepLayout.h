//===- KeepLayout.h - values kept in a layout of their own ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_KEEPLAYOUT_H
#define PROTEUS_TRANSFORMS_COMMON_KEEPLAYOUT_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/Strategy.h"

#include "mlir/IR/Builders.h"

namespace proteus {

/// The parts of `parts` that are about a dimension of a tensor indexed by
/// `dims`, as a partition by dimension. Keys that say nothing about the tensor
/// are left out.
strategy::PartitionAttr partitionByDimension(
    mlir::MLIRContext *context, llvm::ArrayRef<strategy::PartAttr> parts,
    const nn::IterationSpace &space, const nn::TensorIterators &dims);

/// Whether `part` is about dimension `dim` of a tensor indexed by `dims`.
bool isAbout(strategy::PartAttr part, const nn::IterationSpace &space,
             const nn::TensorIterators &dims, unsigned dim);

/// Keeps `value`, which belongs to `owner`, in the layout that `byDimension`
/// sets. The new operation stands where `builder` is, on the stage of `owner`.
nn::KeepOp buildKeep(mlir::OpBuilder &builder, mlir::Operation *owner,
                     mlir::Value value, strategy::PartitionAttr byDimension);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_KEEPLAYOUT_H
