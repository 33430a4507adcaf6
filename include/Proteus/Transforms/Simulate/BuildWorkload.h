//===- BuildWorkload.h - from dist programs to the engine -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_SIMULATE_BUILDWORKLOAD_H
#define PROTEUS_TRANSFORMS_SIMULATE_BUILDWORKLOAD_H

#include "Proteus/Machine/Stack.h"
#include "Proteus/Sim/Workload.h"
#include "Proteus/Transforms/Simulate/MachineModel.h"

#include "mlir/IR/BuiltinOps.h"

namespace proteus {

/// Where a task of a workload comes from.
struct TaskOrigin {
  mlir::Operation *op = nullptr;
  uint32_t classIndex = 0;
  bool once = false;
  uint32_t task = 0; ///< index into the micro- or the once-template
  /// What bounds a kernel: "flops" or "memory"; empty for what is no kernel.
  llvm::StringRef boundBy;
};

struct WorkloadOptions {
  /// One of all ranks that provably do the same thing at the same time is
  /// simulated, instead of every one.
  bool foldRanks = true;
  /// Replaces what the devices say about kernels and communication that run
  /// beside each other.
  std::optional<machine::Interference> interference;
  /// What the software adds to the costs of the machine.
  machine::Stack stack;
  /// Gets the origin of every task, for those who want to know.
  std::vector<TaskOrigin> *origins = nullptr;
};

/// Turns the programs and the schedule of `module` into what the engine
/// executes: repeats are written out, kernels get their cost, ranks become
/// device classes, collectives become flows. Emits an error and fails when the
/// module is not fully lowered.
llvm::FailureOr<sim::Workload> buildWorkload(mlir::ModuleOp module,
                                             const MachineModel &machine,
                                             const WorkloadOptions &options);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_SIMULATE_BUILDWORKLOAD_H
