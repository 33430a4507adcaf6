//===- AlphaBetaCommunicator.h - no links, two levels -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_NETWORK_ALPHABETACOMMUNICATOR_H
#define PROTEUS_NETWORK_ALPHABETACOMMUNICATOR_H

#include "Proteus/Network/Communicator.h"

namespace proteus::net {

/// Collectives take the time that cost::createAlphaBetaModel says, whatever else
/// runs: for clusters of which nothing but two levels of latency and bandwidth is
/// known.
std::unique_ptr<Communicator>
createAlphaBetaCommunicator(const machine::Cluster &cluster,
                            llvm::ArrayRef<int64_t> devices);

} // namespace proteus::net

#endif // PROTEUS_NETWORK_ALPHABETACOMMUNICATOR_H
