//===- PruneStep.h - what nothing reads is removed --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PRUNESTEP_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PRUNESTEP_H

#include "mlir/IR/Block.h"

namespace proteus {

/// Removes results, operands and operations that nothing reads, in one pass
/// from the last operation to the first.
void prune(mlir::Block &block);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PRUNESTEP_H
