//===- PartitionDiagnostics.h - faults of partitions ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules for valid partitions of operations and for the storage of tensors.
// Propagation creates only valid partitions, but the settings of a tree may be
// invalid. Used by propagate-strategy and settle-repeats.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROPAGATION_PARTITIONDIAGNOSTICS_H
#define PROTEUS_LIB_TRANSFORMS_PROPAGATION_PARTITIONDIAGNOSTICS_H

#include "Proteus/Transforms/Common/Partitioning.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace proteus {

/// Returns true if `iterator` can be split over `axes` in addition to the
/// splits in `part`. `part` must not split `iterator` already.
bool maySplit(mlir::Operation *op, const Partitioning &part, unsigned iterator,
              const dist::AxisList &axes, const dist::Mesh &mesh);

/// Returns the error message for `part`, a partition of `op`, or an empty
/// string if it is valid.
std::string findFault(mlir::Operation *op, const Partitioning &part,
                      const dist::Mesh &mesh);

/// Checks the storage layout that the tree sets for a parameter, its gradient
/// or its state. `dims` holds the axes of each dimension. Emits an error if an
/// axis splits two dimensions, or a dimension has fewer elements than parts.
llvm::LogicalResult checkStorage(mlir::func::FuncOp function,
                                 mlir::BlockArgument argument,
                                 const DimAxes &dims, const dist::Mesh &mesh);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROPAGATION_PARTITIONDIAGNOSTICS_H
