//===- CollectiveSites.h - networks of sites that were measured -*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_CALIBRATE_COLLECTIVESITES_H
#define PROTEUS_CALIBRATE_COLLECTIVESITES_H

#include "Proteus/Machine/Cluster.h"

#include "llvm/Support/Error.h"

#include <string>

namespace proteus::calibrate {

/// Prints what the network of each measured site is like, and how well that
/// predicts its collectives across nodes, with the given constants in nodes.
llvm::Error judgeSites(const machine::CollectiveConstants &hopper,
                       const machine::CollectiveConstants &blackwell,
                       const std::string &directory);

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_COLLECTIVESITES_H
