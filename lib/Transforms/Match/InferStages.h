//===- InferStages.h - stages that follow from the data flow ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of match-strategy: the stages of the operations and arguments for which
// the tree sets none.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_MATCH_INFERSTAGES_H
#define PROTEUS_LIB_TRANSFORMS_MATCH_INFERSTAGES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Completes the virtual stages that the tree sets for some operations of
/// `function`, which has `numStages` stages of `numChunks` chunks.
/// - A repeat gets the stage of its body.
/// - An operation of which only the stage is known gets the first chunk of that
///   stage that is not earlier than the producers of its operands.
/// - Any other operation joins the latest producer of its operands, else its
///   earliest user, else stage 0.
/// - An argument gets the earliest virtual stage that reads it. If several
///   stages read an input or a parameter, each gets an argument of its own, and
///   the copies of a parameter are annotated as tied.
/// Sorts the operations by stage. Emits an error if the stages contradict the
/// data flow.
llvm::LogicalResult inferStages(mlir::func::FuncOp function, int64_t numStages,
                                int64_t numChunks);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_MATCH_INFERSTAGES_H
