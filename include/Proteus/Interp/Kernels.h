//===- Kernels.h - evaluation of an operation on one rank -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluation of operations on local blocks. The types of an operation have
// global shapes. A rank holds blocks of the operands and computes blocks of the
// results. If the blocks are whole tensors, the evaluation defines the
// semantics of the operation. Otherwise it defines the semantics of the kernel
// on one device.
//
// Kernels of operations that a user's model may contain are templates of the
// type of their numbers, double or Dual. Kernels of gradients, of updates and
// of operations that the lowering creates exist for double only, because
// derivatives are those of the model itself.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_KERNELS_H
#define PROTEUS_INTERP_KERNELS_H

#include "Proteus/Interp/Place.h"
#include "Proteus/Interp/Tensor.h"

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace proteus::interp {

/// A block of a result, and the ranges of the whole tensor that it covers.
template <typename T> struct ResultBlockOf {
  TensorOf<T> data;
  Place place;
};
using ResultBlock = ResultBlockOf<double>;

/// A block of an operand, which the caller owns, and the ranges of the whole
/// tensor that it covers.
template <typename T> struct OperandBlockOf {
  const TensorOf<T> *data;
  Place place;

  const TensorOf<T> &operator*() const { return *data; }
  const TensorOf<T> *operator->() const { return data; }
};
using OperandBlock = OperandBlockOf<double>;

/// Function that returns the value of a scalar that the region of an operation
/// uses but does not define.
template <typename T> using ScalarLookup = llvm::function_ref<T(mlir::Value)>;

/// Computes the blocks of the results of `op`. On entry, `results` have their
/// shapes and ranges, and their elements are 0. Emits an error if the
/// interpreter does not support the operation for numbers of type `T`, or if
/// the blocks do not match: all dimensions that one iterator indexes must hold
/// the same ranges of this iterator, and a dimension without an iterator must
/// be whole.
template <typename T>
mlir::LogicalResult evaluate(mlir::Operation *op,
                             llvm::ArrayRef<OperandBlockOf<T>> operands,
                             llvm::MutableArrayRef<ResultBlockOf<T>> results,
                             ScalarLookup<T> scalars);

/// Decay of the velocity in nn.sgd with momentum.
constexpr double momentumDecay = 0.9;
/// Decays of the first and second moments in nn.adam, and the constant added to
/// the denominator.
constexpr double adamFirstDecay = 0.9;
constexpr double adamSecondDecay = 0.999;
constexpr double adamEpsilon = 1e-8;
/// Constant added to the variance, or the mean square, in normalisations.
constexpr double normEpsilon = 1e-5;

} // namespace proteus::interp

#endif // PROTEUS_INTERP_KERNELS_H
