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

/// Returns true if the share of points that a device visits
/// (`getVisitedShareOf`) can depend on the ranges of `iterator` that the device
/// holds. These are the iterators with the names `seq` and `key`. For example,
/// in causal attention a device with late queries visits more keys than a
/// device with early queries.
bool decidesVisitedShare(const IterationSpace &space, unsigned iterator);

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_VISITEDSHARE_H
