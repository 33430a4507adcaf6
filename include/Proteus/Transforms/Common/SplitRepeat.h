//===- SplitRepeat.h - ranges of repeated layers ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that cut an nn.repeat, and the stacked function arguments that it
// slices, into several. Used by match-strategy, settle-repeats,
// build-training-step and unroll-repeats.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_SPLITREPEAT_H
#define PROTEUS_TRANSFORMS_COMMON_SPLITREPEAT_H

#include "Proteus/Dialect/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Returns the reason why `repeat` cannot be cut, or nullopt if it can. A
/// repeat can be cut if it stacks no results, and if its sliced operands are
/// function arguments that have no other reader.
std::optional<std::string> whyNotSplittable(mlir::func::FuncOp function,
                                            nn::RepeatOp repeat);

/// Cuts `repeat` into one repeat per range of iterations, and cuts the stacked
/// arguments that it slices into the same ranges. `cuts` holds, in ascending
/// order, the iterations at which a new range begins, counted from 0. For
/// example, `cuts` = {4} cuts a repeat of 12 layers into repeats of 4 and 8
/// layers. The repeat must be splittable (`whyNotSplittable`).
void splitRepeat(mlir::func::FuncOp function, nn::RepeatOp repeat,
                 llvm::ArrayRef<int64_t> cuts);

/// Gives a path to each sliced argument that has none: its default path
/// `arg<k>`. The argument then keeps this path when its number changes.
void nameSlicedArguments(mlir::func::FuncOp function);

/// Returns `path`, the path of an argument that `repeat` slices, with `indices`
/// ("3" or "0:12") as the indices of the repeat. For example,
/// `layers[*].weight` becomes `layers[3].weight`, and `weight` becomes
/// `weight[3]`.
std::string withIndices(llvm::StringRef path, nn::RepeatOp repeat,
                        llvm::StringRef indices);

/// One of the parts into which a stacked argument is cut: a smaller stack, or a
/// single layer.
struct StackPiece {
  /// Number of layers in the stack. Absent for a single layer, which has no
  /// leading dimension for layers.
  std::optional<int64_t> length;
  /// Indices in the path of the part: "0:12" for a stack, "3" for a single
  /// layer.
  std::string indices;
};

/// Inserts the parts of each argument in `stacks` directly after that argument:
/// one new argument per element of `pieces`. `repeat` must slice all arguments
/// in `stacks`. All parts are inserted at once, because one insertion takes
/// time proportional to the number of all arguments. Returns the new arguments
/// of each stack.
llvm::SmallVector<llvm::SmallVector<mlir::Value>>
insertPieces(mlir::func::FuncOp function, nn::RepeatOp repeat,
             llvm::ArrayRef<mlir::BlockArgument> stacks,
             llvm::ArrayRef<StackPiece> pieces);

/// Erases all of `arguments` at once. They must have no readers.
void eraseUnreadArguments(mlir::func::FuncOp function,
                          llvm::ArrayRef<mlir::BlockArgument> arguments);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_SPLITREPEAT_H
