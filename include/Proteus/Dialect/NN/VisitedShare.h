//===- VisitedShare.h - iterators of the visited share ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_VISITEDSHARE_H
#define PROTEUS_DIALECT_NN_VISITEDSHARE_H

#include "Proteus/Dialect/NN/IterationSpace.h"

namespace proteus::nn {

/// Returns true if `getVisitedShareOf` of an operation with this space can
/// depend on the ranges of `iterator` that a device holds. Only the iterators
/// of queries (`seq`) and keys (`key`) of causal attention have this effect.
bool decidesVisitedShare(const IterationSpace &space, unsigned iterator);

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_VISITEDSHARE_H
