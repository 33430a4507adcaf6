//===- Passes.td - postconditions of phases ----------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_VERIFY_PASSES_TD
#define PROTEUS_TRANSFORMS_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyPhase : Pass<"verify-phase", "::mlir::ModuleOp"> {
  let summary = "Check what a phase of the lowering promises to the next";
  let description = [{
    Lists every offender at its location and changes nothing. `lower-strategy`
    runs it after each of its passes.

    - `matched`: every argument has a role; in a pipeline every operation has a
      stage.
    - `step`: every parameter is updated, every operation has a phase.
    - `propagated`: every operation has a partition, every argument a layout.
    - `collectives`: the layout of every operand is the one that the partition of
      its operation asks for, the layout of every result the one it gives.
    - `programs`: messages have two ends of one type.
    - `schedule`: executed without time, the schedule runs to its end.

    ```mlir
    %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // after=propagated: error: 'nn.relu' op has no partition
    ```
  }];
  let options = [
    Option<"after", "after", "::proteus::LoweringPhase",
           "::proteus::LoweringPhase::Matched", "The phase that has ended",
           [{::llvm::cl::values(
             clEnumValN(::proteus::LoweringPhase::Matched, "matched", "match-strategy"),
             clEnumValN(::proteus::LoweringPhase::Step, "step", "build-training-step"),
             clEnumValN(::proteus::LoweringPhase::Propagated, "propagated", "propagate-strategy"),
             clEnumValN(::proteus::LoweringPhase::Collectives, "collectives", "insert-collectives"),
             clEnumValN(::proteus::LoweringPhase::Programs, "programs", "split-stages"),
             clEnumValN(::proteus::LoweringPhase::Schedule, "schedule", "schedule-pipeline"))}]>
  ];
}

#endif // PROTEUS_TRANSFORMS_VERIFY_PASSES_TD
