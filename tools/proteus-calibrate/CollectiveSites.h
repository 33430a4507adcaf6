//===- CollectiveSites.h - networks of measured sites -----------*- C++ -*-===//
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

/// Prints the fitted network constants of each measured site and the errors
/// with which they predict its collectives across nodes. The constants inside
/// nodes are given.
llvm::Error judgeSites(const machine::CollectiveConstants &hopper,
                       const machine::CollectiveConstants &blackwell,
                       const std::string &directory);

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_COLLECTIVESITES_H
