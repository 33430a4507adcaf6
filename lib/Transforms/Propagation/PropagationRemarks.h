//===- PropagationRemarks.h - why operations are split ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What propagation tells the user besides errors: remarks, which change
// nothing.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATIONREMARKS_H
#define PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATIONREMARKS_H

#include "Propagation.h"

namespace proteus {

/// Says by one remark per operation how it is split and why.
void explainPartitions(mlir::func::FuncOp function, const dist::Mesh &mesh,
                       const PropagatedPartitions &propagated);

/// Says by remarks where operands of an operation disagree and which one it
/// follows.
void remarkConflicts(mlir::func::FuncOp function, const dist::Mesh &mesh,
                     const PropagatedPartitions &propagated);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROPAGATION_PROPAGATIONREMARKS_H
