//===- MachineModel.h - a cluster and its costs -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_SIMULATE_MACHINEMODEL_H
#define PROTEUS_TRANSFORMS_SIMULATE_MACHINEMODEL_H

#include "Proteus/Cost/Profile.h"
#include "Proteus/Machine/Cluster.h"
#include "Proteus/Plan/PlanEnums.h"
#include "Proteus/Sim/Folding.h"

#include <memory>
#include <vector>

namespace proteus {

/// Selects the simulation model: this project's (`Flow`), or a reimplementation
/// of the published Proteus (`Paper`, docs/reference.md).
using plan::Fidelity;

/// A cluster with the cost models of its kernels and communication.
struct MachineModel {
  Fidelity fidelity = Fidelity::Flow;
  machine::Cluster cluster;
  /// Cost models of kernels, one per entry of `cluster.devices`.
  std::vector<std::unique_ptr<cost::KernelCostModel>> kernels;
  /// Creates communicators on the network of the cluster.
  sim::CommunicatorFactory createCommunicator;
};

/// Creates the machine model of `cluster`. The measurements in `profile`
/// correct the predicted times of kernels. With the fidelity `Paper`, `options`
/// and `profile` have no effect, and the function fails if the rules of the
/// reference do not cover the cluster.
llvm::Expected<MachineModel>
createMachineModel(machine::Cluster cluster, Fidelity fidelity,
                   const cost::KernelModelOptions &options = {},
                   const cost::Measurements &profile = {});

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_SIMULATE_MACHINEMODEL_H
