//===- ReferenceCommunicator.h - the original's costs as flows --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives alone cost what the original release charges. Beside each other
// they share the links that their rings pass: docs/reference.md.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_REFERENCE_COSTS_REFERENCECOMMUNICATOR_H
#define PROTEUS_REFERENCE_COSTS_REFERENCECOMMUNICATOR_H

#include "Proteus/Network/Communicator.h"
#include "Proteus/Reference/Costs/ReferenceModel.h"

namespace proteus::net {

/// The parity model of one cluster; groups with the same places in their nodes
/// are searched once.
class ReferenceNetwork {
public:
  /// Fails if nodes differ, or if they hold what the rules of the release do
  /// not know: NVSwitches and devices newer than Ampere.
  static llvm::Expected<std::shared_ptr<ReferenceNetwork>>
  create(std::shared_ptr<const machine::Cluster> cluster,
         const ReferenceConstants &constants);

  /// `devices` as for Communicator::create. Fails if one is not in the cluster
  /// or there twice, or if nodes have no NIC to reach each other.
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
