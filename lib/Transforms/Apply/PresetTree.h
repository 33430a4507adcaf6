//===- PresetTree.h - writing a strategy tree -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of apply-strategy: writes down what was decided.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_APPLY_PRESETTREE_H
#define PROTEUS_LIB_TRANSFORMS_APPLY_PRESETTREE_H

#include "PresetModel.h"
#include "PresetSplits.h"
#include "PresetStages.h"

namespace proteus {

/// Writes the tree `name` after the model.
void writePresetTree(const PresetModel &model, const PresetSplits &splits,
                     const PresetStages &stages, const plan::ParallelPlan &plan,
                     llvm::StringRef name);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_APPLY_PRESETTREE_H
