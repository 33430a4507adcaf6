//===- Passes.h - passes of the lowering and of simulate --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_PASSES_H
#define PROTEUS_TRANSFORMS_PASSES_H

#include "Proteus/Transforms/Apply/Passes.h"
#include "Proteus/Transforms/Collectives/Passes.h"
#include "Proteus/Transforms/Match/Passes.h"
#include "Proteus/Transforms/Programs/Passes.h"
#include "Proteus/Transforms/Propagation/Passes.h"
#include "Proteus/Transforms/Simulate/Passes.h"
#include "Proteus/Transforms/TrainingStep/Passes.h"
#include "Proteus/Transforms/Verify/Passes.h"

namespace proteus {

/// Registers the passes of all headers that are included above. The passes of
/// Transforms/Check are registered by their own function,
/// `registerProteusCheckPasses`.
inline void registerProteusPasses() {
  registerProteusApplyPasses();
  registerProteusMatchPasses();
  registerProteusTrainingStepPasses();
  registerProteusPropagationPasses();
  registerProteusCollectivesPasses();
  registerProteusProgramsPasses();
  registerProteusVerifyPasses();
  registerProteusSimulatePasses();
}

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_PASSES_H
