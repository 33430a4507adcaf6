//===- Interpreter.h - execution of programs on small tensors ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Execution of programs before and after the lowering, for the check-lowering
// pass. Before the lowering, a function is executed on whole tensors. After the
// lowering, the programs of a schedule are executed with one block of each
// tensor per rank, and with collectives and messages. Both executions return
// whole tensors, which can be compared.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_INTERPRETER_H
#define PROTEUS_INTERP_INTERPRETER_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Interp/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus::interp {

/// Function that returns the whole tensor of an argument of a function or of a
/// program.
using ArgumentValue = llvm::function_ref<Tensor(mlir::BlockArgument)>;

/// Random relative errors of numbers: a number x becomes x · (1 + e) with e in
/// [-`size`, `size`). A comparison of results with and without noise shows
/// their sensitivity to rounding errors.
struct Noise {
  double size = 0;
  uint64_t seed = 0;
};

/// Executes `function` and returns its results. With `noise`, every
/// floating-point number in an argument or in the result of a kernel gets a
/// random error of its own. Integers stay exact.
llvm::FailureOr<std::vector<Tensor>> interpret(mlir::func::FuncOp function,
                                               ArgumentValue arguments,
                                               Noise noise = {});

/// Executes `function`, the model itself without gradients, on dual numbers,
/// and returns its results. If `arguments` returns tensors with the derivatives
/// of the arguments in one direction, the results carry their derivatives in
/// this direction.
llvm::FailureOr<std::vector<DualTensor>>
interpretDual(mlir::func::FuncOp function,
              llvm::function_ref<DualTensor(mlir::BlockArgument)> arguments);

/// Executes the programs of `schedule` in the order of the schedule. Returns
/// the results of each program, assembled from the blocks of the ranks. Emits
/// an error if an operation cannot be executed, if replicas differ, if stages
/// wait for each other forever, if a message is not received, or if a block
/// does not have the shape that its layout requires.
llvm::FailureOr<std::vector<std::vector<Tensor>>>
interpret(dist::ScheduleOp schedule, ArgumentValue arguments);

} // namespace proteus::interp

#endif // PROTEUS_INTERP_INTERPRETER_H
