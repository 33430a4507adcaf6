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

/// Returns true for the iterators with the names `seq` and `key`. In causal
/// attention, the share of points that a device visits (`getVisitedShareOf`)
/// depends on the ranges of these iterators that the device holds. For example,
/// a device with late queries visits more keys than a device with early
/// queries.
bool decidesVisitedShare(const IterationSpace &space, unsigned iterator);

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_VISITEDSHARE_H
