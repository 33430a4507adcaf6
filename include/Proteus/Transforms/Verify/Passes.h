//===- Passes.h - postconditions of phases ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_VERIFY_PASSES_H
#define PROTEUS_TRANSFORMS_VERIFY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace proteus {

/// Phases of the lowering. verify-phase checks the postconditions of one of
/// them.
enum class LoweringPhase {
  Matched,
  Step,
  Propagated,
  Collectives,
  Programs,
  Schedule
};

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Proteus/Transforms/Verify/Passes.h.inc"

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_VERIFY_PASSES_H
