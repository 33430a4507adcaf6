//===- SumTerms.h - terms of sums -------------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries about the terms of nested additions. Used by insert-collectives,
// chunk-products and simulate.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_SUMTERMS_H
#define PROTEUS_TRANSFORMS_COMMON_SUMTERMS_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"

namespace proteus {

/// Returns true if `isMeant` holds for `op`. If `op` is an addition, returns
/// true if `isMeant` holds for every term of the sum, through nested additions.
/// Joined chunks are represented by the first chunk. Visits each term once.
inline bool
allTerms(mlir::Operation *op,
         llvm::function_ref<bool(nn::IterationSpaceOpInterface)> isMeant) {
  llvm::SmallVector<mlir::Operation *> open = {op};
  llvm::SmallPtrSet<mlir::Operation *, 8> seen;
  while (!open.empty()) {
    mlir::Operation *term = open.pop_back_val();
    if (auto join = llvm::dyn_cast_if_present<dist::JoinOp>(term))
      term = join.getInputs().front().getDefiningOp();
    auto kernel =
        llvm::dyn_cast_if_present<nn::IterationSpaceOpInterface>(term);
    if (!kernel)
      return false;
    if (!llvm::isa<nn::AddOp>(*kernel)) {
      if (!isMeant(kernel))
        return false;
      continue;
    }
    for (mlir::Value term : kernel->getOperands())
      if (mlir::Operation *producer = term.getDefiningOp();
          !producer || seen.insert(producer).second)
        open.push_back(producer);
  }
  return true;
}

/// Returns true if `op` is a product that computes the gradient of an input, or
/// a sum of such gradients only.
inline bool isInputGradient(mlir::Operation *op) {
  return allTerms(op, [](nn::IterationSpaceOpInterface kernel) {
    return kernel.getKernelClass() == nn::KernelClass::Matrix &&
           kernel.getKernelPass() == nn::KernelPass::DataGradient;
  });
}

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_SUMTERMS_H
