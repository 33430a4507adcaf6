//===- Layout.h - layouts of tensor types and values ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout algebra applied to IR: local shapes and bytes of tensor types with
// a layout, plans of steps between layout attributes, and the operations of
// such a plan.
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

/// Returns the shape of the shard at `coordinates`, one per axis with `micro`
/// first. A type without a layout is whole on every device.
llvm::SmallVector<int64_t> localShape(mlir::RankedTensorType type,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Returns, per dimension, the ranges of indices of the shard at `coordinates`,
/// one per axis with `micro` first.
llvm::SmallVector<Ranges> localRanges(mlir::RankedTensorType type,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Returns the shape of the first part of every dimension; no other part is
/// larger.
llvm::SmallVector<int64_t> largestLocalShape(mlir::RankedTensorType type);

/// Returns the type of a tensor.
inline mlir::RankedTensorType tensorTypeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Returns the bits of one element in memory: 8 for a boolean, 64 for an index.
int64_t elementBits(mlir::Type elementType);

/// Returns the bytes of the shard at `coordinates`, one per axis with `micro`
/// first.
int64_t localBytes(mlir::RankedTensorType type,
                   llvm::ArrayRef<int64_t> coordinates);

/// Returns the bytes of the largest shard.
int64_t localBytes(mlir::RankedTensorType type);

/// Returns true if the shards of all ranks have the same shape.
bool isEven(mlir::RankedTensorType type);

/// Returns true if a reduction over some axis is pending for values of the
/// type.
bool isPartial(mlir::Type type);

/// A step of a plan, with the layout after it.
struct ReshardStep {
  Step step;
  LayoutAttr result;
};

/// Returns the cheapest steps that change the layout of a tensor from `from` to
/// `to`; see the planner in LayoutAlgebra.h. The tensor has the shape and
/// element type of `type`. On failure, `reason` receives the cause unless it is
/// null.
llvm::FailureOr<llvm::SmallVector<ReshardStep>>
planReshard(LayoutAttr from, LayoutAttr to, mlir::RankedTensorType type,
            StepCost cost, std::string *reason = nullptr);

/// Builds the operations of a plan, annotated with `purpose`, and returns the
/// value in the last layout.
mlir::Value buildReshard(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, llvm::ArrayRef<ReshardStep> plan,
                         std::optional<Purpose> purpose = std::nullopt);

/// Returns the names of `axes` in normal form (mesh order), as collectives list
/// them.
mlir::ArrayAttr getAxisNames(MeshAttr mesh, llvm::ArrayRef<Axis> axes);

/// Returns the axes with these names, in their order. Fails if a name is
/// unknown.
llvm::FailureOr<AxisList> getAxes(MeshAttr mesh, mlir::ArrayAttr names);

} // namespace proteus::dist

#endif // PROTEUS_DIALECT_DIST_LAYOUT_H
