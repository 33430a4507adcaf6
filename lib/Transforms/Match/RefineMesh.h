//===- RefineMesh.h - parts of axes as axes ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of match-strategy: replaces parts of axes (`d:(1)2`) by axes of their
// own, so that later passes use whole axes only.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_MATCH_REFINEMESH_H
#define PROTEUS_LIB_TRANSFORMS_MATCH_REFINEMESH_H

#include "Proteus/Dialect/Strategy/Strategy.h"

namespace proteus {

/// Rewrites a tree that uses parts of axes into one that uses whole axes only.
/// An axis of which parts are used is replaced in the mesh by new axes, major
/// one first. It is cut where a use begins or ends. The parts of axis `d` are
/// called `d_0`, `d_1` and so on. A use becomes the list of the parts that it
/// covers. Adjacent parts that are always used together stay one axis. The
/// order of devices does not change. Emits one error if a pipeline would lie
/// along several parts.
llvm::LogicalResult refineMesh(strategy::TreeOp tree);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_MATCH_REFINEMESH_H
