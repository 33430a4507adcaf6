//===- KernelKinds.h - the evaluations by kind of operation -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function evaluates the operations of one kind and returns no value for
// others.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_INTERP_KERNELKINDS_H
#define PROTEUS_LIB_INTERP_KERNELKINDS_H

#include "Proteus/Interp/Kernels.h"

#include <optional>

namespace proteus::interp {

using Operands = llvm::ArrayRef<OperandBlock>;
using Results = llvm::MutableArrayRef<ResultBlock>;
/// Whether an operation was evaluated; none if it is of another kind.
using Evaluated = std::optional<mlir::LogicalResult>;

/// Products: linear, matmul, and their gradients.
Evaluated evaluateMatrix(mlir::Operation *op, Operands in, Results out);
/// Convolution and pooling, and their gradients.
Evaluated evaluateImage(mlir::Operation *op, Operands in, Results out);
/// Attention and its gradient.
Evaluated evaluateAttention(mlir::Operation *op, Operands in, Results out);
/// Embedding, normalisation, losses, and their gradients.
Evaluated evaluateRows(mlir::Operation *op, Operands in, Results out);
/// Element-wise operations, sums, views and updates.
Evaluated evaluateElements(mlir::Operation *op, Operands in, Results out);
/// Repetition and transposition.
Evaluated evaluateShapes(mlir::Operation *op, Operands in, Results out);
/// Rotary embedding and causal masks.
Evaluated evaluateSequences(mlir::Operation *op, Operands in, Results out);
/// Softmax, its gradient and its pieces.
Evaluated evaluateSoftmax(mlir::Operation *op, Operands in, Results out);
/// RMS and batch normalisation, their gradients and pieces.
Evaluated evaluateNormalizations(mlir::Operation *op, Operands in, Results out);
/// Bags of table rows and feature interaction, and their gradients.
Evaluated evaluateRecommender(mlir::Operation *op, Operands in, Results out);
/// Long short-term memory and its gradients.
Evaluated evaluateRecurrent(mlir::Operation *op, Operands in, Results out);
/// Mixture of experts: routing, dispatch, grouped products, and their
/// gradients.
Evaluated evaluateExperts(mlir::Operation *op, Operands in, Results out);
/// Norms and checks of gradients, and the factor that follows from them.
Evaluated evaluateScaling(mlir::Operation *op, Operands in, Results out);
/// Structured operations and what they start from.
Evaluated evaluateLinalg(mlir::Operation *op, Operands in, Results out,
                         ScalarLookup scalars);

/// Product of all dimensions but the last `count`.
int64_t leadingSize(const Tensor &tensor, unsigned count = 1);

} // namespace proteus::interp

#endif // PROTEUS_LIB_INTERP_KERNELKINDS_H
