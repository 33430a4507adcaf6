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
  let summary = "Check the postconditions of a phase of the lowering";
  let description = [{
    **Input:** a module directly after the phase that the option `after` names.

    Emits an error at the location of every operation that violates a
    postcondition of the phase. `lower-strategy` runs this pass after each of
    its phases.

    - `matched`: every argument has a role, and in a pipeline every operation
      has a stage.
    - `step`: every parameter is updated, and every operation has a phase.
    - `propagated`: every operation has a partition, and every argument has a
      layout.
    - `collectives`: every operand has the layout that the partition of its
      operation requires, and every result has the layout that the partition
      gives it.
    - `programs`: the programs are the stages of one pipeline, and every message
      has a send and a receive of the same type.
    - `schedule`: all programs can execute the schedule to its end, so that no
      stages wait for each other forever.

    **Output:** the unchanged module.

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
