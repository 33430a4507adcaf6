//===- SplitRepeat.h - cut repeated layers into ranges ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_SPLITREPEAT_H
#define PROTEUS_TRANSFORMS_COMMON_SPLITREPEAT_H

#include "Proteus/Dialect/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Why `repeat` can't be cut, if it can't: what it slices must be arguments of
/// the function that nothing else reads, and it may not stack results.
std::optional<std::string> whyNotSplittable(mlir::func::FuncOp function,
                                            nn::RepeatOp repeat);

/// Cuts a splittable repeat in front of the iterations `cuts` (ascending) into
/// one repeat per piece, and every stacked argument it slices likewise.
void splitRepeat(mlir::func::FuncOp function, nn::RepeatOp repeat,
                 llvm::ArrayRef<int64_t> cuts);

/// Gives arguments that repeats slice and that have no path the one they are
/// known by, their number, before numbers change.
void nameSlicedArguments(mlir::func::FuncOp function);

/// The path of what `repeat` slices with `indices` ("3", "0:12") in place of
/// the indices of the repeat: `layers[*].weight` becomes `layers[3].weight`.
std::string withIndices(llvm::StringRef path, nn::RepeatOp repeat,
                        llvm::StringRef indices);

/// One part of what a repeat slices: some layers, or a single one.
struct StackPiece {
  /// How many layers it stacks; absent if it is a single one, without a leading
  /// dimension.
  std::optional<int64_t> length;
  /// As they stand in the path: "0:12", "3".
  std::string indices;
};

/// Puts one argument per piece behind each of the arguments `stacks`, which
/// `repeat` slices. All of them are inserted at once, since each insertion
/// costs as much as the function has arguments. Returns the pieces of each
/// stack.
llvm::SmallVector<llvm::SmallVector<mlir::Value>>
insertPieces(mlir::func::FuncOp function, nn::RepeatOp repeat,
             llvm::ArrayRef<mlir::BlockArgument> stacks,
             llvm::ArrayRef<StackPiece> pieces);

/// Erases arguments that nothing reads, all at once.
void eraseUnreadArguments(mlir::func::FuncOp function,
                          llvm::ArrayRef<mlir::BlockArgument> arguments);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_SPLITREPEAT_H
