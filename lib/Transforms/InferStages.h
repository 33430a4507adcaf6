//===- InferStages.h - stages that follow from the data flow ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_INFERSTAGES_H
#define PROTEUS_LIB_TRANSFORMS_INFERSTAGES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Completes the pipeline stages that the tree has set on some operations.
/// Operations without a stage join the producers of their operands, else their
/// first user; a repeat is where its body is; parameters are where they are
/// used.
/// Inputs that several stages read are duplicated. Emits an error where stages
/// contradict the data flow.
llvm::LogicalResult inferStages(mlir::func::FuncOp function);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_INFERSTAGES_H
