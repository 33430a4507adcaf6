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

/// Bits of an element on its way: where nothing but products that convert it
/// reads an activation that is gathered, it is converted first; so is a
/// parameter where `convertsParameters`.
int64_t gatheredBits(dist::AllGatherOp gather, bool convertsParameters);

/// The work of all products that the library is asked for at once, of which
/// `op` is one of `proteus.pieces`; `work` is that of `op`.
cost::Kernel workOfAllPieces(mlir::Operation *op, cost::Kernel work);
/// How many they are.
int64_t numPieces(mlir::Operation *op);

/// Whether a result of `op` is the sum over micro-batches so far, to which each
/// adds its own.
bool accumulates(mlir::Operation *op);

/// The conversion of factors into the type that `op` computes in, ahead of
/// `op`; none if it takes its operands as they are, or finds them converted:
/// weights that `stack` keeps so, the input of linears that are one.
std::optional<cost::Kernel> conversionWork(nn::IterationSpaceOpInterface op,
                                           llvm::ArrayRef<int64_t> coordinates,
                                           const machine::Stack &stack);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_LOCALWORK_H
