//===- Layout.h - layouts of tensor types and values ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout algebra on IR: local shapes and bytes of encoded tensor types,
// and resharding between layout attributes, from the plan to the ops.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_LAYOUT_H
#define PROTEUS_DIALECT_DIST_LAYOUT_H

#include "Proteus/Dialect/Dist/Dist.h"

#include "mlir/IR/Builders.h"

namespace proteus::dist {

/// `type` with another encoding.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  LayoutAttr layout);

/// Shape held at `coordinates`, one per axis with `micro` first. A type
/// without a layout is whole everywhere.
llvm::SmallVector<int64_t> localShape(mlir::RankedTensorType type,
                                      llvm::ArrayRef<int64_t> coordinates);

/// What is held of each dimension at `coordinates`, one per axis with `micro`
/// first.
llvm::SmallVector<Ranges> localRanges(mlir::RankedTensorType type,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Shape of the first part of every dimension, which no other exceeds.
llvm::SmallVector<int64_t> largestLocalShape(mlir::RankedTensorType type);

/// Bits of one element in memory: booleans take a byte, an index 64 bits.
int64_t elementBits(mlir::Type elementType);

/// Bytes held at `coordinates`, one per axis with `micro` first.
int64_t localBytes(mlir::RankedTensorType type,
                   llvm::ArrayRef<int64_t> coordinates);

/// Bytes held by the rank that holds most.
int64_t localBytes(mlir::RankedTensorType type);

/// Whether all ranks hold the same shape.
bool isEven(mlir::RankedTensorType type);

/// Whether values of the type are still to be reduced over some axis.
bool isPartial(mlir::Type type);

/// A step of a plan and the layout after it.
struct ReshardStep {
  Step step;
  LayoutAttr result;
};

/// The cheapest steps that give a tensor of the shape and element type of
/// `type` the layout `to` instead of `from`; see the planner in
/// LayoutAlgebra.h. `reason`, if given, receives the cause of a failure.
llvm::FailureOr<llvm::SmallVector<ReshardStep>>
planReshard(LayoutAttr from, LayoutAttr to, mlir::RankedTensorType type,
            StepCost cost, std::string *reason = nullptr);

/// Builds the ops of a plan and returns the value in the last layout.
mlir::Value buildReshard(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, llvm::ArrayRef<ReshardStep> plan,
                         std::optional<Purpose> purpose = std::nullopt);

/// The names of `axes` in normal form, as collectives list them.
mlir::ArrayAttr getAxisNames(MeshAttr mesh, llvm::ArrayRef<Axis> axes);

/// The axes of those names, in their order; fails on an unknown name.
llvm::FailureOr<AxisList> getAxes(MeshAttr mesh, mlir::ArrayAttr names);

} // namespace proteus::dist

#endif // PROTEUS_DIALECT_DIST_LAYOUT_H
