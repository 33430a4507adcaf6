//===- MachineModel.cpp - a cluster and its costs -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Simulate/MachineModel.h"
#include "Proteus/Reference/Costs/ReferenceCommunicator.h"
#include "Proteus/Reference/Costs/ReferenceRoofline.h"

using namespace proteus;
using llvm::ArrayRef;
using llvm::Expected;

static MachineModel createFlowModel(machine::Cluster cluster,
                                    const cost::KernelModelOptions &options,
                                    const cost::Measurements &profile) {
  MachineModel machine;
  auto shared = std::make_shared<const machine::Cluster>(std::move(cluster));
  machine.cluster = *shared;
  for (const machine::Device &device : shared->devices)
    machine.kernels.push_back(cost::createProfileModel(
        device, options, cost::measurementsOf(device, profile)));
  machine.createCommunicator =
      [shared, network = net::Network(*shared)](ArrayRef<int64_t> devices) {
        return network.createCommunicator(devices);
      };
  return machine;
}

static Expected<MachineModel> createPaperModel(machine::Cluster cluster) {
  // The constants are embedded in the library, so they always parse.
  llvm::StringRef text = net::embeddedReferenceConstants();
  net::ReferenceConstants constants =
      cantFail(net::parseReferenceConstants(text, "constants.json"));
  auto compute =
      cantFail(cost::ReferenceRoofline::parseConstants(text, "constants.json"));
  auto shared = std::make_shared<const machine::Cluster>(std::move(cluster));
  auto network = net::ReferenceNetwork::create(shared, constants);
  if (!network)
    return network.takeError();
  MachineModel machine;
  machine.fidelity = Fidelity::Paper;
  machine.cluster = *shared;
  for (const machine::Device &device : shared->devices)
    machine.kernels.push_back(cost::createReferenceRooflineModel(
        device, compute, constants.launchGap * 1e-3));
  machine.createCommunicator =
      [network = std::move(*network)](ArrayRef<int64_t> devices) {
        return network->createCommunicator(devices);
      };
  return machine;
}

Expected<MachineModel>
proteus::createMachineModel(machine::Cluster cluster, Fidelity fidelity,
                            const cost::KernelModelOptions &options,
                            const cost::Measurements &profile) {
  if (fidelity == Fidelity::Paper)
    return createPaperModel(std::move(cluster));
  return createFlowModel(std::move(cluster), options, profile);
}
