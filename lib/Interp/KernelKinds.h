//===- KernelKinds.h - evaluation by kind of operation ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that `evaluate` calls. Each function evaluates the operations of
// one kind, and returns nullopt for operations of other kinds.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_INTERP_KERNELKINDS_H
#define PROTEUS_LIB_INTERP_KERNELKINDS_H

#include "Proteus/Interp/Kernels.h"

#include <optional>

namespace proteus::interp {

using Operands = llvm::ArrayRef<OperandBlock>;
using Results = llvm::MutableArrayRef<ResultBlock>;
/// Success or failure of an evaluation; nullopt if the operation is of another
/// kind.
using Evaluated = std::optional<mlir::LogicalResult>;

/// Evaluates nn.linear, nn.matmul and their gradients.
Evaluated evaluateMatrix(mlir::Operation *op, Operands in, Results out);
/// Evaluates convolution and pooling, and their gradients.
Evaluated evaluateImage(mlir::Operation *op, Operands in, Results out);
/// Evaluates attention and ring attention (one block of keys at a time), and
/// their gradients.
Evaluated evaluateAttention(mlir::Operation *op, Operands in, Results out);
/// Evaluates embedding, layer normalisation and losses, their gradients, and
/// the operations into which cross-entropy is decomposed.
Evaluated evaluateRows(mlir::Operation *op, Operands in, Results out);
/// Evaluates element-wise operations, sums over dimensions, views,
/// concatenations and optimizer updates.
Evaluated evaluateElements(mlir::Operation *op, Operands in, Results out);
/// Evaluates nn.broadcast and nn.transpose.
Evaluated evaluateShapes(mlir::Operation *op, Operands in, Results out);
/// Evaluates rotary position embeddings and causal masks.
Evaluated evaluateSequences(mlir::Operation *op, Operands in, Results out);
/// Evaluates softmax and its gradient, and the operations into which they are
/// decomposed.
Evaluated evaluateSoftmax(mlir::Operation *op, Operands in, Results out);
/// Evaluates RMS and batch normalisation and their gradients, and the
/// operations into which batch normalisation is decomposed.
Evaluated evaluateNormalizations(mlir::Operation *op, Operands in, Results out);
/// Evaluates embedding bags and feature interaction, their gradients, and the
/// updates of embedding bags.
Evaluated evaluateRecommender(mlir::Operation *op, Operands in, Results out);
/// Evaluates the recurrent part of LSTM layers and its gradients.
Evaluated evaluateRecurrent(mlir::Operation *op, Operands in, Results out);
/// Evaluates the operations of mixtures of experts (routing, dispatch,
/// combination, products per expert) and their gradients.
Evaluated evaluateExperts(mlir::Operation *op, Operands in, Results out);
/// Evaluates the sums of squares and the overflow checks of gradients, their
/// totals, and the factor by which updates multiply gradients.
Evaluated evaluateScaling(mlir::Operation *op, Operands in, Results out);
/// Evaluates structured operations of linalg, constants and tensor.empty.
Evaluated evaluateLinalg(mlir::Operation *op, Operands in, Results out,
                         ScalarLookup scalars);

/// Returns the product of the sizes of all dimensions but the last `count`.
int64_t leadingSize(const Tensor &tensor, unsigned count = 1);

} // namespace proteus::interp

#endif // PROTEUS_LIB_INTERP_KERNELKINDS_H
