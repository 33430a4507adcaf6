//===- WriteTree.h - writer of strategy trees -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass apply-strategy: writes the decisions of SplitPlan and
// StagePlan as a strategy tree.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_APPLY_WRITETREE_H
#define PROTEUS_LIB_TRANSFORMS_APPLY_WRITETREE_H

#include "ModelShape.h"
#include "SplitPlan.h"
#include "StagePlan.h"

namespace proteus {

/// Inserts a strategy tree with the symbol `name` after the model.
void writeTree(const ModelShape &model, const SplitPlan &splits,
               const StagePlan &stages, const plan::ParallelPlan &plan,
               llvm::StringRef name);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_APPLY_WRITETREE_H
