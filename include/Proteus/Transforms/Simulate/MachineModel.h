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

/// A cluster, the costs of kernels on its devices and of communication on its
/// network.
struct MachineModel {
  Fidelity fidelity = Fidelity::Flow;
  machine::Cluster cluster;
  /// Per device type of the cluster.
  std::vector<std::unique_ptr<cost::KernelCostModel>> kernels;
  sim::CommunicatorFactory createCommunicator;
};

/// Creates the model of `cluster`. Measured kernels of `profile` cost their
/// measured time. Fails if `fidelity` is `Paper` and the published rules do not
/// cover the cluster; they take no profile.
llvm::Expected<MachineModel>
createMachineModel(machine::Cluster cluster, Fidelity fidelity,
                   const cost::KernelModelOptions &options = {},
                   const cost::Measurements &profile = {});

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_SIMULATE_MACHINEMODEL_H
