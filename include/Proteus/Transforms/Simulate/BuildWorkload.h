//===- BuildWorkload.h - workloads from dist programs -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds a workload, the input of the engine, from the programs and the
// schedule of a lowered module. Used by the pass `simulate`.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_SIMULATE_BUILDWORKLOAD_H
#define PROTEUS_TRANSFORMS_SIMULATE_BUILDWORKLOAD_H

#include "Proteus/Machine/Stack.h"
#include "Proteus/Sim/Workload.h"
#include "Proteus/Support/ProgressSink.h"
#include "Proteus/Transforms/Simulate/MachineModel.h"

#include "mlir/IR/BuiltinOps.h"

namespace proteus {

/// Origin of one task of a workload: the operation from which the task was
/// built, and the device class that runs the task.
struct TaskOrigin {
  mlir::Operation *op = nullptr;
  uint32_t classIndex = 0;
  bool once = false; ///< true if the task runs once per step
  uint32_t task = 0; ///< index into DeviceClass::micro or DeviceClass::once
  /// Resource that limits the speed of a kernel: "flops" or "memory". Empty if
  /// the task is not a kernel or has no work.
  llvm::StringRef boundBy;
};

/// Options of `buildWorkload`.
struct WorkloadOptions {
  /// True to simulate only one rank of each set of ranks that provably do the
  /// same work at the same time.
  bool foldRanks = true;
  /// Factors by which kernels and communication that overlap slow each other.
  /// If not set, the factors of the devices are used.
  std::optional<machine::Interference> interference;
  /// Software stack. Its mechanisms change the costs.
  machine::Stack stack;
  /// If not null, `buildWorkload` adds the origin of every task to this list,
  /// except waits, which do no work.
  std::vector<TaskOrigin> *origins = nullptr;
  /// If not null, receives the number of classes that are built.
  ProgressSink *progress = nullptr;
};

/// Builds the workload of the programs and the schedule of `module`: writes out
/// repeats, computes the costs of kernels, folds equivalent ranks into classes,
/// and turns collectives into flows. Emits an error and fails if the module is
/// not fully lowered, or if the programs need a device, an element type or a
/// link to the host that the machine does not have.
llvm::FailureOr<sim::Workload> buildWorkload(mlir::ModuleOp module,
                                             const MachineModel &machine,
                                             const WorkloadOptions &options);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_SIMULATE_BUILDWORKLOAD_H
