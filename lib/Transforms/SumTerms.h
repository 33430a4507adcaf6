//===- SumTerms.h - what is added up ----------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SUMTERMS_H
#define PROTEUS_LIB_TRANSFORMS_SUMTERMS_H

#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"

namespace proteus {

/// Whether `op`, or everything that it adds up, also through other additions,
/// is computed by operations for which `isMeant` holds. Each is asked once,
/// however often it is added.
inline bool
allTerms(mlir::Operation *op,
         llvm::function_ref<bool(nn::IterationSpaceOpInterface)> isMeant) {
  llvm::SmallVector<mlir::Operation *> open = {op};
  llvm::SmallPtrSet<mlir::Operation *, 8> seen;
  while (!open.empty()) {
    auto kernel = llvm::dyn_cast_if_present<nn::IterationSpaceOpInterface>(
        open.pop_back_val());
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

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SUMTERMS_H
