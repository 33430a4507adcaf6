//===- PartitionDiagnostics.h - faults of partitions ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What no operation and no tensor can be split into, whoever asks for it.
// Propagation keeps within these rules; what the tree sets may break them.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROPAGATION_PARTITIONDIAGNOSTICS_H
#define PROTEUS_LIB_TRANSFORMS_PROPAGATION_PARTITIONDIAGNOSTICS_H

#include "Proteus/Transforms/Common/Partitioning.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace proteus {

/// Whether `iterator`, which is whole in `part`, can be split over `axes`
/// beside what is split already.
bool maySplit(mlir::Operation *op, const Partitioning &part, unsigned iterator,
              const dist::AxisList &axes, const dist::Mesh &mesh);

/// What is wrong with a partition, as the user is told; empty if nothing is.
std::string findFault(mlir::Operation *op, const Partitioning &part,
                      const dist::Mesh &mesh);

/// Checks a layout that the tree sets for a parameter of `function` or what
/// belongs to it.
llvm::LogicalResult checkStorage(mlir::func::FuncOp function,
                                 mlir::BlockArgument argument,
                                 const DimAxes &dims, const dist::Mesh &mesh);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROPAGATION_PARTITIONDIAGNOSTICS_H
