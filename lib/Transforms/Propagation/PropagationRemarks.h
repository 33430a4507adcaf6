//===- PropagationRemarks.h - remarks on partitions -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Remarks of propagate-strategy. They explain the result and do not change the
// function.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATIONREMARKS_H
#define PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATIONREMARKS_H

#include "Propagation.h"

namespace proteus {

/// Emits one remark per operation with its splits and their origin.
void explainPartitions(mlir::func::FuncOp function, const dist::Mesh &mesh,
                       const PropagatedPartitions &propagated);

/// Emits a remark if two operands of an operation have different axes for an
/// iterator. The remark names the operand that the iterator follows and the
/// operand that is converted.
void remarkConflicts(mlir::func::FuncOp function, const dist::Mesh &mesh,
                     const PropagatedPartitions &propagated);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATIONREMARKS_H
