//===- BuildWorkload.h - from dist programs to the engine -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_SIMULATE_BUILDWORKLOAD_H
#define PROTEUS_TRANSFORMS_SIMULATE_BUILDWORKLOAD_H

#include "Proteus/Cost/Profile.h"
#include "Proteus/Machine/Stack.h"
#include "Proteus/Sim/Folding.h"
#include "Proteus/Sim/Workload.h"

#include "mlir/IR/BuiltinOps.h"

namespace proteus {

/// Whose rules and costs.
enum class Fidelity {
  Flow,  ///< ours
  Paper, ///< those of the original Proteus, as docs/reference.md lists them
};

/// A cluster and what things cost on it.
struct Machine {
  Fidelity fidelity = Fidelity::Flow;
  machine::Cluster cluster;
  /// Per device type of the cluster.
  std::vector<std::unique_ptr<cost::KernelCostModel>> kernels;
  sim::CommunicatorFactory createCommunicator;
};

/// What is simulated once.
enum class Fold {
  None,  ///< nothing
  Ranks, ///< ranks that provably do the same thing at the same time
  All,   ///< and the steady state of a pipeline, where it recurs exactly
};

/// Where the times of kernels come from.
enum class KernelModel {
  Fitted,   ///< models fitted to measurements, where the device has them
  Roofline, ///< peak rates of the datasheet: lower bounds
};

/// A model that can be left out.
enum class Switch { Off, On };

/// Costs on `cluster`; what is in `profile` costs what was measured. Fails if
/// the original's rules, which know no profiles, do not know the cluster.
llvm::Expected<Machine>
createMachine(machine::Cluster cluster, Fidelity fidelity,
              const cost::KernelModelOptions &options = {},
              const cost::Measurements &profile = {});

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
                                             const Machine &machine,
                                             const WorkloadOptions &options);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_SIMULATE_BUILDWORKLOAD_H
