//===- KeepLayout.h - values kept in a layout of their own ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Construction of nn.keep, which keeps a value in a layout other than that of
// its producer or reader. Used by match-strategy and build-training-step.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_KEEPLAYOUT_H
#define PROTEUS_TRANSFORMS_COMMON_KEEPLAYOUT_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/Strategy.h"

#include "mlir/IR/Builders.h"

namespace proteus {

/// Returns the entries of `parts` that concern a dimension of a tensor, with
/// the dimension as key. `dims` holds the iterators of `space` that index the
/// tensor. Entries that concern no dimension of the tensor are left out.
strategy::PartitionAttr partitionByDimension(
    mlir::MLIRContext *context, llvm::ArrayRef<strategy::PartAttr> parts,
    const nn::IterationSpace &space, const nn::TensorIterators &dims);

/// Returns true if `part` sets the axes of dimension `dim` of a tensor indexed
/// by `dims`: its key is the number of the dimension or the name of its major
/// iterator.
bool isAbout(strategy::PartAttr part, const nn::IterationSpace &space,
             const nn::TensorIterators &dims, unsigned dim);

/// Builds an nn.keep that keeps `value`, an operand or result of `owner`, in
/// the layout `byDimension`. The operation is inserted at `builder` and has the
/// stage of `owner`.
nn::KeepOp buildKeep(mlir::OpBuilder &builder, mlir::Operation *owner,
                     mlir::Value value, strategy::PartitionAttr byDimension);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_KEEPLAYOUT_H
