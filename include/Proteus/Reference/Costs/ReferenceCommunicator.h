//===- ReferenceCommunicator.h - reference costs as flows -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Communicators for fidelity=paper, which follows the rules of the reference
// (the published Proteus). A collective that runs alone takes the time that the
// reference charges. Collectives that run at the same time share the links of
// their rings (docs/reference.md).
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_REFERENCE_COSTS_REFERENCECOMMUNICATOR_H
#define PROTEUS_REFERENCE_COSTS_REFERENCECOMMUNICATOR_H

#include "Proteus/Network/Communicator.h"
#include "Proteus/Reference/Costs/ReferenceModel.h"

namespace proteus::net {

/// Factory of the communicators of one cluster. Groups that use devices with
/// the same numbers inside their nodes, for example the devices 0 and 1 of each
/// node, share one search for rings.
class ReferenceNetwork {
public:
  /// Creates the network of a cluster. Fails if the cluster has several kinds
  /// of nodes, NVSwitches, or devices of Hopper, Blackwell or CDNA, for which
  /// the reference has no rules.
  static llvm::Expected<std::shared_ptr<ReferenceNetwork>>
  create(std::shared_ptr<const machine::Cluster> cluster,
         const ReferenceConstants &constants);

  /// Creates the communicator of `devices`. Fails if a device is not in the
  /// cluster or occurs twice, or if the devices are on several nodes and the
  /// nodes have no NICs.
  llvm::Expected<std::unique_ptr<Communicator>>
  createCommunicator(llvm::ArrayRef<int64_t> devices);

  const ReferenceModel &getModel() const { return model; }

private:
  ReferenceNetwork(std::shared_ptr<const machine::Cluster> cluster,
                   ReferenceModel model)
      : cluster(std::move(cluster)), model(std::move(model)) {}

  std::shared_ptr<const machine::Cluster> cluster;
  ReferenceModel model;
};

} // namespace proteus::net

#endif // PROTEUS_REFERENCE_COSTS_REFERENCECOMMUNICATOR_H
