//===- KernelKinds.h - evaluation by kind of operation ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that `evaluate` calls. Each function evaluates the operations of
// one kind, and returns nullopt for operations of other kinds and for
// operations that have no kernel for numbers of type `T`.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_INTERP_KERNELKINDS_H
#define PROTEUS_LIB_INTERP_KERNELKINDS_H

#include "Proteus/Interp/Kernels.h"

#include <optional>

namespace proteus::interp {

template <typename T> using OperandsOf = llvm::ArrayRef<OperandBlockOf<T>>;
template <typename T> using ResultsOf = llvm::MutableArrayRef<ResultBlockOf<T>>;
using Operands = OperandsOf<double>;
using Results = ResultsOf<double>;
/// Success or failure of an evaluation; nullopt if the operation is of another
/// kind.
using Evaluated = std::optional<mlir::LogicalResult>;

/// Evaluates nn.linear, nn.matmul and their gradients.
template <typename T>
Evaluated evaluateMatrix(mlir::Operation *op, OperandsOf<T> in,
                         ResultsOf<T> out);
/// Evaluates convolution and pooling, and their gradients.
template <typename T>
Evaluated evaluateImage(mlir::Operation *op, OperandsOf<T> in,
                        ResultsOf<T> out);
/// Evaluates attention and ring attention (one block of keys at a time), and
/// their gradients.
template <typename T>
Evaluated evaluateAttention(mlir::Operation *op, OperandsOf<T> in,
                            ResultsOf<T> out);
/// Evaluates embedding, layer normalisation and losses, their gradients, and
/// the operations into which cross-entropy is decomposed.
template <typename T>
Evaluated evaluateRows(mlir::Operation *op, OperandsOf<T> in, ResultsOf<T> out);
/// Evaluates element-wise operations, sums over dimensions, views,
/// concatenations and optimizer updates.
template <typename T>
Evaluated evaluateElements(mlir::Operation *op, OperandsOf<T> in,
                           ResultsOf<T> out);
/// Evaluates nn.broadcast and nn.transpose.
template <typename T>
Evaluated evaluateShapes(mlir::Operation *op, OperandsOf<T> in,
                         ResultsOf<T> out);
/// Evaluates rotary position embeddings and causal masks.
template <typename T>
Evaluated evaluateSequences(mlir::Operation *op, OperandsOf<T> in,
                            ResultsOf<T> out);
/// Evaluates softmax and its gradient, and the operations into which they are
/// decomposed.
template <typename T>
Evaluated evaluateSoftmax(mlir::Operation *op, OperandsOf<T> in,
                          ResultsOf<T> out);
/// Evaluates RMS and batch normalisation and their gradients, and the
/// operations into which batch normalisation is decomposed.
template <typename T>
Evaluated evaluateNormalizations(mlir::Operation *op, OperandsOf<T> in,
                                 ResultsOf<T> out);
/// Evaluates embedding bags and feature interaction, their gradients, and the
/// updates of embedding bags.
template <typename T>
Evaluated evaluateRecommender(mlir::Operation *op, OperandsOf<T> in,
                              ResultsOf<T> out);
/// Evaluates the recurrent part of LSTM layers and its gradients.
template <typename T>
Evaluated evaluateRecurrent(mlir::Operation *op, OperandsOf<T> in,
                            ResultsOf<T> out);
/// Evaluates the operations of mixtures of experts (routing, dispatch,
/// combination, products per expert) and their gradients.
template <typename T>
Evaluated evaluateExperts(mlir::Operation *op, OperandsOf<T> in,
                          ResultsOf<T> out);
/// Evaluates the sums of squares and the overflow checks of gradients, their
/// totals, and the factor by which updates multiply gradients.
Evaluated evaluateScaling(mlir::Operation *op, Operands in, Results out);
/// Evaluates structured operations of linalg, constants and tensor.empty.
template <typename T>
Evaluated evaluateLinalg(mlir::Operation *op, OperandsOf<T> in,
                         ResultsOf<T> out, ScalarLookup<T> scalars);

/// Returns the product of the sizes of all dimensions but the last `count`.
template <typename T>
int64_t leadingSize(const TensorOf<T> &tensor, unsigned count = 1) {
  return numElements(tensor.getShape().drop_back(count));
}

/// Returns the integer at a row-major position of a tensor.
template <typename T>
int64_t integerAt(const TensorOf<T> &tensor, int64_t position) {
  return static_cast<int64_t>(valueOf(tensor[position]));
}

/// Instantiates the function `KIND` of a kind of operations for all numbers.
#define PROTEUS_FOR_ALL_NUMBERS(KIND)                                          \
  template Evaluated proteus::interp::KIND(mlir::Operation *, Operands,        \
                                           Results);                           \
  template Evaluated proteus::interp::KIND(mlir::Operation *,                  \
                                           OperandsOf<Dual>, ResultsOf<Dual>)

} // namespace proteus::interp

#endif // PROTEUS_LIB_INTERP_KERNELKINDS_H
