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

/// If a repeat carries `term`, adds its value after an iteration and its
/// initial value to `open`, and returns true. Leaves out an initial zero, which
/// is no term.
inline bool openCarried(mlir::Value term,
                        llvm::SmallVectorImpl<mlir::Value> &open) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(term);
  auto repeat = llvm::dyn_cast_if_present<nn::RepeatOp>(
      argument ? argument.getOwner()->getParentOp() : term.getDefiningOp());
  unsigned number = argument
                        ? argument.getArgNumber()
                        : llvm::cast<mlir::OpResult>(term).getResultNumber();
  if (!repeat || number >= repeat.getNumCarried())
    return false;
  mlir::Value init = repeat.getCarried()[number];
  auto fill = init.getDefiningOp<nn::FillOp>();
  if (!fill || !fill.getValue().isZero())
    open.push_back(init);
  open.push_back(repeat.getYield()->getOperand(number));
  return true;
}

/// Returns true if a kernel computes each term of the sum that `op` computes,
/// and if `isMeant` holds for all these kernels. If `op` is not an addition,
/// `op` is the only term. Otherwise the terms are the operands of `op` and of
/// all nested additions, except the additions themselves. For (a + b) + c,
/// these are a, b and c. A sum that a repeat carries has the terms of all its
/// iterations. If chunks are joined to a term, only the first chunk is
/// examined. Examines each term once.
inline bool
allTerms(mlir::Operation *op,
         llvm::function_ref<bool(nn::IterationSpaceOpInterface)> isMeant) {
  if (!op || op->getNumResults() == 0)
    return false;
  llvm::SmallVector<mlir::Value> open = {op->getResult(0)};
  llvm::SmallPtrSet<mlir::Value, 8> seen;
  while (!open.empty()) {
    mlir::Value term = open.pop_back_val();
    if (!seen.insert(term).second || openCarried(term, open))
      continue;
    if (auto join = term.getDefiningOp<dist::JoinOp>())
      term = join.getInputs().front();
    auto kernel = term.getDefiningOp<nn::IterationSpaceOpInterface>();
    if (!kernel)
      return false;
    if (llvm::isa<nn::AddOp>(*kernel))
      llvm::append_range(open, kernel->getOperands());
    else if (!isMeant(kernel))
      return false;
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
