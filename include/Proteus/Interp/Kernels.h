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
// results. If the blocks are the whole tensors, the evaluation defines the
// values of the operation; otherwise it defines the values on one device.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_KERNELS_H
#define PROTEUS_INTERP_KERNELS_H

#include "Proteus/Interp/Place.h"
#include "Proteus/Interp/Tensor.h"

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace proteus::interp {

/// A block that an operation computes, and its ranges in the whole tensor.
struct ResultBlock {
  Tensor data;
  Place place;
};

/// A block of an operand, which the caller owns, and its ranges in the whole
/// tensor.
struct OperandBlock {
  const Tensor *data;
  Place place;

  const Tensor &operator*() const { return *data; }
  const Tensor *operator->() const { return data; }
};

/// Function that returns the value of a scalar that a region reads from
/// outside.
using ScalarLookup = llvm::function_ref<double(mlir::Value)>;

/// Computes the blocks of the results of `op`. On entry, `results` have their
/// shapes and ranges. Emits an error if the interpreter cannot evaluate the
/// operation, or if the blocks do not match: all dimensions that one iterator
/// indexes must hold the same part of the iterator.
mlir::LogicalResult evaluate(mlir::Operation *op,
                             llvm::ArrayRef<OperandBlock> operands,
                             llvm::MutableArrayRef<ResultBlock> results,
                             ScalarLookup scalars);

/// Decay of the velocity in nn.sgd.
constexpr double momentumDecay = 0.9;
/// Decays of the moments in nn.adam, and the constant added to the denominator.
constexpr double adamFirstDecay = 0.9;
constexpr double adamSecondDecay = 0.999;
constexpr double adamEpsilon = 1e-8;
/// Constant added to the variance, or the mean square, in normalisations.
constexpr double normEpsilon = 1e-5;

} // namespace proteus::interp

#endif // PROTEUS_INTERP_KERNELS_H
