//===- KeepLayout.h - values kept in a layout of their own ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that build nn.keep, an identity operation with a partition of its
// own. It keeps a value in another layout than that of its producer or reader,
// for example until the backward pass. Used by match-strategy and
// build-training-step.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_KEEPLAYOUT_H
#define PROTEUS_TRANSFORMS_COMMON_KEEPLAYOUT_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/Strategy.h"

#include "mlir/IR/Builders.h"

namespace proteus {

/// Translates `parts`, which set the axes of iterators or dimensions, into
/// entries for the dimensions of one tensor. For example, `out -> tp` becomes
/// `1 -> tp` if `out` is the major iterator of dimension 1. `dims` holds the
/// iterators of `space` that index the tensor. Entries of `parts` that apply to
/// no dimension of the tensor are left out.
strategy::PartitionAttr partitionByDimension(
    mlir::MLIRContext *context, llvm::ArrayRef<strategy::PartAttr> parts,
    const nn::IterationSpace &space, const nn::TensorIterators &dims);

/// Returns true if `part` sets the axes of dimension `dim` of a tensor. It does
/// if the key of `part` is the number `dim` or the name of the major iterator
/// of dimension `dim`. `dims` holds the iterators of `space` that index the
/// tensor.
bool isAbout(strategy::PartAttr part, const nn::IterationSpace &space,
             const nn::TensorIterators &dims, unsigned dim);

/// Builds an nn.keep for `value`, an operand or result of `owner`.
/// `byDimension` sets the axes of each dimension of the kept value. The
/// operation is inserted at the insertion point of `builder` and gets the stage
/// of `owner`.
nn::KeepOp buildKeep(mlir::OpBuilder &builder, mlir::Operation *owner,
                     mlir::Value value, strategy::PartitionAttr byDimension);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_KEEPLAYOUT_H
