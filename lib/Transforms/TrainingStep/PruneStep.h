//===- PruneStep.h - removal of unread values -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass build-training-step: removes operations and values that
// nothing reads, after the other parts of the pass have run.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PRUNESTEP_H
#define PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PRUNESTEP_H

#include "mlir/IR/Block.h"

namespace proteus {

/// Removes operations without readers, and unread results and operands of
/// nn.repeat and nn.recompute, in one pass from the last operation to the
/// first. Keeps values that a repeat carries from one iteration to the next,
/// and results of an nn.recompute that operations outside of its module read in
/// the forward pass.
void prune(mlir::Block &block);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_TRAININGSTEP_PRUNESTEP_H
