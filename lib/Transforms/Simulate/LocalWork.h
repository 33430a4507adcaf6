//===- LocalWork.h - what one rank computes ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_LOCALWORK_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_LOCALWORK_H

#include "Proteus/Cost/CostModel.h"
#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Machine/Stack.h"

namespace proteus {

/// Element type in which `op` computes: what it says (`proteus.compute`), else
/// that of its first float operand.
machine::DType computeType(mlir::Operation *op);

/// What the rank at `coordinates` (one per axis, with `micro` first) holds of
/// the iterators of `op`, read off the dimensions they index.
llvm::SmallVector<nn::IteratorRanges>
heldRanges(mlir::Operation *op, const nn::IterationSpace &space,
           llvm::ArrayRef<int64_t> coordinates);

/// Whether a value of that type exists at `coordinates`.
bool isHeldAt(mlir::Type type, llvm::ArrayRef<int64_t> coordinates);

/// The work of `op` at `coordinates`; none where there is nothing to do.
std::optional<cost::Kernel> localWork(nn::IterationSpaceOpInterface op,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Returns the type into which `op` converts its factors; null if it takes them
/// as they are.
mlir::Type convertsInto(mlir::Operation *op);

/// Returns the widest type into which the readers of `value` convert it; null
/// if one of them does not convert it.
mlir::Type narrowTypeOfReaders(mlir::Value value);

/// Returns the bits per element that an all-gather moves: an activation that
/// only products with conversion read is converted before it is gathered.
int64_t gatheredBits(dist::AllGatherOp gather);

/// The work of all products that the library is asked for at once, of which
/// `op` is one of `proteus.pieces`; `work` is that of `op`.
cost::Kernel workOfAllPieces(mlir::Operation *op, cost::Kernel work);
/// How many they are.
int64_t numPieces(mlir::Operation *op);

/// Whether a result of `op` is the sum over micro-batches so far, to which each
/// adds its own.
bool accumulates(mlir::Operation *op);

/// Factors that a product converts into the type in which it computes.
struct Conversion {
  /// True if it converts its first factor; without it no kernel converts.
  bool input = false;
  /// True if it converts its second factor, too.
  bool weights = false;
};

/// Returns the factors that `op` converts.
Conversion conversionOf(nn::IterationSpaceOpInterface op);

/// Returns the kernel that converts factors of `op` before it runs, or nullopt
/// if there is none.
std::optional<cost::Kernel> conversionWork(nn::IterationSpaceOpInterface op,
                                           llvm::ArrayRef<int64_t> coordinates,
                                           const Conversion &conversion);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_LOCALWORK_H
