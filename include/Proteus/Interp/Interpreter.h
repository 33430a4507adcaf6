//===- Interpreter.h - programs executed on small tensors -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of programs before and after the lowering. A function is executed
// on whole tensors; a schedule of programs on one block per rank, with
// collectives and messages that move them. Both give whole tensors back, so
// that they can be compared.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_INTERPRETER_H
#define PROTEUS_INTERP_INTERPRETER_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Interp/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus::interp {

/// The whole tensor that an argument of a function or program holds.
using ArgumentValue = llvm::function_ref<Tensor(mlir::BlockArgument)>;

/// Random errors of all numbers: `value * (1 + e)`, `e` up to `size`.
/// Executions with and without them show how far results depend on the last
/// digits of what they are computed from.
struct Noise {
  double size = 0;
  uint64_t seed = 0;
};

/// Executes `function` and returns its results. With `noise`, every
/// floating-point number that it takes or that an operation computes has an
/// error of its own; integers have none.
llvm::FailureOr<std::vector<Tensor>> interpret(mlir::func::FuncOp function,
                                               ArgumentValue arguments,
                                               Noise noise = {});

/// Executes the programs of `schedule` in its order and returns the results of
/// each, put together from what the ranks hold. Replicas that differ, stages
/// that wait for each other, and layouts that do not fit the data are
/// diagnosed.
llvm::FailureOr<std::vector<std::vector<Tensor>>>
interpret(dist::ScheduleOp schedule, ArgumentValue arguments);

} // namespace proteus::interp

#endif // PROTEUS_INTERP_INTERPRETER_H
