//===- RefineMesh.h - parts of axes become axes -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of match-strategy.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_MATCH_REFINEMESH_H
#define PROTEUS_LIB_TRANSFORMS_MATCH_REFINEMESH_H

#include "Proteus/Dialect/Strategy/Strategy.h"

namespace proteus {

/// Rewrites a tree that uses parts of axes into one that uses whole axes only.
/// An axis of which parts are used is replaced in the mesh by its parts, cut
/// wherever a use begins or ends, the major one first; of axis `d` they are
/// called `d_0`, `d_1` and so on. A use becomes the list of the parts it
/// covers. Neighbours that are used together everywhere stay one axis. The
/// devices keep their places. Emits one error if a pipeline would lie along
/// several parts.
llvm::LogicalResult refineMesh(strategy::TreeOp tree);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_MATCH_REFINEMESH_H
