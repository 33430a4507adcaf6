//===- RefineMesh.h - parts of axes as axes ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass match-strategy: replaces sub-axes such as `d:(1)2`, the
// major factor 2 of the axis `d`, by axes of the mesh. Later passes then use
// whole axes only.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_MATCH_REFINEMESH_H
#define PROTEUS_LIB_TRANSFORMS_MATCH_REFINEMESH_H

#include "Proteus/Dialect/Strategy/Strategy.h"

namespace proteus {

/// Rewrites a tree with sub-axes into one with whole axes only. If the tree
/// uses sub-axes of an axis `d`, the axis is cut where a sub-axis begins or
/// ends. In the mesh, one axis per part replaces it: `d_0`, `d_1` and so on,
/// the major part first. Adjacent parts that are always used together stay one
/// axis. The order of devices does not change.
///
/// For example, `mesh [d = 8]` with `batch -> d:(1)2` becomes `mesh [d_0 = 2,
/// d_1 = 4]` with `batch -> d_0`, and `seq -> d` becomes `seq -> d_0, d_1`.
///
/// Emits an error if `at` or `stages` uses an axis that is replaced by several
/// axes, because these settings can only name one axis.
llvm::LogicalResult refineMesh(strategy::TreeOp tree);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_MATCH_REFINEMESH_H
