//===- BuildWorkload.h - workloads from dist programs -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input of the engine, built from the programs and the schedule of a
// lowered module. Used by the pass `simulate`.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_SIMULATE_BUILDWORKLOAD_H
#define PROTEUS_TRANSFORMS_SIMULATE_BUILDWORKLOAD_H

#include "Proteus/Machine/Stack.h"
#include "Proteus/Sim/Workload.h"
#include "Proteus/Transforms/Simulate/MachineModel.h"

#include "mlir/IR/BuiltinOps.h"

namespace proteus {

/// Operation and device class of a task of a workload.
struct TaskOrigin {
  mlir::Operation *op = nullptr;
  uint32_t classIndex = 0;
  bool once = false; ///< true if the task is in the once-template
  uint32_t task = 0; ///< index into the micro- or the once-template
  /// Limit of a kernel: "flops" or "memory". Empty for other tasks and for
  /// kernels without work.
  llvm::StringRef boundBy;
};

/// Options of `buildWorkload`.
struct WorkloadOptions {
  /// True if ranks that provably do the same work at the same time are
  /// simulated once.
  bool foldRanks = true;
  /// Interference of kernels and communication that overlap, instead of that of
  /// the devices.
  std::optional<machine::Interference> interference;
  /// Software stack whose mechanisms change the costs.
  machine::Stack stack;
  /// If not null, receives the origin of every task that is not a wait.
  std::vector<TaskOrigin> *origins = nullptr;
};

/// Builds the workload of the programs and the schedule of `module`: writes out
/// repeats, computes the costs of kernels, folds equivalent ranks into classes,
/// and turns collectives into flows. Emits an error and fails if the module is
/// not fully lowered, or if the machine lacks a device, a type or a host link
/// that the programs need.
llvm::FailureOr<sim::Workload> buildWorkload(mlir::ModuleOp module,
                                             const MachineModel &machine,
                                             const WorkloadOptions &options);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_SIMULATE_BUILDWORKLOAD_H
