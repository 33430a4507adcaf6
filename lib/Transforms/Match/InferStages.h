//===- InferStages.h - stages that follow from the data flow ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass match-strategy: sets the stages of the operations and
// arguments for which the tree sets none.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_MATCH_INFERSTAGES_H
#define PROTEUS_LIB_TRANSFORMS_MATCH_INFERSTAGES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Completes the virtual stages of `function`, which the tree sets only for
/// some operations. Chunk c of stage s has the virtual stage c * p + s, where p
/// is the number of stages.
/// - A repeat gets the virtual stage of its body.
/// - If the tree sets only the stage of an operation, the operation gets the
///   first chunk of that stage that does not precede the producers of its
///   operands.
/// - Any other operation gets the latest virtual stage of the producers of its
///   operands, else the earliest one of its readers, else 0.
/// - An argument gets the earliest virtual stage that reads it. If several
///   stages read an input or a parameter, each stage gets an argument of its
///   own. The copies of a parameter are annotated as tied.
///
/// Sorts the operations by virtual stage. Emits an error if an operation reads
/// a value of a later stage.
llvm::LogicalResult inferStages(mlir::func::FuncOp function, int64_t numStages,
                                int64_t numChunks);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_MATCH_INFERSTAGES_H
