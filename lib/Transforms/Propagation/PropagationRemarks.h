//===- PropagationRemarks.h - remarks on partitions -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Remarks of propagate-strategy that explain the partitions it has found. The
// functions do not change the IR.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATIONREMARKS_H
#define PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATIONREMARKS_H

#include "Propagation.h"

namespace proteus {

/// Emits one remark per operation with its splits and their origin.
void explainPartitions(mlir::func::FuncOp function, const dist::Mesh &mesh,
                       const PropagatedPartitions &propagated);

/// Emits a remark for each operand of a forward operation that is converted
/// because it has other axes for an iterator than those that the iterator has
/// taken. The remark names the operand, and the operand or reader from which
/// the iterator has taken its axes.
void remarkConflicts(mlir::func::FuncOp function, const dist::Mesh &mesh,
                     const PropagatedPartitions &propagated);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATIONREMARKS_H
