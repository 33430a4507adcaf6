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

/// Returns true if the ranges of `iterator` that a device holds can change the
/// share of the points that it visits (`getVisitedShareOf`). These are the
/// iterators named `seq` and `key`, the queries and keys of causal attention: a
/// device with late queries visits more keys.
bool decidesVisitedShare(const IterationSpace &space, unsigned iterator);

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_VISITEDSHARE_H
