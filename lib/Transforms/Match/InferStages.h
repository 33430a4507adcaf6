//===- InferStages.h - stages that follow from the data flow ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_MATCH_INFERSTAGES_H
#define PROTEUS_LIB_TRANSFORMS_MATCH_INFERSTAGES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Completes the virtual stages that the tree has set on some operations.
/// Operations without one join the producers of their operands, else their
/// first user; a repeat is where its body is; an operation of which only the
/// stage is known is in its first chunk behind the producers of its operands.
/// Arguments are where they are used: those that several of the `numStages`
/// stages read are duplicated, and copies of a parameter marked as tied.
/// Operations are put in the order of their stages. Emits an error where stages
/// contradict the data flow.
llvm::LogicalResult inferStages(mlir::func::FuncOp function, int64_t numStages,
                                int64_t numChunks);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_MATCH_INFERSTAGES_H
