//===- SumTerms.h - terms of sums -------------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that examine all terms of a sum that is computed by several
// additions, such as (a + b) + c. Used by insert-collectives, chunk-products
// and simulate.
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

/// Returns true if a kernel computes each term of the sum that `op` computes,
/// and if `isMeant` holds for all these kernels. If `op` is not an addition,
/// `op` is the only term. Otherwise the terms are the operands of `op` and of
/// all nested additions, except the additions themselves. For (a + b) + c,
/// these are a, b and c. If chunks are joined to a term, only the first chunk
/// is examined. Examines each term once.
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
/// a sum in which all terms are such products.
inline bool isInputGradient(mlir::Operation *op) {
  return allTerms(op, [](nn::IterationSpaceOpInterface kernel) {
    return kernel.getKernelClass() == nn::KernelClass::Matrix &&
           kernel.getKernelPass() == nn::KernelPass::DataGradient;
  });
}

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_SUMTERMS_H
