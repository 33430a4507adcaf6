//===- Kernels.h - what one operation computes on one rank ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations evaluated on local blocks. The types of an operation hold global
// shapes; a rank has blocks of its operands and computes blocks of its results.
// With blocks that are the whole tensors this is the meaning of the operation
// itself; with others it is what a device does.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_KERNELS_H
#define PROTEUS_INTERP_KERNELS_H

#include "Proteus/Interp/Place.h"
#include "Proteus/Interp/Tensor.h"

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace proteus::interp {

/// A block that an operation computes, and where in the whole tensor it lies.
struct ResultBlock {
  Tensor data;
  Place place;
};

/// An operand: a block that somebody else owns.
struct OperandBlock {
  const Tensor *data;
  Place place;

  const Tensor &operator*() const { return *data; }
  const Tensor *operator->() const { return data; }
};

/// Value of a scalar that a region reads from outside.
using ScalarLookup = llvm::function_ref<double(mlir::Value)>;

/// Computes the results of `op`, whose blocks have their shapes and places
/// already. Fails with a diagnostic if the operation has no evaluation, or if
/// the blocks do not fit together: dimensions that one iterator indexes must
/// hold the same part of it everywhere.
mlir::LogicalResult evaluate(mlir::Operation *op,
                             llvm::ArrayRef<OperandBlock> operands,
                             llvm::MutableArrayRef<ResultBlock> results,
                             ScalarLookup scalars);

/// Decay of the velocity in nn.sgd.
constexpr double momentumDecay = 0.9;
/// Decays of the moments and the term under the fraction in nn.adam.
constexpr double adamFirstDecay = 0.9;
constexpr double adamSecondDecay = 0.999;
constexpr double adamEpsilon = 1e-8;
/// Added to the variance, or the mean square, in normalisations.
constexpr double normEpsilon = 1e-5;

} // namespace proteus::interp

#endif // PROTEUS_INTERP_KERNELS_H
