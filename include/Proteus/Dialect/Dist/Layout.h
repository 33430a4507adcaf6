//===- Layout.h - layouts of tensor types and values ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Applies the layout algebra (LayoutAlgebra.h) to IR: computes the shapes and
// bytes of the shards of a tensor type, plans the steps from one layout
// attribute to another, and builds the operations of such a plan.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_LAYOUT_H
#define PROTEUS_DIALECT_DIST_LAYOUT_H

#include "Proteus/Dialect/Dist/Dist.h"

#include "mlir/IR/Builders.h"

namespace proteus::dist {

/// Returns `type` with `layout` as its encoding.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  LayoutAttr layout);

/// Returns the shape of the shard at `coordinates`, which has one entry per
/// axis, `micro` first. A tensor without a layout is whole on every device.
llvm::SmallVector<int64_t> localShape(mlir::RankedTensorType type,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Returns for each dimension the ranges of indices that belong to the shard at
/// `coordinates`, which has one entry per axis, `micro` first.
llvm::SmallVector<Ranges> localRanges(mlir::RankedTensorType type,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Returns the shape of the largest shard, which holds the first part of every
/// dimension.
llvm::SmallVector<int64_t> largestLocalShape(mlir::RankedTensorType type);

/// Returns the type of `value`, which must be a ranked tensor.
inline mlir::RankedTensorType tensorTypeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Returns the number of bits of one element in memory. A boolean takes 8 bits,
/// an index 64.
int64_t elementBits(mlir::Type elementType);

/// Returns the bytes of the shard at `coordinates`, which has one entry per
/// axis, `micro` first.
int64_t localBytes(mlir::RankedTensorType type,
                   llvm::ArrayRef<int64_t> coordinates);

/// Returns the bytes of the largest shard.
int64_t localBytes(mlir::RankedTensorType type);

/// Returns the bytes of the buffer in which parts are collected, or from which
/// they are cut: the largest block of `whole`, or, if the layout of `part` has
/// axes in its flat cut that `whole` does not have, all parts with their
/// padding.
int64_t bufferBytes(mlir::RankedTensorType whole, mlir::RankedTensorType part);

/// Returns true if the shards of all ranks have the same shape.
bool isEven(mlir::RankedTensorType type);

/// Returns true if the layout of the type is partial, that is, if a reduction
/// over some axis is pending.
bool isPartial(mlir::Type type);

/// A step of a plan, and the layout after this step.
struct ReshardStep {
  Step step;
  LayoutAttr result;
};

/// Returns the cheapest steps that change the layout of a tensor from `from` to
/// `to`. The tensor has the shape and element type of `type`, and `cost`
/// returns the cost of a step. On failure, the function stores the cause in
/// `*reason` if `reason` is not null. `planReshard` in LayoutAlgebra.h
/// describes the search.
llvm::FailureOr<llvm::SmallVector<ReshardStep>>
planReshard(LayoutAttr from, LayoutAttr to, mlir::RankedTensorType type,
            StepCost cost, std::string *reason = nullptr);

/// Builds the operations of `plan`. The first one reads `value`. Returns the
/// result of the last one, or `value` if the plan is empty. If `purpose` is
/// given, sets it on the collectives.
mlir::Value buildReshard(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, llvm::ArrayRef<ReshardStep> plan,
                         std::optional<Purpose> purpose = std::nullopt);

/// Returns the names of `axes`, sorted in mesh order. Collectives list their
/// axes in this normal form.
mlir::ArrayAttr getAxisNames(MeshAttr mesh, llvm::ArrayRef<Axis> axes);

/// Returns the axes with the given names, in the order of the names. Fails if
/// the mesh has no axis of one of the names.
llvm::FailureOr<AxisList> getAxes(MeshAttr mesh, mlir::ArrayAttr names);

} // namespace proteus::dist

#endif // PROTEUS_DIALECT_DIST_LAYOUT_H
