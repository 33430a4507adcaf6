//===- VisitedShare.h - what decides how much is visited --------*- C++ -*-===//
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

/// Whether getVisitedShareOf of an operation with this space depends on what is
/// held of an iterator: of causal attention, on queries and keys alone.
bool decidesVisitedShare(const IterationSpace &space, unsigned iterator);

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_VISITEDSHARE_H
