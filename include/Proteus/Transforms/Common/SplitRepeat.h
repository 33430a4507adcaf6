//===- SplitRepeat.h - ranges of repeated layers ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transformations that cut an nn.repeat and the function arguments that it
// slices. Used by match-strategy, settle-repeats, build-training-step and
// unroll-repeats.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_SPLITREPEAT_H
#define PROTEUS_TRANSFORMS_COMMON_SPLITREPEAT_H

#include "Proteus/Dialect/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Returns the reason why `repeat` cannot be cut, or nullopt if it can. Its
/// sliced operands must be arguments of the function without another reader,
/// and it may not stack results.
std::optional<std::string> whyNotSplittable(mlir::func::FuncOp function,
                                            nn::RepeatOp repeat);

/// Cuts a splittable repeat into one repeat per range of iterations, and every
/// stacked argument that it slices likewise. `cuts` holds, in ascending order,
/// the iterations at which a new range begins, counted from the first iteration
/// of the repeat.
void splitRepeat(mlir::func::FuncOp function, nn::RepeatOp repeat,
                 llvm::ArrayRef<int64_t> cuts);

/// Gives each sliced argument without a path its default path `arg<k>`
/// explicitly, so that it keeps this name when the numbers of arguments change.
void nameSlicedArguments(mlir::func::FuncOp function);

/// Returns `path`, the path of an argument that `repeat` slices, with `indices`
/// ("3", "0:12") in place of the indices of the repeat. For example
/// `layers[*].weight` becomes `layers[3].weight`.
std::string withIndices(llvm::StringRef path, nn::RepeatOp repeat,
                        llvm::StringRef indices);

/// One part of an argument that a repeat slices: a stack of several layers, or
/// a single layer.
struct StackPiece {
  /// Number of layers in the stack; absent for a single layer, which has no
  /// leading dimension for the stack.
  std::optional<int64_t> length;
  /// Indices in the path: "0:12", "3".
  std::string indices;
};

/// Inserts one argument per element of `pieces` after each argument in
/// `stacks`, which `repeat` slices. All are inserted at once, because the cost
/// of an insertion is proportional to the number of arguments. Returns the new
/// arguments of each stack.
llvm::SmallVector<llvm::SmallVector<mlir::Value>>
insertPieces(mlir::func::FuncOp function, nn::RepeatOp repeat,
             llvm::ArrayRef<mlir::BlockArgument> stacks,
             llvm::ArrayRef<StackPiece> pieces);

/// Erases `arguments`, which must have no readers, all at once.
void eraseUnreadArguments(mlir::func::FuncOp function,
                          llvm::ArrayRef<mlir::BlockArgument> arguments);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_SPLITREPEAT_H
