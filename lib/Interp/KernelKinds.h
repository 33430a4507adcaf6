//===- KernelKinds.h - evaluation by kind of operation ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions called by `evaluate`. Each function evaluates the operations of one
// kind and returns nullopt for other operations.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_INTERP_KERNELKINDS_H
#define PROTEUS_LIB_INTERP_KERNELKINDS_H

#include "Proteus/Interp/Kernels.h"

#include <optional>

namespace proteus::interp {

using Operands = llvm::ArrayRef<OperandBlock>;
using Results = llvm::MutableArrayRef<ResultBlock>;
/// Success or failure of an evaluation, or nullopt if the operation is of
/// another kind.
using Evaluated = std::optional<mlir::LogicalResult>;

/// Evaluates nn.linear, nn.matmul and their gradients.
Evaluated evaluateMatrix(mlir::Operation *op, Operands in, Results out);
/// Evaluates convolution and pooling, and their gradients.
Evaluated evaluateImage(mlir::Operation *op, Operands in, Results out);
/// Evaluates attention and its gradient, whole or by blocks of keys.
Evaluated evaluateAttention(mlir::Operation *op, Operands in, Results out);
/// Evaluates embedding, layer normalisation and losses, and their gradients.
Evaluated evaluateRows(mlir::Operation *op, Operands in, Results out);
/// Evaluates element-wise operations, sums, views and updates.
Evaluated evaluateElements(mlir::Operation *op, Operands in, Results out);
/// Evaluates nn.broadcast and nn.transpose.
Evaluated evaluateShapes(mlir::Operation *op, Operands in, Results out);
/// Evaluates rotary embeddings and causal masks.
Evaluated evaluateSequences(mlir::Operation *op, Operands in, Results out);
/// Evaluates softmax, its gradient and their decompositions.
Evaluated evaluateSoftmax(mlir::Operation *op, Operands in, Results out);
/// Evaluates RMS and batch normalisation, their gradients and decompositions.
Evaluated evaluateNormalizations(mlir::Operation *op, Operands in, Results out);
/// Evaluates embedding bags and feature interaction, their gradients and
/// updates.
Evaluated evaluateRecommender(mlir::Operation *op, Operands in, Results out);
/// Evaluates long short-term memory and its gradients.
Evaluated evaluateRecurrent(mlir::Operation *op, Operands in, Results out);
/// Evaluates the operations of mixtures of experts (routing, dispatch,
/// combination, grouped products) and their gradients.
Evaluated evaluateExperts(mlir::Operation *op, Operands in, Results out);
/// Evaluates norms and overflow checks of gradients, and the factor of the
/// updates.
Evaluated evaluateScaling(mlir::Operation *op, Operands in, Results out);
/// Evaluates structured operations of linalg, and constants and empty tensors.
Evaluated evaluateLinalg(mlir::Operation *op, Operands in, Results out,
                         ScalarLookup scalars);

/// Returns the product of the sizes of all dimensions but the last `count`.
int64_t leadingSize(const Tensor &tensor, unsigned count = 1);

} // namespace proteus::interp

#endif // PROTEUS_LIB_INTERP_KERNELKINDS_H
