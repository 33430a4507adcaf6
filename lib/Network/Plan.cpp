//===- Plan.cpp - plans of collectives ------------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Network/Communicator.h"

#include "llvm/Support/ErrorHandling.h"

#include <limits>

using namespace llvm;
using namespace proteus;
using namespace proteus::net;

StringRef proteus::net::stringify(Algorithm algorithm) {
  switch (algorithm) {
  case Algorithm::None:
    return "none";
  case Algorithm::Ring:
    return "ring";
  case Algorithm::Tree:
    return "tree";
  case Algorithm::InSwitch:
    return "in-switch";
  case Algorithm::InSwitchTree:
    return "in-switch tree";
  case Algorithm::ParallelTrees:
    return "parallel trees";
  case Algorithm::Pairwise:
    return "pairwise";
  case Algorithm::Chain:
    return "chain";
  case Algorithm::Message:
    return "message";
  case Algorithm::UserBuffers:
    return "user buffers";
  }
  llvm_unreachable("unknown algorithm");
}

StringRef proteus::net::stringify(Protocol protocol) {
  switch (protocol) {
  case Protocol::LL:
    return "LL";
  case Protocol::LL128:
    return "LL128";
  case Protocol::Simple:
    return "Simple";
  }
  llvm_unreachable("unknown protocol");
}

Plan Communicator::planFor(Transport transport, cost::CollectiveKind kind,
                           int64_t bytes) const {
  switch (transport) {
  case Transport::Library:
    return plan(kind, bytes);
  case Transport::UserBuffers:
    return planBuffers(kind, bytes);
  case Transport::LocalSum:
    return planSum(bytes);
  }
  llvm_unreachable("unknown transport");
}

cost::Time Plan::alone() const {
  if (volume <= 0)
    return latency;
  __int128 transfer = static_cast<__int128>(volume) * 1000000000000;
  transfer = (transfer + ceiling - 1) / ceiling + latency;
  constexpr cost::Time most = std::numeric_limits<cost::Time>::max();
  return transfer > most ? most : static_cast<cost::Time>(transfer);
}
