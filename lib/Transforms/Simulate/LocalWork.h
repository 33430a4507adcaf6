//===- LocalWork.h - work of an operation on one rank -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that compute the work of an operation on the shards of one rank, as
// cost::Kernel, the input of the cost models. Used by the cost rules, their
// mechanisms and the workload builder.
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

/// Returns the element type in which `op` computes: `proteus.compute` if it is
/// set, else the type of the first float operand, else the type of the first
/// result.
machine::DType computeType(mlir::Operation *op);

/// Returns the part of the iteration space of `op` on the rank at
/// `coordinates`: one list of ranges per iterator. The ranges follow from the
/// shards of operands and results. `coordinates` contains the coordinate of
/// `micro`, then one per axis of the mesh.
llvm::SmallVector<nn::IteratorRanges>
heldRanges(mlir::Operation *op, const nn::IterationSpace &space,
           llvm::ArrayRef<int64_t> coordinates);

/// Returns true if the device at `coordinates` holds values of `type`. Returns
/// false if the layout of `type` restricts values to other coordinates.
bool isHeldAt(mlir::Type type, llvm::ArrayRef<int64_t> coordinates);

/// Returns the work of `op` at `coordinates`, or nullopt if it has no work
/// there.
std::optional<cost::Kernel> localWork(nn::IterationSpaceOpInterface op,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Returns the narrow type into which `op` converts its factors
/// (`proteus.compute`), or null if `op` reads them without conversion.
mlir::Type convertsInto(mlir::Operation *op);

/// Returns the widest of the types into which the readers of `value` convert
/// it, or null if a reader does not convert it.
mlir::Type narrowTypeOfReaders(mlir::Value value);

/// Returns the bits per element that an all-gather moves. If all readers of an
/// activation convert it to narrower types, the activation is converted to the
/// widest of these types before the gather.
int64_t gatheredBits(mlir::Value gathered);

/// Returns the work of all products that are issued in the same library call as
/// `op` (`proteus.pieces`). `work` is the work of `op`.
cost::Kernel workOfAllPieces(mlir::Operation *op, cost::Kernel work);
/// Returns the number of products that are issued in the same library call as
/// `op`, including `op`.
int64_t numPieces(mlir::Operation *op);

/// Returns true if a result of `op` is a running sum over micro-batches, to
/// which every micro-batch adds.
bool accumulates(mlir::Operation *op);

/// The factors that a matrix product converts into the narrow type in which it
/// computes.
struct Conversion {
  /// True if the product converts its first factor. If false, it converts
  /// neither factor.
  bool input = false;
  /// True if the product also converts its second factor.
  bool weights = false;
};

/// Returns the factors that `op` converts.
Conversion conversionOf(nn::IterationSpaceOpInterface op);

/// Returns the work of converting the factors of `op` that `conversion`
/// selects, or nullopt if it selects none.
std::optional<cost::Kernel> conversionWork(nn::IterationSpaceOpInterface op,
                                           llvm::ArrayRef<int64_t> coordinates,
                                           const Conversion &conversion);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_LOCALWORK_H
